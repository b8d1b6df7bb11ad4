import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { LadeError } from '@lade/core/errors'
import { MAX_HEAD_BYTES } from '@lade/core/wire'
import { addressPrincipal } from '../quotas/principal.ts'
import type { Connections } from './connections.ts'
import { exchangeOf, openExchange, requestIdMaker } from './exchange.ts'
import { framingProblem, MAX_HEADER_LINES } from './framing.ts'
import type { HostCheck } from './known-host.ts'
import { asLadeError, problemBody, STATUS } from './problem.ts'
import { pathOf } from './query.ts'
import { requestPrincipal } from './request-principal.ts'
import { RequestRounds } from './request-rounds.ts'
import { sendProblem } from './respond.ts'
import type { Service } from './service.ts'
import type { SlowReaders } from './slow-readers.ts'
import { CountedRequest, cutOff, isInFlood, isToBeAnswered, requestInHand } from './unanswered.ts'

const LIVENESS_PATH = '/healthz'

/** Where a connection carries the response that it is busy with. */
const ANSWERING = Symbol('answering')

type AnsweringSocket = Socket & { [ANSWERING]?: ServerResponse }

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** What it takes to log a request, and whose it is. */
export type RequestLog = Pick<Service, 'log' | 'refusals' | 'clientAddress'>

export interface HttpServerOptions extends RequestLog, Pick<Service, 'budget'> {
  /** Routes a request with a sound frame. */
  readonly handle: RequestHandler
  /** Answers at once what it can, ahead of everything else; false leaves the request to `handle`. */
  readonly answerFromCache: (request: IncomingMessage, response: ServerResponse) => boolean
  /** What is wrong with the host that a request is sent to. */
  readonly hostProblem: HostCheck
  /** True while no new connections are taken: each answer is then the last of its connection. */
  readonly isDraining: () => boolean
  readonly connections: Connections
  readonly slowReaders: SlowReaders
  readonly now: () => number
}

/**
 * The HTTP server before any routing: checks the frame, gives every request its id and its log line, answers what the
 * parser refuses, and leaves `Expect: 100-continue` to the route that knows whether it wants the body.
 *
 * Node's own time limit for a whole request is off, since a 5 GiB upload over a slow line is legitimate; uploads are
 * watched for progress instead. Heads have 10 seconds, checked every second. Answers are watched for progress on every connection.
 */
export function createHttpServer(options: HttpServerOptions): Server {
  const { handle, answerFromCache, hostProblem, isDraining, connections, slowReaders, now } = options
  const nextRequestId = requestIdMaker()
  const rounds = new RequestRounds(options.budget)
  const open = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = openExchange(request, nextRequestId(), now())
    ;(request.socket as AnsweringSocket)[ANSWERING] = response
    response.on('close', () => logExchange(options, request, response, now() - exchange.startedAt, exchange))
  }
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    open(request, response)
    const problem = framingProblem(request) ?? hostProblem(request)
    if (problem === undefined) handle(request, response)
    else sendProblem(request, response, problem, { connection: 'close' })
  }

  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 1000,
    maxHeaderSize: MAX_HEAD_BYTES,
    // The frame check asks for Host, and answers like every other refusal.
    requireHostHeader: false,
    joinDuplicateHeaders: false,
    insecureHTTPParser: false,
    noDelay: true,
    IncomingMessage: CountedRequest,
    shouldUpgradeCallback: isInFlood,
  })
  server.maxHeadersCount = MAX_HEADER_LINES
  // A client that ends its side behind the last byte of its request still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = connections.maxCount
  server.on('drop', (dropped) => connections.noteRefused(dropped?.remoteAddress))
  server.on('connection', (socket) => {
    // A socket tells its peer as long as it is open, and afterwards only when it was asked before; the log asks at the end.
    void socket.remoteAddress
    if (connections.admit(socket)) slowReaders.watch(socket)
  })
  server.on('close', () => slowReaders.close())
  const isToBeTaken = (response: ServerResponse): boolean => {
    if (!isToBeAnswered(response)) return false
    const { socket } = response.req
    connections.noteBusy(socket)
    response.once('close', () => {
      if (requestInHand(socket) === undefined) connections.noteIdle(socket)
    })
    return true
  }
  server.on('request', (request, response) => {
    if (!isToBeTaken(response)) return
    if (isDraining()) response.shouldKeepAlive = false
    const take = (): void => {
      // The connection may have closed while the request waited.
      if (!response.destroyed && !answerFromCache(request, response)) receive(request, response)
    }
    // Supervisors restart a service that does not answer this in time.
    if (request.url === LIVENESS_PATH) take()
    else rounds.begin(take, () => requestPrincipal(options, request))
  })
  const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isToBeTaken(response)) return
    open(request, response)
    const expect = String(request.headers.expect)
    sendProblem(request, response, new LadeError('expectation_failed', { expect }), { connection: 'close' })
  }
  server.on('checkContinue', (request, response) => {
    if (isDraining()) response.shouldKeepAlive = false
    // Node takes a list that has 100-continue in it for 100-continue.
    if (request.headers.expect?.toLowerCase() !== '100-continue') refuseExpectation(request, response)
    else if (isToBeTaken(response)) receive(request, response)
  })
  server.on('checkExpectation', refuseExpectation)
  // No request asks for one that is granted, see CountedRequest.
  server.on('upgrade', (_request, socket) => cutOff(socket as Socket))
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket: AnsweringSocket = stream as Socket
    const response = socket[ANSWERING]
    // Bytes after a sound request must not spoil its answer: it goes out, then the connection is closed.
    if (response !== undefined && !response.writableFinished && !response.destroyed) {
      if (!response.req.complete) cutBody(response.req)
      response.once('finish', () => socket.destroySoon())
      return
    }
    answerUnparsed(options, socket, error, nextRequestId())
  })
  return server
}

