import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { MAX_HEAD_BYTES } from '@lade/core/wire'

/** Headers that mean one thing only; two of them are a request that two readers could read differently. */
const SINGLE = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'transfer-encoding',
  'tus-resumable',
  'upload-checksum',
  'upload-complete',
  'upload-concat',
  'upload-defer-length',
  'upload-length',
  'upload-metadata',
  'upload-offset',
  'x-claim-digest',
  'x-filename',
  'x-http-method-override',
  'x-term-days',
  'x-visibility',
])

/** More header lines than this are refused; Node would drop the rest without a word. */
export const MAX_HEADER_LINES = 256

/** RFC 9110 8.6: digits only. A leading zero is legal there and refused here, since readers disagree on it. */
const CONTENT_LENGTH = /^(?:0|[1-9][0-9]{0,15})$/

/** RFC 9112 3.2: a host and a port, without user, path or list. */
const HOST = /^(?:[a-z0-9._~-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i

/**
 * What is wrong with the frame of a request, if anything: whatever could make this service and a proxy in front of it
 * see different requests in the same bytes (RFC 9112 section 11.2). Node accepts most of these.
 *
 * @returns the error to answer with before the connection is closed, or undefined when the frame is sound.
 */
export function framingProblem(request: IncomingMessage): LadeError | undefined {
  const { rawHeaders, headers, url, method } = request
  if (rawHeaders.length >= MAX_HEADER_LINES * 2)
    return new LadeError('headers_too_large', { limitBytes: MAX_HEAD_BYTES })
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') return malformed('The request is not HTTP/1.1.')
  const repeated = repeatedHeader(rawHeaders)
  if (repeated !== undefined) return malformed(`Two ${canonical(repeated)} headers. Send one.`)
  if (headers['transfer-encoding'] !== undefined) {
    if (headers['content-length'] !== undefined || request.httpVersion !== '1.1') {
      return malformed(
        'A request cannot have both Transfer-Encoding and Content-Length, and HTTP/1.0 does not support Transfer-Encoding. Send only Content-Length.',
      )
    }
    if (!isChunked(request) || !mayBeChunked(request)) return new LadeError('length_required', {})
  }
  if (!HOST.test(headers.host ?? (request.httpVersion === '1.0' ? 'none' : ''))) {
    return malformed('The Host header is missing or is not a host and port. Send one, such as Host: lade.example.')
  }
  if (url === undefined || !url.startsWith('/'))
    return malformed('The request target is not a path. Send a path that starts with /.')
  // RFC 9112 3.2.1: no fragment. A proxy may cut it off, and see another request than this service.
  if (url.includes('#')) return malformed('The request target has a fragment. Write # as %23, or leave it out.')
  const length = headers['content-length']
  if (length === undefined) return undefined
  if (!CONTENT_LENGTH.test(length) || !Number.isSafeInteger(Number(length))) {
    return malformed('Content-Length must be a decimal number without sign, spaces or leading zeros.')
  }
  if ((method === 'GET' || method === 'HEAD') && length !== '0')
    return malformed(
      `A ${method} request must not have a body, but Content-Length is ${length}. Send it without a body.`,
    )
  return undefined
}

/** True for a body whose length its chunks tell. Only `chunked` alone is: readers differ on lists of codings. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding']?.toLowerCase() === 'chunked'
}

/** True for a request that says that it has a body. */
export function announcesBody(request: IncomingMessage): boolean {
  return (declaredBytes(request) ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined
}

/** The bodies of all other requests are small, and are read into memory of their declared length. */
function mayBeChunked({ method, url = '' }: IncomingMessage): boolean {
  if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') return false
  return /^\/api\/(?:upload|tus)(?:\/[\w-]{1,64})?(?:\?|$)/.test(url)
}

/** The declared length of the body; undefined when the request declares none. Only for requests with a sound frame. */
export function declaredBytes(request: IncomingMessage): number | undefined {
  const length = request.headers['content-length']
  return length === undefined ? undefined : Number(length)
}

/** A header that stands at most once; only for names in the list above, whose repetition is refused. */
export function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!SINGLE.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** @example canonical('x-filename') // 'X-Filename' */
function canonical(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}

function malformed(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
