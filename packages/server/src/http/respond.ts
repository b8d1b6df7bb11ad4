import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { LadeError } from '@lade/core/errors'
import { HEADER, type Problem } from '@lade/core/wire'
import type { FastifyReply } from 'fastify'
import { corsHeaders } from './cors.ts'
import { exchangeOf, requestIdOf } from './exchange.ts'
import { announcesBody, declaredBytes } from './framing.ts'
import { problemBody, problemHeaders, problemMediaType, resumableProblem, STATUS } from './problem.ts'

/** What hooks have set on a reply so far, to be taken along when the answer is written past the framework. */
export function headersSet(reply: FastifyReply): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = value
  return headers
}

/** Answers JSON with its length. */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  // Node sends a text and the head as one; a buffer would go beside it.
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...requestIdOf(request),
    ...headers,
  })
  response.end(text)
}

/** The paths of uploads that are resumed by the draft of the IETF. */
const RESUMABLE_PREFIX = '/api/upload/'

/** The paths of the Git LFS API. */
const LFS_PREFIX = '/lfs/'

/** A body up to this length is read to its end after a refusal, and the connection stays open: a new one costs more. */
const SHORT_BODY_BYTES = 1024 * 1024

/** How an error is written for the client that asks. */
export type ProblemForm = (
  request: IncomingMessage,
  problem: Problem,
) => { readonly contentType: string; readonly bytes: Uint8Array }

/** A problem document. */
export const jsonProblem: ProblemForm = ({ url, headers: { accept } }, problem) => {
  // Clients of Git LFS show `message`, and nothing else.
  const isOfLfs = url?.startsWith(LFS_PREFIX) === true
  const body = isOfLfs ? { ...problem, message: problem.detail } : problem
  return { contentType: problemMediaType(accept), bytes: Buffer.from(JSON.stringify(body)) }
}

/**
 * Answers an error. When a long body has not been read, the connection is closed afterwards, but not before the client
 * could read the answer: a socket that is closed with unread bytes sends a reset, which throws the answer away.
 *
 * @param form - @default a problem document
 */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  error: LadeError,
  headers: OutgoingHttpHeaders = {},
  form: ProblemForm = jsonProblem,
): void {
  const exchange = exchangeOf(request)
  const { requestId } = exchange
  exchange.code = error.code
  if (response.headersSent) {
    // The status has gone out already; cutting the connection is the only honest end.
    response.destroy(error)
    return
  }
  const body = problemBody(error, requestId)
  const isResumable = request.url?.startsWith(RESUMABLE_PREFIX) === true
  const { contentType, bytes } = form(request, isResumable ? resumableProblem(error, body) : body)
  const bodyMayFollow = !request.complete && announcesBody(request)
  const status = STATUS[error.code]
  const mustClose =
    (bodyMayFollow && !isRestShort(request)) || error.code === 'bad_request' || error.code === 'shutting_down'
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': bytes.length,
    [HEADER.requestId]: requestId,
    'x-content-type-options': 'nosniff',
    ...(mustClose ? { connection: 'close' } : {}),
    ...(request.url?.startsWith('/api/') ? corsHeaders : {}),
    ...problemHeaders(error),
    ...headers,
  })
  if (request.method === 'HEAD' || !bodyMayFollow || request.headers.expect !== undefined) {
    response.end(request.method === 'HEAD' ? undefined : bytes)
    return
  }
  // With its length declared the answer is complete for the client now; ending it is what closes a connection that must close.
  response.write(bytes)
  exchange.onBodyCut = exchange.lingering.discard(request, () => {
    // What was not read of the body would be taken for the next request.
    response.end(() => request.complete || request.socket.destroySoon())
  })
  if (exchange.isBodyCut) exchange.onBodyCut()
}

/** A client that expects 100-continue may send its body or not: only the end of the connection says which. */
function isRestShort(request: IncomingMessage): boolean {
  const sizeBytes = declaredBytes(request)
  return sizeBytes !== undefined && sizeBytes <= SHORT_BODY_BYTES && request.headers.expect === undefined
}
