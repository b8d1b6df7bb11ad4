import { type Slice, sliceOf } from '../hashing/slice.ts'

/** Bytes of a known length that can be read again. */
export interface KnownSource {
  readonly sizeBytes: number
  readonly name: string | undefined
  readonly contentType: string | undefined
  /** The same while the bytes are the same, as far as anyone can tell; undefined where nobody can. */
  readonly fingerprint: string | undefined
  slice(offsetBytes: number, sizeBytes: number): Slice
  /** @throws {LadeError} `source_changed` when it is not what it was when it was opened. */
  check(): Promise<void>
  close(): Promise<void>
}

/** An array or a Blob as a source. */
export function memorySource(data: Blob | Uint8Array): KnownSource {
  const isArray = data instanceof Uint8Array
  const whole: Slice = isArray ? { kind: 'bytes', bytes: unshared(data) } : { kind: 'blob', blob: data }
  const file = !isArray && 'lastModified' in data ? (data as File) : undefined
  const sizeBytes = isArray ? data.length : data.size
  return {
    sizeBytes,
    name: file?.name || undefined,
    contentType: isArray ? undefined : data.type || undefined,
    fingerprint: file && `${sizeBytes} ${file.lastModified} ${file.name}`,
    slice: (offsetBytes, length) => sliceOf(whole, offsetBytes, length),
    // A File that changed cannot be read any more, and an array is the caller's word.
    check: async () => {},
    close: async () => {},
  }
}

/** Requests and workers take no memory that is shared between threads. */
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}
