import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { LadeError } from '@lade/core/errors'
import { HEADER, MAX_HEAD_BYTES } from '@lade/core/wire'
import { addressPrincipal } from '../quotas/principal.ts'
import { readTraceContext } from '../tracing/trace-context.ts'
import { inTrace, type Tracer } from '../tracing/tracing.ts'
import { commonHeaders } from './api-headers.ts'
import type { CallerCheck } from './caller-check.ts'
import type { Connections } from './connections.ts'
import { corsHeaders } from './cors.ts'
import { type Exchange, exchangeOf, openExchange, requestIdMaker } from './exchange.ts'
import { framingProblem, MAX_HEADER_LINES } from './framing.ts'
import type { HostCheck } from './known-host.ts'
import type { Lingering } from './lingering.ts'
import { parserProblem } from './parser-problem.ts'
import { asLadeError, problemBody, problemHeaders, STATUS } from './problem.ts'
import { pathOf } from './query.ts'
import type { RequestCounters } from './request-counters.ts'
import { logRequest, type RequestLog } from './request-log.ts'
import { requestPrincipal } from './request-principal.ts'
import { RequestRounds } from './request-rounds.ts'
import { sendProblem } from './respond.ts'
import type { Service } from './service.ts'
import type { SlowReaders } from './slow-readers.ts'
import { takeTraffic } from './traffic.ts'
import { CountedRequest, cutOff, isInFlood, isToBeAnswered, requestInHand } from './unanswered.ts'
import { UPLOAD_PATH } from './upload-path.ts'

const LIVENESS_PATH = '/healthz'
/** What nginx counts and logs for a request whose client was gone before there was a response. */
const CLIENT_CLOSED_REQUEST = 499

/** Where a connection carries the response that it is busy with. */
const ANSWERING = Symbol('answering')

type AnsweringSocket = Socket & { [ANSWERING]?: ServerResponse }

export type AnswerFromCache = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId?: string,
) => string | undefined

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface HttpServerOptions
  extends RequestLog,
    Pick<Service, 'budget' | 'inlineBytes' | 'requestsInHand' | 'uploadTurns'> {
  /** Routes a request with a sound frame. */
  readonly handle: RequestHandler
  /**
   * Answers at once what it can, ahead of everything else; undefined leaves the request to `handle`.
   *
   * @returns the route of what it answered.
   */
  readonly answerFromCache: AnswerFromCache
  /** What is wrong with the host that a request is sent to. */
  readonly hostProblem: HostCheck
  /** What is wrong with the address that it comes from. */
  readonly callerProblem: CallerCheck
  /** What is wrong with its method, asked where something is wrong with its body. */
  readonly methodProblem: (request: IncomingMessage) => LadeError | undefined
  /** True while no new connections are taken: each answer is then the last of its connection. */
  readonly isDraining: () => boolean
  readonly connections: Connections
  readonly lingering: Lingering
  readonly slowReaders: SlowReaders
  readonly requests: RequestCounters
  readonly tracer: Tracer
}

/**
 * The HTTP server before any routing: checks the frame, gives every request its id and its log line, answers what the
 * parser refuses, and leaves `Expect: 100-continue` to the route that knows whether it wants the body.
 *
 * Node's own time limit for a whole request is off, since a 5 GiB upload over a slow line is legitimate; uploads are
 * watched for progress instead. Heads have 10 seconds, checked every second. Answers are watched for progress on every connection.
 */
