import { LadeError } from '@lade/core/errors'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { addAnswerFaults } from './answer-faults.ts'
import { notFound, Refusal } from './refusal.ts'
import { dataSetRoutes } from './routes/data-sets.ts'
import { operationsRoutes } from './routes/operations.ts'
import { pieceRoutes } from './routes/pieces.ts'
import { proveRoutes } from './routes/prove.ts'
import { pullRoutes } from './routes/pull.ts'
import { retrievalRoutes } from './routes/retrieval.ts'
import { terminationRoutes } from './routes/termination.ts'
import { uploadRoutes } from './routes/uploads.ts'
import type { ProverService } from './service.ts'

const MAX_JSON_BYTES = 1024 * 1024
/** How long a refused body is read on, so that its sender sees the answer and not a reset. */
const LINGER_MS = 1500

/** The HTTP face of the prover, not yet listening. */
export function createApp(service: ProverService, log: FastifyBaseLogger | undefined): FastifyInstance {
  const app = fastify({
    ...(log === undefined ? { logger: false } : { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoutes: false,
    // A gigabyte over a slow line is legitimate; bodies are watched for standing still instead.
    requestTimeout: 0,
    http: { headersTimeout: 10_000 },
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 256 },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.setErrorHandler<Error>((error, request, reply) => sendRefusal(request, reply, refusalOf(error)))
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, notFound()))
  app.addHook('onSend', async (_request, reply) => {
    // A connection that is kept would hold the end up.
    if (service.closing.aborted) reply.header('connection', 'close')
  })
  addAnswerFaults(app, service.faults, service.closing)
  pieceRoutes(app, service)
  uploadRoutes(app, service)
  pullRoutes(app, service)
  dataSetRoutes(app, service)
  terminationRoutes(app, service)
  retrievalRoutes(app, service)
  proveRoutes(app, service)
  operationsRoutes(app, service)
  return app
}

function refusalOf(error: Error & { readonly statusCode?: number }): Refusal {
  if (error instanceof Refusal) return error
  if (LadeError.has(error, 'body_timeout')) return new Refusal(408, 'Timeout while reading the body', { cause: error })
  if (LadeError.has(error, 'bad_request')) return new Refusal(400, 'Failed to read the body', { cause: error })
  const { statusCode = 500 } = error
  if (statusCode < 500) return new Refusal(statusCode, error.message, { cause: error })
  return new Refusal(500, 'Internal server error', { cause: error })
}

function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): void {
  const { status, text, retryAfterSeconds } = refusal
  if (status >= 500) request.log.error({ err: refusal.cause ?? refusal, status, answer: text.trim() }, 'failed')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  if (!request.raw.complete) {
    reply.header('connection', 'close')
    lingerOver(request)
  }
  reply.code(status).header('x-content-type-options', 'nosniff').type('text/plain; charset=utf-8').send(text)
}

function lingerOver(request: FastifyRequest): void {
  const { socket } = request.raw
  request.raw.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
