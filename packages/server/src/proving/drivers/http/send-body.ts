import type { ClientRequest } from 'node:http'

/** Bytes to be sent. A chunk is valid until the next one is asked for. */
export interface OutgoingBody {
  readonly lengthBytes: number
  readonly chunks: () => AsyncIterable<Uint8Array>
}

/** Whoever gives the bytes failed; `error` is what it threw. */
export class SourceFailure extends Error {
  readonly error: unknown

  constructor(error: unknown) {
    super('the bytes cannot be had', { cause: error })
    this.error = error
  }
}

export interface SendOptions {
  /** The answer, which may come before the body has ended, and then the rest is not sent. */
  readonly answered: Promise<unknown>
  /** Called whenever the connection has taken a chunk. */
  readonly onProgress: () => void
}

/**
 * Sends a body and ends the request. The next chunk is asked for when the connection has taken the one before, whose bytes may be
 * overwritten then.
 *
 * @throws {SourceFailure} for what `chunks` throws.
 * @throws {TypeError} when the chunks have another length than was said.
 */
export async function sendBody(call: ClientRequest, body: OutgoingBody, options: SendOptions): Promise<void> {
  const { answered, onProgress } = options
  const chunks = body.chunks()[Symbol.asyncIterator]()
  let sentBytes = 0
  let isAnswered = false
  const early = answered.then(() => {
    isAnswered = true
  })
  early.catch(() => {})
  try {
    for (;;) {
      const next = await Promise.race([nextOf(chunks), early])
      if (isAnswered || next === undefined) return
      if (next.done) break
      sentBytes += next.value.length
      if (sentBytes > body.lengthBytes) throw wrongLength(body, sentBytes)
      await Promise.race([write(call, next.value), early])
      onProgress()
    }
    if (sentBytes !== body.lengthBytes) throw wrongLength(body, sentBytes)
    call.end()
  } finally {
    // Not waited for: it may be stuck in the very chunk that came too late.
    chunks.return?.().catch(() => {})
  }
}

async function nextOf(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next()
  } catch (error) {
    throw new SourceFailure(error)
  }
}

function write(call: ClientRequest, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    call.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
}

function wrongLength({ lengthBytes }: OutgoingBody, sentBytes: number): TypeError {
  return new TypeError(`the chunks have ${sentBytes} bytes, and ${lengthBytes} were announced`)
}
