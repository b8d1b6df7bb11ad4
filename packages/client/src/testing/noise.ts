/** Bytes without a pattern, the same for the same seed. */
export function noise(sizeBytes: number, seed = 1): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4))
  let state = Math.imul(seed, 2_654_435_761) | 1
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return new Uint8Array(words.buffer, 0, sizeBytes)
}
