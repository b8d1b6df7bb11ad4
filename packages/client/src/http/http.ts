import { LadeError } from '@lade/core/errors'
import { type Slice, sizeOf } from '../hashing/slice.ts'
import { errorOf, unexpected } from './answer-error.ts'
import type { Credentials, Proof } from './credentials.ts'
import {
  Contact,
  type Failure,
  isWorthRetrying,
  parseRetryAfter,
  type RequestRetry,
  type RetryPolicy,
  Waits,
  wait,
} from './retry.ts'
import type { Transport, TransportRequest } from './transport.ts'

/** A request to the service, before it has a base URL and credentials. */
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
  /** The sha2-256 of `body` in hex, which credentials that cover bodies need. */
  readonly bodySha256?: string | undefined
  /**
   * True for what may be answered to anybody, so that a wallet is not asked to sign before the service asks who it is. A
   * token is sent all the same. @default false
   */
  readonly isOpen?: boolean | undefined
  readonly onSent?: ((sentBytes: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** False for what must not be done twice. @default true */
  readonly mayRepeat?: boolean | undefined
  /** Called when an attempt ended without an answer, so that nobody knows whether it was done. */
  readonly onUnanswered?: (() => void) | undefined
  /** The waits to take from, where several requests share them. @default those of this request alone */
  readonly waits?: Waits | undefined
}

/** Requests to one service, with what its caller is known by, sent again where that helps. */
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
  /** What the caller is known by; undefined for nobody, whose uploads are sponsored. */
  readonly caller: Credentials['caller'] | undefined
  /** True when the digest of a body must be given with it. */
  readonly coversBodies: boolean
  /** Without a slash at its end. */
  readonly baseUrl: string
}

export interface HttpOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly credentials?: Credentials | undefined
  readonly policy: RetryPolicy
  readonly onRetry?: ((retry: RequestRetry) => void) | undefined
  readonly transport: Transport
}

export function createHttp({ baseUrl, credentials, policy, onRetry, transport }: HttpOptions): Http {
  // Once the service has asked, the next blocks or ranges of a private file are not asked for in vain first.
  let isAskedWho = credentials !== undefined && credentials.caller !== 'wallet'
  const contact = new Contact()
  const newWaits = (): Waits => new Waits(policy, { contact })

  /** One attempt; `read` belongs to it, so that an answer that breaks off is asked for again. */
  async function attempt<Result>(request: HttpRequest, read: Read<Result>): Promise<Outcome<Result>> {
    const { signal, method = 'GET' } = request
    const url = `${baseUrl}${request.path}${queryText(request.query)}`
    const body = request.json === undefined ? request.body : JSON.stringify(request.json)
    const headers = {
      accept: 'application/json',
      ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    }
    checkHeaders(headers)
    const isProven = isAskedWho || request.isOpen !== true
    const digested = typeof body === 'object' ? { sizeBytes: sizeOf(body), sha256: request.bodySha256 } : body
    const proof = isProven ? await credentials?.prove({ method, url, headers, body: digested, signal }) : undefined
    let response: Response
    try {
      const sent = { ...headers, ...proof?.headers }
      response = await transport({ method, url, headers: sent, body, signal, onSent: request.onSent })
      contact.note(response.status)
      if (response.ok) return { result: await read(response) }
    } catch (error) {
      signal?.throwIfAborted()
      if (LadeError.is(error)) throw error
      request.onUnanswered?.()
      return { failure: { error: unreachable(baseUrl, error), status: undefined, retryAfterMs: undefined }, proof }
    }
    const error = await errorOf(response)
    signal?.throwIfAborted()
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now())
    return { failure: { error, status: response.status, retryAfterMs }, proof }
  }

  /** True when the request was refused for want of a proof that can be had. */
  function needsAnotherProof(
    { failure, proof }: Failed,
    { mayRepeat = true, isOpen = false, onUnanswered }: HttpRequest,
  ): boolean {
    const { error } = failure
    if (proof === undefined) {
      // A private file is not there for anybody else.
      const mayBePrivate = isOpen && error.code === 'not_found'
      if (credentials === undefined || !(error.code === 'no_token' || mayBePrivate)) return false
      isAskedWho = true
      return true
    }
    const refusal = proof.refusedBy(error)
    if (refusal === 'repeated') onUnanswered?.()
    return refusal === 'unread' || (refusal === 'repeated' && mayRepeat)
  }

  async function run<Result>(request: HttpRequest, read: Read<Result>): Promise<Result> {
    const { signal, mayRepeat = true, waits = newWaits() } = request
    let isProvenAgain = false
    for (;;) {
      signal?.throwIfAborted()
      const outcome = await attempt(request, read)
      if ('result' in outcome) return outcome.result
      if (!isProvenAgain && needsAnotherProof(outcome, request)) {
        isProvenAgain = true
        continue
      }
      const { failure } = outcome
      const delayMs = isWorthRetrying(failure, mayRepeat) ? waits.next(failure.retryAfterMs) : undefined
      if (delayMs === undefined) throw failure.error
      onRetry?.({ error: failure.error, delayMs })
      await wait(delayMs, signal)
    }
  }

  return {
    send: (request) => run(request, async (response) => response),
    bytes: (request) => run(request, async (response) => new Uint8Array(await response.arrayBuffer())),
    json: <Result>(request: HttpRequest) => run<Result>(request, readJson),
    newWaits,
    caller: credentials?.caller,
    coversBodies: credentials?.coversBodies === true,
    baseUrl,
  }
}

type Read<Result> = (response: Response) => Promise<Result>
type Failed = { readonly failure: Failure; readonly proof: Proof | undefined }
type Outcome<Result> = { readonly result: Result } | Failed

async function readJson<Result>(response: Response): Promise<Result> {
  const text = await response.text()
  try {
    return JSON.parse(text) as Result
  } catch {
    throw unexpected(response, 'The response is not JSON, so this may not be the URL of the service.')
  }
}

/** A connection that failed, by what the runtime says of it. */
export function unreachable(baseUrl: string, cause: unknown): LadeError<'unreachable'> {
  return new LadeError('unreachable', { url: baseUrl, reason: sentenceOf(cause) }, { cause })
}

/** Of connections: what the runtime says, and what to do about it. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|ERR_SSL_PACKET_LENGTH_TOO_LONG/i,
    'The server on this port does not use TLS. Use http:// in the URL, or the port of the TLS proxy.',
  ],
  [/SELF_SIGNED|self-signed|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/i, 'Its certificate is not trusted on this machine.'],
  [/CERT_HAS_EXPIRED/, 'Its certificate has expired.'],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'Its certificate is for another host name.'],
  [/ENOTFOUND/, 'The host name is unknown.'],
]

/** Why a connection failed, as a sentence, which what the runtime says is rarely. fetch says no more than that it failed; where there is a cause, that says why. */
function sentenceOf(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { message = '', code } = deepest as { message?: string; code?: unknown }
  const known = REASONS.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1]
  if (known !== undefined) return known
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
