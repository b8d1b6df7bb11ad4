import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { readSlice } from '../../hashing/read-slice.ts'
import { type Slice, sizeOf } from '../../hashing/slice.ts'
import type { TransportRequest } from '../../http/transport.ts'
import { readFile } from './read-file.ts'

const BLOCK_BYTES = 256 * 1024
/** From here on the service is asked before the body is sent, so that a refusal costs no more than a head. */
const EXPECT_MIN_BYTES = 1024 * 1024
/** What does not know `Expect` says nothing to it. */
const CONTINUE_WAIT_MS = 1000
/** A connection on which nothing moves for so long is taken for broken. */
const STALL_MS = 120_000

/**
 * Sends a body by Node's own client. Unlike fetch it says when a block has gone out, so that two blocks of memory are enough
 * for a body of any size, and it can wait for `100 Continue`.
 */
export function sendBody({ method, url, headers, signal, onSent }: TransportRequest, body: Slice): Promise<Response> {
  const sizeBytes = sizeOf(body)
  const isAsked = sizeBytes >= EXPECT_MIN_BYTES
  const request = url.startsWith('https:') ? requestByHttps : requestByHttp
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      headers: { ...headers, 'content-length': sizeBytes, ...(isAsked ? { expect: '100-continue' } : {}) },
      ...(signal === undefined ? {} : { signal }),
    })
    const sending = new AbortController()
    outgoing.setTimeout(STALL_MS, () =>
      outgoing.destroy(new Error(`No data was sent or received for ${STALL_MS / 1000} seconds.`)),
    )
    outgoing.on('error', (error) => {
      sending.abort()
      reject(error)
    })
    outgoing.once('response', (incoming) => {
      // An answer that comes before the end of the body is a refusal, and nobody reads the rest.
      sending.abort()
      readAnswer(incoming)
        .then(resolve, reject)
        .finally(() => outgoing.writableFinished || outgoing.destroy())
    })
    const send = async () => {
      if (isAsked) await toContinue(outgoing, sending.signal)
      await writeBody(outgoing, body, { signal: sending.signal, onSent })
    }
    send().catch((error: unknown) => {
      // What cannot be read is the failure; an answer that is being read is none.
      if (sending.signal.aborted) return
      reject(error)
      outgoing.destroy()
    })
  })
}

interface Sending {
  /** Aborted when there is nothing more to send. */
  readonly signal: AbortSignal
  readonly onSent: TransportRequest['onSent']
}

async function writeBody(outgoing: ClientRequest, body: Slice, { signal, onSent }: Sending): Promise<void> {
  let sentBytes = 0
  for await (const block of readSlice(body, { blockBytes: BLOCK_BYTES, readFile, reuseBlocks: true })) {
    if (signal.aborted) return
    await new Promise<void>((resolve, reject) => {
      outgoing.write(block, (error) => (error ? reject(error) : resolve()))
    })
    sentBytes += block.length
    onSent?.(sentBytes)
  }
  if (!signal.aborted) outgoing.end()
}

/** Resolves when the service asks for the body, or has not said anything for a while. */
function toContinue(outgoing: ClientRequest, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const go = () => {
      clearTimeout(timer)
      resolve()
    }
    outgoing.once('continue', go)
    signal.addEventListener('abort', go, { once: true })
    // Looking up a name and connecting is not what is waited for.
    outgoing.once('socket', (socket) => {
      const begin = () => {
        timer = setTimeout(go, CONTINUE_WAIT_MS)
      }
      if (socket.connecting) socket.once('connect', begin)
      else begin()
    })
    outgoing.flushHeaders()
  })
}

async function readAnswer(incoming: IncomingMessage): Promise<Response> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  const body = chunks.length === 0 ? null : Buffer.concat(chunks)
  return new Response(body, { status: incoming.statusCode ?? 0, headers })
}
