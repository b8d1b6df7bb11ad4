import type { BlobBody, BlobStore } from '../blobs/blob-store.ts'
import { hexOf } from '../hashing/hex.ts'
import { sha256 as sha256Function } from '../hashing/sha256.ts'

/** What a blob was when it was read from end to end. */
export interface SeenBlob {
  /** The digest of the bytes that were read. */
  readonly actual: string
  readonly sizeBytes: number
}

/**
 * Reads a blob from a fresh opening to its end.
 *
 * @param onChunk - called after each chunk; what it waits for holds the reading up, and what it throws ends it.
 * @returns undefined when there is no such blob.
 * @throws {LadeError} `storage_failed` when the medium does not let it be read.
 */
export async function digestOfBlob(
  blobs: BlobStore,
  sha256: string,
  onChunk: (sizeBytes: number) => Promise<void> | void = () => {},
): Promise<SeenBlob | undefined> {
  const body = await blobs.open(sha256)
  if (body === undefined) return undefined
  try {
    return await digestOfBody(body, onChunk)
  } finally {
    await body.close()
  }
}

/** Reads an open blob to its end. */
export async function digestOfBody(
  body: BlobBody,
  onChunk: (sizeBytes: number) => Promise<void> | void = () => {},
): Promise<SeenBlob> {
  const digest = sha256Function.create()
  let sizeBytes = 0
  for await (const chunk of body.chunks()) {
    digest.update(chunk)
    sizeBytes += chunk.length
    await onChunk(chunk.length)
  }
  return { actual: hexOf(digest.digest()), sizeBytes }
}
