import type { ServerResponse } from 'node:http'
import type { BlobBody, ByteRange } from '../blobs/blob-store.ts'
import type { OpenObject } from '../retrieval/open-bytes.ts'
import { atReadersPace } from './readers-pace.ts'
import { cutOffReader } from './slow-readers.ts'
import { UnreadBytes } from './unread-bytes.ts'

const unreadBytes = new UnreadBytes()

/** What is sent, after `begin` has written the head. */
interface Sending {
  /** Writes the head. Called when the first bytes are there, so that what is known to be damaged by then is answered as an error. */
  readonly begin: () => void
  /** @default all */
  readonly range?: ByteRange | undefined
}

/** Sends a blob, or a part of it, and closes it. See `sendChunks` and `atReadersPace`. */
async function sendBlob(response: ServerResponse, body: BlobBody, { begin, range }: Sending): Promise<void> {
  try {
    await sendChunks(response, atReadersPace(body, range), begin)
  } finally {
    await body.close()
  }
}

/** Sends an object that was opened, or a part of it: a blob as `sendBlob` does, other bytes at once. */
export async function sendObject(response: ServerResponse, object: OpenObject, sending: Sending): Promise<void> {
  if (object.kind === 'blob') return sendBlob(response, object.body, sending)
  const { bytes } = object
  const { begin, range } = sending
  begin()
  response.once('close', hold(response, bytes))
  response.end(range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length))
}

/**
 * Sends bytes as fast as the reader takes them: the next chunk is asked for only when the kernel has the one before. When the reader
 * goes, or is cut off by `SlowReaders`, the iteration is left.
 *
 * Ends the response. When the bytes cannot all be sent, the connection is cut, so that a short body is never taken for a whole one.
 *
 * @param begin - writes the head, when the first chunk is there. @default it has been written
 * @throws what the iteration throws, after the cut; before the head there is none.
 */
export async function sendChunks(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  begin: () => void = () => {},
): Promise<void> {
  let hasBegun = false
  const beginOnce = (): void => {
    if (!hasBegun) begin()
    hasBegun = true
  }
  try {
    for await (const chunk of chunks) {
      if (response.destroyed) return
      beginOnce()
      await write(response, chunk)
    }
    beginOnce()
    response.end()
  } catch (error) {
    if (response.headersSent) cut(response)
    throw error
  }
}

/** Without chunks to count, an HTTP/1.0 client takes an orderly end of the connection for the end of the body. */
function cut(response: ServerResponse): void {
  if (response.req.httpVersion === '1.0') response.req.socket.resetAndDestroy()
  response.destroy()
}

function hold(response: ServerResponse, bytes: Uint8Array): () => void {
  return unreadBytes.hold(bytes.length, () => cutOffReader(response.req.socket))
}

function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const release = hold(response, chunk)
    const done = (): void => {
      release()
      response.off('close', done)
      resolve()
    }
    response.once('close', done)
    response.write(chunk, done)
  })
}
