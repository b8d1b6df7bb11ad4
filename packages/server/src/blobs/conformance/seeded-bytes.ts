/** Numbers in [0, 1) that a seed decides (mulberry32), so that a failing run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Bytes that a seed decides and that do not repeat within a buffer of the store. */
export function seededBytes(sizeBytes: number, seed: number): Uint8Array {
  const random = seededRandom(seed)
  const words = new Uint32Array(Math.ceil(sizeBytes / 4))
  for (let index = 0; index < words.length; index++) words[index] = random() * 2 ** 32
  return new Uint8Array(words.buffer, 0, sizeBytes)
}
