import type { BlobName, ByteRange } from './blob-store.ts'

const SHA256 = /^[0-9a-f]{64}$/
const PUT = /^[0-9a-z]{1,64}$/
const HOLDER = /^[A-Za-z0-9-]{1,64}$/

/** True for 64 lower-case hex digits. */
export function isSha256(name: string): boolean {
  return SHA256.test(name)
}

/** Guards a digest before it becomes a path or a key. @throws {TypeError} */
export function requireSha256(sha256: string): void {
  if (!isSha256(sha256)) throw new TypeError('A blob is named by 64 lower-case hex digits.')
}

/** True for a name that a put may have; the empty one is none. */
export function isPut(name: string): boolean {
  return PUT.test(name)
}

/** Guards a name before it becomes a path or a key. @throws {TypeError} */
export function requireBlobName({ sha256, put }: BlobName): void {
  requireSha256(sha256)
  requirePut(put)
}

/** Guards the name of a put, which may be empty, before it becomes a path or a key. @throws {TypeError} */
export function requirePut(put: string): void {
  if (put !== '' && !isPut(put)) throw new TypeError('A put is named by 1 to 64 lower-case letters and digits.')
}

/** Guards a holder before it becomes a path or a key. @throws {TypeError} */
export function requireHolder(holder: string): void {
  if (!HOLDER.test(holder)) throw new TypeError('A holder is named by 1 to 64 letters, digits and dashes.')
}

/** The window to read: `range`, or all of the blob. @throws {TypeError} when it reaches outside the blob. */
export function requireRange(range: ByteRange | undefined, sizeBytes: number): ByteRange {
  if (range === undefined) return { offset: 0, length: sizeBytes }
  const { offset, length } = range
  const isWithin =
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(length) &&
    offset >= 0 &&
    length >= 0 &&
    offset + length <= sizeBytes
  if (!isWithin) throw new TypeError(`The range ${offset}+${length} is not within a blob of ${sizeBytes} bytes.`)
  return range
}
