import cors from '@fastify/cors'
import { LadeError } from '@lade/core/errors'
import { MAX_JSON_BYTES } from '@lade/core/wire'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { apiHeaders, commonHeaders } from './api-headers.ts'
import { checkToken, queryTokenHeaders } from './authenticate.ts'
import { limitBodyTime } from './body-deadline.ts'
import { checkBodyDigest } from './body-digest.ts'
import { addressTest, withoutMapping } from './client-address.ts'
import { affordableConnections, Connections } from './connections.ts'
import { contentHostCheck } from './content-host.ts'
import { anyOrigin, exposedHeaders } from './cors.ts'
import { directRoutes, routeOfCached } from './direct-routes.ts'
import { exchangeOf, requestIdMaker, requestIdOf } from './exchange.ts'
import { contentHostOf } from './file-headers.ts'
import { parseJsonBody } from './json-body.ts'
import { hostCheck, isLoopback } from './known-host.ts'
import { knownPaths, methodProblem, rememberRoutes } from './known-paths.ts'
import { Lingering } from './lingering.ts'
import { oneATurn } from './one-a-turn.ts'
import { noteRoutes } from './openapi/documented-routes.ts'
import { pathOf, queryOf } from './query.ts'
import { RequestCounters } from './request-counters.ts'
import { requestPrincipal } from './request-principal.ts'
import { headersSet, sendProblem } from './respond.ts'
import { ResponseCache } from './response-cache.ts'
import { routeTemplate } from './route-template.ts'
import { dealActionRoutes } from './routes/deals/deal-actions.ts'
import { dealRoutes } from './routes/deals/deals.ts'
import { changeFileRoutes } from './routes/files/change-file.ts'
import { claimFileRoutes } from './routes/files/claim-file.ts'
import { fileRoutes } from './routes/files/files.ts'
import { gatewayRoutes } from './routes/gateway/gateway.ts'
import { consoleRoutes } from './routes/operations/console.ts'
import { documentRoutes } from './routes/operations/docs.ts'
import { faviconRoute } from './routes/operations/favicon.ts'
import { metricsRoutes } from './routes/operations/metrics.ts'
import { operationRoutes } from './routes/operations/operations.ts'
import { pdpRoutes } from './routes/pieces/pdp.ts'
import { pieceRoutes } from './routes/pieces/pieces.ts'
import { challengeRoutes } from './routes/retrieval/challenge.ts'
import { retrievalRoutes } from './routes/retrieval/retrieval.ts'
import { providerRoutes } from './routes/routing/providers.ts'
import { sessionRoutes } from './routes/sessions/sessions.ts'
import { tokenRoutes } from './routes/tokens/tokens.ts'
import { composeRoutes } from './routes/uploads/compose.ts'
import { uploadRoutes } from './routes/uploads/uploads.ts'
import { walletRoutes } from './routes/wallets/wallets.ts'
import { createHttpServer, logFailure } from './server.ts'
import type { Service } from './service.ts'
import { guardChange } from './session-request.ts'
import { SlowReaders, type SlowReadersOptions } from './slow-readers.ts'
import { requestInHand } from './unanswered.ts'
import { unknownPath } from './unknown-path.ts'
import { frameworkProblem } from './validation-problem.ts'
import { signatureRequestHeaders } from './wallet-request.ts'

/** Decoding and validating a body of this size takes less than a millisecond. */
const LONG_JSON_BYTES = 16_384

/**
 * The HTTP face of the service: the server, every route, and what is common to all of them.
 *
 * @param readerTimes - how long readers have. @default those of `SlowReaders`
 * @returns the framework instance, not yet listening.
 */
