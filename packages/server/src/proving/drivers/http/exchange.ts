import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { LadeError } from '@lade/core/errors'
import { GrowingBuffer } from './growing-buffer.ts'
import { type OutgoingBody, SourceFailure, sendBody } from './send-body.ts'
import { type AnswerHead, unusable } from './stage-failure.ts'

/** The header lines of an answer together; what is longer is no answer. */
const MAX_HEAD_BYTES = 16 * 1024
/** What is read of an answer that says nothing but its status, and of the text of an error. */
export const MAX_TEXT_BYTES = 16 * 1024

/** How long a prover may take, each in milliseconds. */
export interface ExchangeTimes {
  readonly connectMs: number
  /** From the end of the request to the end of the answer's head. */
  readonly headMs: number
  /** For the body of the answer. */
  readonly bodyMs: number
  /** How long the body of the request may stand still. */
  readonly idleMs: number
}

/** A request to a prover. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From the root of the origin, with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text of JSON, or bytes. */
  readonly body?: string | OutgoingBody
  /** The status that the answer should have, of which up to this many bytes are read; of others 16 KiB. */
  readonly expected: { readonly status: number; readonly maxBytes: number }
  readonly times: ExchangeTimes
  readonly signal: AbortSignal
}

/** The response of a prover with the expected status. */
export interface ExchangeAnswer extends AnswerHead {
  readonly body: Buffer
}

/**
 * One request and its answer, on a connection of its own.
 *
 * Nothing but `origin` is connected to: no redirect is followed and no proxy of the environment is used. Certificates are checked. Of the
 * answer a bounded head and a bounded body are read, each within its time. Connections are not used again, so that what comes behind an
 * answer is never taken for the next one.
 *
 * @throws {LadeError} `stage_failed` with `retryAfterSeconds` for everything that is no answer; the reason of `signal`; what `chunks` throws.
 */
export async function exchange(origin: string, request: ExchangeRequest): Promise<ExchangeAnswer> {
  const { times, body, signal } = request
  signal.throwIfAborted()
  const call = open(origin, request)
  const waitLimit = new WaitLimit(call)
  const abort = (): void => void call.destroy()
  signal.addEventListener('abort', abort)
  try {
    waitLimit.wait(times.connectMs, 'The prover did not accept connections')
    const answered = Promise.withResolvers<IncomingMessage>()
    watch(call, answered, () => waitLimit.wait(times.headMs, 'The prover did not respond'))
    if (typeof body === 'object') {
      const onProgress = (): void => waitLimit.wait(times.idleMs, 'The prover did not read the request')
      await sendBody(call, body, { answered: answered.promise, onProgress })
      waitLimit.wait(times.headMs, 'The prover did not respond')
    } else call.end(body)
    const answer = await answered.promise
    waitLimit.wait(times.bodyMs, 'The response of the prover did not end')
    return await readAnswer(answer, request)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SourceFailure) throw error.error
    if (waitLimit.failure !== undefined) throw waitLimit.failure
    throw isOfConnection(error)
      ? unusable(`The prover did not respond: ${error.code ?? error.message}.`, { cause: error })
      : error
  } finally {
    waitLimit.end()
    signal.removeEventListener('abort', abort)
    call.destroy()
  }
}

function open(origin: string, { method, path, headers, body }: ExchangeRequest): ClientRequest {
  const url = new URL(path, origin)
  if (url.origin !== origin) throw new TypeError('a path leads to another origin')
  const lengthBytes = typeof body === 'object' ? body.lengthBytes : Buffer.byteLength(body ?? '')
  const options: RequestOptions & { rejectUnauthorized: true } = {
    method,
    agent: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
    rejectUnauthorized: true,
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      ...(typeof body === 'object' && { 'content-type': 'application/octet-stream' }),
      ...(method !== 'GET' && { 'content-length': String(lengthBytes) }),
      ...headers,
    },
  }
  return url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options)
}

function watch(call: ClientRequest, answered: PromiseWithResolvers<IncomingMessage>, onConnect: () => void): void {
  call.on('socket', (socket) => socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnect))
  call.on('response', answered.resolve)
  call.on('error', answered.reject)
  call.on('close', () => answered.reject(new ConnectionEnd('the connection ended')))
  call.on('upgrade', () => answered.reject(new ConnectionEnd('it changes the protocol')))
  // Who waits for it is told; nobody may be waiting yet.
  answered.promise.catch(() => {})
}

async function readAnswer(answer: IncomingMessage, { expected }: ExchangeRequest): Promise<ExchangeAnswer> {
  const { statusCode: status = 0 } = answer
  const headers = headersOf(answer)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw unusable('Its response is compressed, but compression was not requested.')
  const isExpected = status === expected.status
  const maxBytes = isExpected ? expected.maxBytes : MAX_TEXT_BYTES
  const tooLong = unusable(`Its response is longer than ${maxBytes} bytes.`)
  if (Number(headers['content-length'] ?? 0) > maxBytes && isExpected) throw tooLong
  const kept = new GrowingBuffer(Number(headers['content-length'] ?? 0), maxBytes)
  const isWhole = await gather(answer, kept, maxBytes)
  // Of an error its beginning will do.
  if (isExpected && !isWhole) {
    kept.release()
    throw tooLong
  }
  return { status, headers, body: kept.bytes() }
}

/**
 * Reads a body to its end; false when there is more of it than it may have, and then the beginning has been read.
 *
 * Chunks are taken as they come and their memory is given back at once: the parser copies each of them anew, and the collector comes by
 * when there are many megabytes of them.
 */
function gather(answer: IncomingMessage, kept: GrowingBuffer, maxBytes: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    answer.on('data', (chunk: Buffer<ArrayBuffer>) => {
      const isTooLong = kept.length + chunk.length > maxBytes
      kept.append(isTooLong ? chunk.subarray(0, maxBytes - kept.length) : chunk)
      if (isTooLong) {
        resolve(false)
        answer.destroy()
      }
      if (chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0)
    })
    answer.on('end', () => resolve(true))
    answer.on('error', reject)
    answer.on('close', () => reject(new ConnectionEnd('the answer ended before its end')))
  })
}

function headersOf({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
}

/** Destroys a request that takes too long. One thing is waited for at a time. */
class WaitLimit {
  failure: LadeError | undefined
  readonly #call: ClientRequest
  #timer: NodeJS.Timeout | undefined

  constructor(call: ClientRequest) {
    this.#call = call
  }

  wait(ms: number, complaint: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.failure = unusable(`${complaint} within ${ms / 1000} seconds.`)
      this.#call.destroy()
    }, ms)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

/** A connection that ended without an error of its own. */
class ConnectionEnd extends Error {}

/** True for what sockets, TLS and the parser of HTTP fail with; false for a mistake of ours. */
function isOfConnection(error: unknown): error is Error & { readonly code?: string } {
  if (!(error instanceof Error) || error instanceof TypeError || LadeError.is(error)) return false
  return error instanceof ConnectionEnd || ('code' in error && typeof error.code === 'string')
}
