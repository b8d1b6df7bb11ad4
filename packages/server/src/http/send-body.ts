import type { ServerResponse } from 'node:http'
import type { BlobBody, ByteRange } from '../blobs/blob-store.ts'

/** A reader that takes nothing for this long has gone, or is holding memory on purpose. */
const STALLED_READER_MS = 60_000

/**
 * Sends a blob after the head has been written, as fast as the reader takes it: a chunk is given back to the store only
 * when the kernel has it, and the store reads the next one meanwhile. Memory is the store's two buffers.
 *
 * Ends the response. When the bytes cannot all be sent, the connection is cut, so that a short file is never taken
 * for a whole one.
 */
export async function sendBlob(response: ServerResponse, body: BlobBody, range?: ByteRange): Promise<void> {
  response.setTimeout(STALLED_READER_MS, () => response.destroy())
  try {
    for await (const chunk of body.chunks(range)) {
      if (response.destroyed) return
      await write(response, chunk)
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  } finally {
    await body.close()
  }
}

function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done)
      resolve()
    }
    response.once('close', done)
    response.write(chunk, done)
  })
}
