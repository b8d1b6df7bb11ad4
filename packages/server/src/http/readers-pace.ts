import type { BlobBody, ByteRange } from '../blobs/blob-store.ts'
import { ReadGrants } from './read-grants.ts'

/** What a reader holds that is read for in small windows. */
const WINDOW_BYTES = 64 * 1024
/** The same where a window costs its whole chunk of 1 MiB each time, since the store does not say that its bytes are still the same. */
const UNTRUSTED_WINDOW_BYTES = 256 * 1024
/** A window that takes longer is one of a reader that does not keep up. */
const WINDOW_MS = 100
/** The same for a chunk of a stream, of up to 1 MiB. */
const CHUNK_MS = 1000
/** More than what the kernel takes for a reader that reads nothing. */
const PROVEN_BYTES = 5 * 1024 * 1024
/** Windows that are read at once; each may take a buffer of 2 MiB to verify. */
const WINDOWS_AT_ONCE = 8

/** Readers that have a stream. */
const MAX_STREAMS = 32
/** While there are as many, a new reader has none until it has proven that it keeps up. */
const OPEN_STREAMS = 16
/** While there are as many, a reader that has fallen behind does not get one again. */
const LATE_STREAMS = 8

const streams = new ReadGrants(MAX_STREAMS)
const windows = new ReadGrants(WINDOWS_AT_ONCE)

/** What is read from: a blob, a composed object, a piece. */
export type PacedBody = Pick<BlobBody, 'chunks' | 'sizeBytes'> & { readonly version?: string | undefined }

/**
 * The bytes of a range, read as the reader takes them: in one stream, with whatever the store reads ahead, or, when many are reading, in windows of
 * 64 KiB, between which nothing is held but the window itself.
 *
 * At most 32 readers of a process have a stream: the first 16, and others that have kept up for 5 MiB. One that falls behind while others have
 * none goes on in windows, and its buffers go back. So readers that read nothing hold the buffers of 16 streams and a window each.
 */
export async function* atReadersPace(
  body: PacedBody,
  range: ByteRange = { offset: 0, length: body.sizeBytes },
): AsyncGenerator<Uint8Array> {
  const end = range.offset + range.length
  let position = range.offset
  let promptBytes = 0
  let mayBe = OPEN_STREAMS
  let window: Uint8Array | undefined
  // Also where there is nothing to read: a blob that has lost its bytes is found by reading them.
  do {
    if (streams.take(promptBytes >= PROVEN_BYTES ? MAX_STREAMS : mayBe)) {
      window = undefined
      const sentBytes = yield* stream(body, { offset: position, length: end - position })
      if (sentBytes === undefined) return
      position += sentBytes
      promptBytes = 0
      mayBe = LATE_STREAMS
      continue
    }
    window ??= Buffer.allocUnsafeSlow(body.version === undefined ? UNTRUSTED_WINDOW_BYTES : WINDOW_BYTES)
    const filled = window.subarray(0, end - position)
    await fill(filled, body, position)
    const since = performance.now()
    yield filled
    position += filled.length
    const isPrompt = performance.now() - since <= WINDOW_MS
    promptBytes = isPrompt ? promptBytes + filled.length : 0
  } while (position < end)
}

/** Gives the stream back at its end. @returns how far it got with a reader that is late, undefined for all others. */
async function* stream(body: PacedBody, range: ByteRange): AsyncGenerator<Uint8Array, number | undefined> {
  let sentBytes = 0
  try {
    for await (const chunk of body.chunks(range)) {
      const since = performance.now()
      yield chunk
      sentBytes += chunk.length
      const isLate = performance.now() - since > CHUNK_MS
      if (isLate && streams.held >= OPEN_STREAMS) return sentBytes
    }
    return undefined
  } finally {
    streams.giveBack()
  }
}

async function fill(window: Uint8Array, body: PacedBody, offset: number): Promise<void> {
  await windows.wait()
  try {
    let filledBytes = 0
    for await (const chunk of body.chunks({ offset, length: window.length })) {
      window.set(chunk, filledBytes)
      filledBytes += chunk.length
    }
  } finally {
    windows.giveBack()
  }
}
