import { CHUNK_BYTES } from '@lade/node/hashing/chunk-digests'
import { openStreams } from '@lade/node/hashing/hash-streams'
import type { BlobBody, BlobStore } from '../blobs/blob-store.ts'

/** What a blob was when it was read from end to end. */
export interface SeenBlob {
  /** The digest of the bytes that were read. */
  readonly actual: string
  readonly sizeBytes: number
  /** The digests of its chunks; undefined for a blob of one chunk. */
  readonly chunkDigests: Uint8Array | undefined
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
  // Two streams at once take little more time than one.
  const streams = openStreams([{ kind: 'sha2-256' }, { kind: 'chunks' }], { sizeBytes: body.sizeBytes })
  let sizeBytes = 0
  for await (const chunk of body.chunks()) {
    streams.update(chunk)
    sizeBytes += chunk.length
    await onChunk(chunk.length)
  }
  let actual = ''
  let chunkDigests: Uint8Array | undefined
  for (const { kind, value } of streams.finish()) {
    if (kind === 'sha2-256') actual = value
    if (kind === 'chunks' && sizeBytes > CHUNK_BYTES) chunkDigests = value
  }
  return { actual, sizeBytes, chunkDigests }
}
