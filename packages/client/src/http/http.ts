import { LadeError } from '@lade/core/errors'
import type { Slice } from '../hashing/slice.ts'
import type { RetryPolicy } from '../options.ts'
import { errorOf, unexpected } from './answer-error.ts'
import { type Failure, isWorthRetrying, parseRetryAfter, Waits, wait } from './retry.ts'
import type { Transport, TransportRequest } from './transport.ts'

export interface HttpRequest {
  readonly method?: TransportRequest['method']
  /** From the root of the service, such as `/api/files`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: Slice | undefined
  readonly onSent?: ((sentBytes: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** False for what must not be done twice. @default true */
  readonly mayRepeat?: boolean | undefined
  /** Called when an attempt ended without an answer, so that nobody knows whether it was done. */
  readonly onUnanswered?: (() => void) | undefined
  /** The waits to take from, where several requests share them. @default those of this request alone */
  readonly waits?: Waits | undefined
}

/** Requests to one service, with its caller's token, sent again where that helps. */
export interface Http {
  /**
   * The answer, when its status is 2xx.
   *
   * @throws {LadeError} the service's own, `unreachable`, `unexpected_answer`, `source_changed`.
   */
  send(request: HttpRequest): Promise<Response>
  /** The same, read to its end. */
  bytes(request: HttpRequest): Promise<Uint8Array<ArrayBuffer>>
  /** The same, read as JSON. */
  json<Result>(request: HttpRequest): Promise<Result>
  /** A budget that several requests share. */
  newWaits(): Waits
  readonly hasToken: boolean
  /** Without a slash at its end. */
  readonly baseUrl: string
}

export interface HttpOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly token: string | undefined
  readonly policy: RetryPolicy
  readonly transport: Transport
}

export function createHttp({ baseUrl, token, policy, transport }: HttpOptions): Http {
  /** One attempt; `read` belongs to it, so that an answer that breaks off is asked for again. */
  async function attempt<Result>(request: HttpRequest, read: Read<Result>): Promise<Outcome<Result>> {
    const { signal } = request
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    }
    checkHeaders(headers)
    let response: Response
    try {
      response = await transport({
        method: request.method ?? 'GET',
        url: `${baseUrl}${request.path}${queryText(request.query)}`,
        headers,
        body: request.json === undefined ? request.body : JSON.stringify(request.json),
        signal,
        onSent: request.onSent,
      })
      if (response.ok) return { result: await read(response) }
    } catch (error) {
      signal?.throwIfAborted()
      if (LadeError.is(error)) throw error
      request.onUnanswered?.()
      return { failure: { error: unreachable(baseUrl, error), status: undefined, retryAfterMs: undefined } }
    }
    const error = await errorOf(response)
    signal?.throwIfAborted()
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now())
    return { failure: { error, status: response.status, retryAfterMs } }
  }

  async function run<Result>(request: HttpRequest, read: Read<Result>): Promise<Result> {
    const { signal, mayRepeat = true, waits = new Waits(policy) } = request
    for (;;) {
      signal?.throwIfAborted()
      const outcome = await attempt(request, read)
      if ('result' in outcome) return outcome.result
      const { failure } = outcome
      const delayMs = isWorthRetrying(failure, mayRepeat) ? waits.next(failure.retryAfterMs) : undefined
      if (delayMs === undefined) throw failure.error
      await wait(delayMs, signal)
    }
  }

  return {
    send: (request) => run(request, async (response) => response),
    bytes: (request) => run(request, async (response) => new Uint8Array(await response.arrayBuffer())),
    json: <Result>(request: HttpRequest) => run<Result>(request, readJson),
    newWaits: () => new Waits(policy),
    hasToken: token !== undefined,
    baseUrl,
  }
}

type Read<Result> = (response: Response) => Promise<Result>
type Outcome<Result> = { readonly result: Result } | { readonly failure: Failure }

async function readJson<Result>(response: Response): Promise<Result> {
  const text = await response.text()
  try {
    return JSON.parse(text) as Result
  } catch {
    throw unexpected(response, 'It was to be JSON and is not.')
  }
}

/** A connection that failed, by what the runtime says of it. */
export function unreachable(baseUrl: string, cause: unknown): LadeError<'unreachable'> {
  return new LadeError('unreachable', { url: baseUrl, reason: sentenceOf(cause) }, { cause })
}

/** Why a connection failed, as a sentence, which what the runtime says is rarely. fetch says no more than that it failed; where there is a cause, that says why. */
function sentenceOf(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { message = '', code } = deepest as { message?: string; code?: unknown }
  const said = message === '' ? code : message
  if (said === undefined) return 'The connection failed.'
  const text = String(said)
  if (/^\p{Lu}.*[.!?]$/u.test(text)) return text
  return `The connection failed: ${text.replace(/\.$/, '')}.`
}

/** Says so when a header cannot be sent, which would look like a connection that failed. @throws {TypeError} */
function checkHeaders(headers: Record<string, string>): void {
  new Headers(headers)
}

function queryText(query: HttpRequest['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
