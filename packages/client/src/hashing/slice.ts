/** A stretch of bytes that can be read again and again, here or in a worker. */
export type Slice =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'blob'; readonly blob: Blob }
  /** Of an open file, in Node. Whoever opened it keeps it open. */
  | { readonly kind: 'file'; readonly fd: number; readonly offsetBytes: number; readonly sizeBytes: number }

/** Fills `into` with the bytes of an open file from a place on. @throws {LadeError} `source_changed` when it is too short. */
export type ReadFile = (fd: number, offsetBytes: number, into: Uint8Array) => Promise<void>

export function sizeOf(slice: Slice): number {
  switch (slice.kind) {
    case 'bytes':
      return slice.bytes.length
    case 'blob':
      return slice.blob.size
    case 'file':
      return slice.sizeBytes
  }
}

/** A stretch of a slice, both ends inside of it. */
export function sliceOf(slice: Slice, offsetBytes: number, sizeBytes: number): Slice {
  switch (slice.kind) {
    case 'bytes':
      return { kind: 'bytes', bytes: slice.bytes.subarray(offsetBytes, offsetBytes + sizeBytes) }
    case 'blob':
      return { kind: 'blob', blob: slice.blob.slice(offsetBytes, offsetBytes + sizeBytes) }
    case 'file':
      return { ...slice, offsetBytes: slice.offsetBytes + offsetBytes, sizeBytes }
  }
}