function cutBody(request: IncomingMessage): void {
  const exchange = exchangeOf(request)
  exchange.isBodyCut = true
  exchange.onBodyCut?.()
}

function answerUnparsed(
  { log, refusals }: RequestLog,
  socket: Socket,
  error: NodeJS.ErrnoException,
  requestId: string,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem = parserProblem(error.code)
  const status = STATUS[problem.code]
  if (log.isLevelEnabled('info') && refusals.isLogged(addressPrincipal(socket.remoteAddress ?? '0.0.0.0'), status)) {
    log.info({ requestId, code: problem.code, status }, 'no request')
  }
  const body = JSON.stringify(problemBody(problem, requestId))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  socket.setTimeout(2000, () => socket.destroy())
  socket.resume()
}

function parserProblem(code: string | undefined): LadeError {
  if (code === 'HPE_HEADER_OVERFLOW') return new LadeError('headers_too_large', { limitBytes: MAX_HEAD_BYTES })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new LadeError('request_timeout', {})
  return new LadeError('bad_request', { reason: 'The received bytes are not an HTTP request.' })
}

function logExchange(
  service: RequestLog,
  request: IncomingMessage,
  response: ServerResponse,
  durationMs: number,
  exchange: { readonly requestId: string; readonly notes: Record<string, unknown> },
): void {
  const { log, refusals } = service
  const status = response.statusCode
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const level = status >= 500 ? 'error' : status >= 400 || !isRead ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  if (status >= 400 && !refusals.isLogged(requestPrincipal(service, request), status)) return
  // The path without its query: tokens and share links travel there. A target that is no path may hold a password.
  const { url = '' } = request
  const path = url.startsWith('/') ? pathOf(url) : ''
  const { requestId, notes } = exchange
  const complete = response.writableFinished
  log[level]({ requestId, method: request.method, path, status, durationMs, complete, ...notes }, 'request')
}

/**
 * The error as the log keeps it: code, sentence, evidence, and the causes that the caller is not shown. Nothing while the refusals of the
 * caller's address are left out of the log.
 */
export function logFailure(service: RequestLog, request: IncomingMessage, failure: unknown): void {
  const error = asLadeError(failure)
  if (STATUS[error.code] < 500 || service.refusals.isFlooding(requestPrincipal(service, request))) return
  const { requestId } = exchangeOf(request)
  service.log.error({ requestId, code: error.code, err: error.cause ?? error }, 'failed')
}