export async function createApp(
  service: Service,
  readerTimes: Pick<SlowReadersOptions, 'idleMs' | 'minuteMs'> = {},
): Promise<FastifyInstance> {
  const { records, requestOrigin } = service
  const responseCache =
    records.generation === undefined
      ? undefined
      : new ResponseCache({
          generation: records.generation,
          now: service.filesNow,
          nextRequestId: requestIdMaker(),
          host: contentHostOf(service.config),
        })
  const direct = directRoutes(service, responseCache)
  const requests = new RequestCounters()
  const hostProblem = hostCheck(service.config)
  const contentHostProblem = contentHostCheck(service.config)

  const { budget } = service
  const connections = new Connections({
    maxCount: affordableConnections(service.config.maxConnections),
    isShared: sharedAddressTest(service.config),
    onRefused: (principal) => budget.heldBack({ principal, work: 'read', how: 'refused' }),
  })
  const lingering = new Lingering({
    budget,
    principalOf: (request) => requestPrincipal(service, request),
    isDraining: service.isDraining,
  })
  const slowReaders = new SlowReaders({
    ...readerTimes,
    onCut: (socket) => {
      const request = requestInHand(socket)
      if (request === undefined) return
      budget.heldBack({ principal: requestPrincipal(service, request), work: 'read', how: 'closed' })
    },
  })

  const app = fastify({
    serverFactory: (route) =>
      createHttpServer({
        budget: service.budget,
        methodProblem: (request): LadeError | undefined => methodProblem(app, request),
        answerFromCache: (request, response, requestId) => {
          if (responseCache === undefined || hostProblem(request) !== undefined) return undefined
          return responseCache.answer(request, response, requestId) ? routeOfCached(request) : undefined
        },
        hostProblem,
        handle: (request, response) =>
          requestOrigin.run(request, () => {
            const misplaced = contentHostProblem(request)
            if (misplaced !== undefined) return sendProblem(request, response, misplaced)
            if (direct(request, response)) return
            limitBodyTime(request, service.config.bodyIdleMs)
            route(request, response)
          }),
        isDraining: service.isDraining,
        connections,
        lingering,
        slowReaders,
        log: service.log,
        refusals: service.refusals,
        clientAddress: service.clientAddress,
        requests,
        tracer: service.tracer,
      }),
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoutes: true,
    // The server answers these by itself; the framework's own answer would come on top.
    clientErrorHandler: () => {},
    routerOptions: { maxParamLength: 4096 },
    logger: false,
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      sendProblem(request.raw, reply.raw, frameworkProblem(error))
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.removeAllContentTypeParsers()
  const takeTurn = oneATurn()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > LONG_JSON_BYTES) await takeTurn()
    checkBodyDigest(request.raw, body)
    return parseJsonBody(body)
  })
  app.setErrorHandler<Error>((error, request, reply) => {
    const { body, query, params, headers: sent } = request
    const bodyLimitBytes = request.routeOptions.bodyLimit
    const problem = frameworkProblem(error, { body, query, params, headers: sent, bodyLimitBytes })
    logFailure(service, request.raw, problem)
    const headers = { ...headersSet(reply), ...signatureRequestHeaders(service, request.raw, problem) }
    reply.hijack()
    sendProblem(request.raw, reply.raw, problem, headers)
  })
  rememberRoutes(app)
  noteRoutes(app)
  await app.register(cors, {
    origin: anyOrigin,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders,
    maxAge: 86_400,
    strictPreflight: false,
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...requestIdOf(request.raw), ...commonHeaders })
    const route = routeTemplate(request.routeOptions.url)
    if (route !== undefined) exchangeOf(request.raw).route = route
    // By the route where there is one, since a path can be written in more than one way.
    const path = request.routeOptions.url ?? pathOf(request.raw.url ?? '/')
    if (path.startsWith('/api/')) {
      reply.headers(apiHeaders)
      guardChange(service, request.raw)
    }
    // Before the framework judges a body that nobody reads.
    if (!request.is404 && !path.endsWith('/*')) return
    const problem = methodProblem(app, request.raw)
    if (problem !== undefined) throw problem
    if (!request.is404) return
    throw new LadeError('not_found', { reason: unknownPath(request.method, path, knownPaths(app)) })
  })
  // Again, because the framework goes on from an event of the socket once it has read a body.
  app.addHook('preValidation', (request, _reply, done) => requestOrigin.run(request.raw, done))
  app.addHook('preValidation', async (request, reply) => {
    const query = queryOf(request.raw.url ?? '/', request.routeOptions.config.repeatable)
    reply.headers(queryTokenHeaders(query, `${service.publicUrl()}/docs`))
    listRepeatable(request)
  })
  // After the validation, as in the routes that need a caller. Those look again, which costs a digest.
  app.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.hasOwnToken) return
    await checkToken(service, request.raw, queryOf(request.raw.url ?? '/', request.routeOptions.config.repeatable))
  })

  consoleRoutes(app, service)
  documentRoutes(app, service)
  const routes = app.withTypeProvider<ZodTypeProvider>()
  uploadRoutes(routes, service)
  composeRoutes(routes, service)
  retrievalRoutes(routes, service, responseCache)
  challengeRoutes(routes, service)
  gatewayRoutes(routes, service)
  pieceRoutes(routes, service, responseCache)
  pdpRoutes(routes, service)
  providerRoutes(routes, service)
  fileRoutes(routes, service)
  changeFileRoutes(routes, service)
  claimFileRoutes(routes, service)
  dealRoutes(routes, service)
  dealActionRoutes(routes, service)
  tokenRoutes(routes, service)
  sessionRoutes(routes, service)
  walletRoutes(routes, service)
  operationRoutes(routes, service)
  metricsRoutes(routes, service, requests)
  faviconRoute(app)
  return app
}

/** A parameter that may be repeated is a list, also with one value. */
function listRepeatable({ query, routeOptions }: FastifyRequest): void {
  const parameters = query as Record<string, string | string[]>
  for (const name of routeOptions.config.repeatable ?? []) {
    const value = parameters[name]
    if (typeof value === 'string') parameters[name] = [value]
  }
}

/** Addresses that many callers may come through: proxies, and this machine where nobody else reaches the service. */
function sharedAddressTest({ host, trustedProxies }: Service['config']): (address: string) => boolean {
  if (isLoopback(host)) return () => true
  const isTrusted = addressTest(trustedProxies)
  return (address) => isTrusted(withoutMapping(address))
}
