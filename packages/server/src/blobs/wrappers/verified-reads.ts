import { LadeError } from '@lade/core/errors'
import { CHUNK_BYTES, CHUNK_DIGEST_BYTES, ChunkHasher } from '@lade/node/hashing/chunk-digests'
import { hexOf } from '@lade/node/hashing/hex'
import { sha256 as sha256Function } from '@lade/node/hashing/sha256'
import type { BlobBody, ByteRange } from '../blob-store.ts'
import { BufferList } from '../buffer-list.ts'
import type { ChunkSpan } from './verified-chunks.ts'

/** How long a reader of wrong bytes is asked to wait: until somebody has them uploaded again, which nobody can know. */
const WRONG_RETRY_SECONDS = 60
const buffers = new BufferList({ bufferBytes: CHUNK_BYTES, keepAtMost: 16 })

/** The chunks that a range has bytes of. */
export function spanOf({ offset, length }: ByteRange): ChunkSpan {
  return { first: Math.floor(offset / CHUNK_BYTES), end: Math.ceil((offset + length) / CHUNK_BYTES) }
}

/** One read of a range whose chunks are verified. */
export interface ChunkedRead {
  readonly body: BlobBody
  readonly range: ByteRange
  /** The digests of all chunks that the range has bytes of. */
  readonly digests: Uint8Array
  /** Called for each chunk that was right, by its number. */
  readonly onRight: (index: number) => void
  /** Called when a chunk is wrong, before the reader is told. */
  readonly onWrong: () => void
}

/**
 * The bytes of a range, chunk by chunk: each chunk of 1 MiB is read as a whole and compared with its digest before any byte of it is
 * handed on.
 *
 * @throws {LadeError} `storage_failed` in place of a wrong chunk.
 */
export async function* readInChunks(read: ChunkedRead): AsyncGenerator<Uint8Array> {
  const { body, range, digests, onRight, onWrong } = read
  const { sizeBytes } = body
  const { first, end } = spanOf(range)
  const rangeEnd = range.offset + range.length
  const start = first * CHUNK_BYTES
  /** For chunks that come in several pieces. */
  let buffer: Uint8Array | undefined
  let index = first
  let filledBytes = 0
  try {
    for await (const piece of body.chunks({ offset: start, length: Math.min(end * CHUNK_BYTES, sizeBytes) - start })) {
      for (let at = 0; at < piece.length; ) {
        if (index >= end) throw damaged(`gave more than the ${sizeBytes} bytes that it has`)
        const chunkStart = index * CHUNK_BYTES
        const chunkBytes = Math.min(CHUNK_BYTES, sizeBytes - chunkStart)
        const part = piece.subarray(at, at + chunkBytes - filledBytes)
        at += part.length
        let chunk = part
        if (part.length < chunkBytes) {
          buffer ??= buffers.take()
          buffer.set(part, filledBytes)
          chunk = buffer.subarray(0, chunkBytes)
        }
        filledBytes += part.length
        if (filledBytes < chunkBytes) continue
        if (!isRight(chunk, digests, index - first)) {
          onWrong()
          throw damaged('has other bytes than its digest says')
        }
        onRight(index)
        filledBytes = 0
        index += 1
        yield chunk.subarray(Math.max(range.offset - chunkStart, 0), Math.min(rangeEnd - chunkStart, chunkBytes))
      }
    }
    if (index < end) throw damaged(`ended in its chunk ${index} of ${sizeBytes} bytes`)
  } finally {
    if (buffer !== undefined) buffers.give(buffer)
  }
}

function isRight(chunk: Uint8Array, digests: Uint8Array, place: number): boolean {
  const expected = digests.subarray(place * CHUNK_DIGEST_BYTES, (place + 1) * CHUNK_DIGEST_BYTES)
  return Buffer.compare(sha256Function.of(chunk), expected) === 0
}

/**
 * A whole blob of which no digests of chunks are known: the last piece is handed on when the digest of all was right, so that a reader
 * that counts bytes never takes wrong ones for a complete blob.
 *
 * @param onEnd - told the digest of all bytes, and those of their chunks, before the last piece; false for wrong bytes.
 */
export async function* readWhole(
  body: BlobBody,
  onEnd: (actual: string, chunkDigests: Uint8Array) => boolean,
): AsyncGenerator<Uint8Array> {
  const { sizeBytes } = body
  const digest = sha256Function.create()
  const chunkHasher = new ChunkHasher({ sizeBytes, sha256: sha256Function })
  let readBytes = 0
  for await (const piece of body.chunks()) {
    if (piece.length === 0) continue
    readBytes += piece.length
    if (readBytes > sizeBytes) throw damaged(`gave more than the ${sizeBytes} bytes that it has`)
    digest.update(piece)
    chunkHasher.update(piece)
    if (readBytes === sizeBytes && !onEnd(hexOf(digest.digest()), chunkHasher.finish())) {
      throw damaged('does not hash to its digest')
    }
    yield piece
  }
  if (readBytes < sizeBytes) throw damaged(`ended after ${readBytes} of ${sizeBytes} bytes`)
}

/** What a reader of wrong bytes is told. */
export function damaged(what: string): LadeError<'storage_failed'> {
  return new LadeError(
    'storage_failed',
    {
      retryAfterSeconds: WRONG_RETRY_SECONDS,
      reason: 'The stored bytes are damaged. Uploading them again repairs them.',
    },
    { cause: new Error(`a blob ${what}`) },
  )
}
