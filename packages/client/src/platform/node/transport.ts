import { readSlice } from '../../hashing/read-slice.ts'
import { type Slice, sizeOf } from '../../hashing/slice.ts'
import type { Transport, TransportRequest } from '../../http/transport.ts'
import { readFile } from './read-file.ts'
import { sendBody } from './send-body.ts'

const BLOCK_BYTES = 256 * 1024

/** Sends by fetch, and bodies by Node's own client. To a fetch of the caller's, a body is a stream of known length. */
export function nodeTransport(fetch?: typeof globalThis.fetch): Transport {
  return async (request) => {
    const { method, url, signal, body } = request
    const send = fetch ?? globalThis.fetch
    const init: RequestInit = { method, headers: request.headers, signal: signal ?? null }
    if (body === undefined) return send(url, init)
    if (typeof body === 'string') return send(url, { ...init, body })
    if (fetch === undefined) return sendBody(request, body)
    const headers = { ...request.headers, 'content-length': String(sizeOf(body)) }
    const { stream, failure } = streamOf(body, request)
    try {
      return await fetch(url, { ...init, headers, body: stream, duplex: 'half' })
    } catch (error) {
      // fetch wraps what the stream ended by, or hides it behind what the connection then said.
      throw failure() ?? error
    }
  }
}

function streamOf(slice: Slice, { onSent }: TransportRequest) {
  const blocks = readSlice(slice, { blockBytes: BLOCK_BYTES, readFile })
  let sentBytes = 0
  let failure: { readonly error: unknown } | undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await blocks.next()
          if (done === true) return controller.close()
          controller.enqueue(value)
          sentBytes += value.length
          onSent?.(sentBytes)
        } catch (error) {
          failure = { error }
          controller.error(error)
        }
      },
      async cancel() {
        await blocks.return()
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, failure: () => failure?.error }
}
