/** All arrays, one behind the other, in one. */
export function concatBytes(arrays: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const bytes of arrays) {
    joined.set(bytes, at)
    at += bytes.length
  }
  return joined
}