export function createHttpServer(options: HttpServerOptions): Server {
  const {
    handle,
    answerFromCache,
    hostProblem,
    callerProblem,
    methodProblem,
    isDraining,
    connections,
    lingering,
    slowReaders,
  } = options
  const { requests, requestsInHand, uploadTurns, tracer, log } = options
  const nextRequestId = requestIdMaker()
  const rounds = new RequestRounds(options.budget)
  const open = (request: IncomingMessage, response: ServerResponse): Exchange => {
    const exchange = openExchange(request, { requestId: nextRequestId(), startedAt: performance.now(), lingering })
    ;(request.socket as AnsweringSocket)[ANSWERING] = response
    const context = readTraceContext(request.headers)
    exchange.traceparent = context?.traceparent
    exchange.trace = tracer.begin(request, context)
    response.on('close', () => end(request, response, exchange))
    return exchange
  }
  const end = (request: IncomingMessage, response: ServerResponse, exchange: Exchange): void => {
    const { route, code, startedAt, trace } = exchange
    const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST
    const { bytesIn, bytesOut } = takeTraffic(request.socket)
    const durationMs = performance.now() - startedAt
    const isComplete = response.writableFinished
    const ended = { route, method: request.method, status, durationMs, bytesIn, bytesOut, isComplete }
    requests.add(ended)
    if (code !== undefined) requests.addError(code)
    if (status >= 400) options.budget.spendRefused(requestPrincipal(options, request))
    trace?.end({ route, status, code })
    logRequest(options, request, exchange, ended)
  }
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = open(request, response)
    inTrace(exchange.trace, () => answer(request, response, exchange))
  }
  const answer = (request: IncomingMessage, response: ServerResponse, exchange: Exchange): void => {
    if (isEveryRequestNoted() && isCached(request, response, exchange)) return
    const framing = framingProblem(request)
    // The body of a request that no route takes is not judged.
    const problem = framing === undefined ? hostProblem(request) : (methodProblem(request) ?? framing)
    const refusal = problem === undefined ? callerProblem(request) : undefined
    if (problem !== undefined) sendProblem(request, response, problem, { connection: 'close' })
    else if (refusal !== undefined) sendProblem(request, response, refusal)
    else handle(request, response)
  }
  /** True when responses from the cache have a log line or a trace, too, which costs more than they do. */
  const isEveryRequestNoted = (): boolean => tracer.isExporting || log.isLevelEnabled('debug')
  const isCached = (request: IncomingMessage, response: ServerResponse, exchange: Exchange): boolean => {
    const route = answerFromCache(request, response, exchange.requestId)
    if (route !== undefined) exchange.route = route
    return route !== undefined
  }
  /** Answers a request that has no log line and no trace; false leaves it to `receive`. */
  const isAnsweredAtOnce = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (isEveryRequestNoted()) return false
    const startedAt = performance.now()
    const route = answerFromCache(request, response)
    if (route === undefined) return false
    const durationMs = performance.now() - startedAt
    requests.add({ route, method: 'GET', status: 200, durationMs, ...takeTraffic(request.socket) })
    return true
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
    rounds.noteConnection()
    // A socket tells its peer as long as it is open, and afterwards only when it was asked before; the log asks at the end.
    void socket.remoteAddress
    if (connections.admit(socket)) slowReaders.watch(socket)
  })
  server.on('close', () => slowReaders.close())
  /** True for an upload whose body comes with its head, if the client sends it so. */
  const isSmallUpload = ({ method, url = '', headers }: IncomingMessage): boolean =>
    (method === 'PUT' || method === 'POST') &&
    pathOf(url) === UPLOAD_PATH &&
    Number(headers['content-length']) <= options.inlineBytes
  const isToBeTaken = (response: ServerResponse): boolean => {
    if (!isToBeAnswered(response)) return false
    const { socket } = response.req
    connections.noteBusy(socket)
    requestsInHand.begin()
    response.once('close', () => {
      requestsInHand.end()
      if (requestInHand(socket) === undefined) connections.noteIdle(socket)
    })
    return true
  }
  server.on('request', (request, response) => {
    if (!isToBeTaken(response)) return
    if (isDraining()) response.shouldKeepAlive = false
    const take = (): void => {
      // The connection may have closed while the request waited.
      if (!response.destroyed && !isAnsweredAtOnce(request, response)) receive(request, response)
    }
    // Supervisors restart a service that does not answer this in time. They do not send it behind other requests, attackers do.
    const principalOf = (): string => requestPrincipal(options, request)
    if (request.url === LIVENESS_PATH && requestInHand(request.socket) === request) take()
    else if (isSmallUpload(request)) uploadTurns.begin(take, rounds, principalOf)
    else rounds.begin(take, principalOf)
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
  { log, refusals, requests }: Pick<HttpServerOptions, 'log' | 'refusals' | 'requests'>,
  socket: Socket,
  error: NodeJS.ErrnoException,
  requestId: string,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem = parserProblem(error)
  const status = STATUS[problem.code]
  requests.add({ route: undefined, method: undefined, status, durationMs: 0, ...takeTraffic(socket) })
  requests.addError(problem.code)
  if (log.isLevelEnabled('info') && refusals.isLogged(addressPrincipal(socket.remoteAddress ?? '0.0.0.0'), status)) {
    log.info({ requestId, code: problem.code, status }, 'no request')
  }
  const body = JSON.stringify(problemBody(problem, requestId))
  // With CORS, since nobody knows whether the path was one of the API.
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    [HEADER.requestId]: requestId,
    connection: 'close',
    ...commonHeaders,
    ...corsHeaders,
    ...problemHeaders(problem),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  socket.setTimeout(2000, () => socket.destroy())
  socket.resume()
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
