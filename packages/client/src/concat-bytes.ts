/** All arrays in one. That of @noble/hashes takes each as an argument, and a big download has more chunks than a call may have arguments. */
export function concatBytes(arrays: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const bytes of arrays) {
    joined.set(bytes, at)
    at += bytes.length
  }
  return joined
}
