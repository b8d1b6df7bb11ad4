import type { Slice } from '../../hashing/slice.ts'

/** A slice as a request takes it. */
export function bodyOf(slice: Slice): Blob | Uint8Array<ArrayBuffer> {
  if (slice.kind === 'file') throw new TypeError('there are no open files in a browser')
  return slice.kind === 'blob' ? slice.blob : slice.bytes
}
