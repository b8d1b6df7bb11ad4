import type { LadeError } from '@lade/core/errors'
import { MAX_JSON_BYTES } from '@lade/core/wire'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { BlockedContent } from '../moderation/blocked-content.ts'
import { appServers } from './app-servers.ts'
import { requestIdMaker } from './exchange.ts'
import { contentHostOf } from './file-headers.ts'
import { methodProblem, rememberRoutes } from './known-paths.ts'
import { noteRoutes } from './openapi/documented-routes.ts'
import { allowOrigins, answerFailures, checkRequests, readJsonBodies } from './request-checks.ts'
import { RequestCounters } from './request-counters.ts'
import { sendProblem } from './respond.ts'
import { ResponseCache } from './response-cache.ts'
import { adminRoutes } from './routes/admin/admin.ts'
import { dealActionRoutes } from './routes/deals/deal-actions.ts'
import { dealRoutes } from './routes/deals/deals.ts'
import { directoryRoutes } from './routes/directories/directories.ts'
import { changeFileRoutes } from './routes/files/change-file.ts'
import { claimFileRoutes } from './routes/files/claim-file.ts'
import { fileRoutes } from './routes/files/files.ts'
import { gatewayRoutes } from './routes/gateway/gateway.ts'
import { lfsRoutes } from './routes/lfs/lfs.ts'
import { consoleRoutes } from './routes/operations/console.ts'
import { documentRoutes } from './routes/operations/docs.ts'
import { faviconRoute } from './routes/operations/favicon.ts'
import { metricsRoutes } from './routes/operations/metrics.ts'
import { operationRoutes } from './routes/operations/operations.ts'
import { pdpRoutes } from './routes/pieces/pdp.ts'
import { pieceRoutes } from './routes/pieces/pieces.ts'
import { resumableUploadRoutes } from './routes/resumable/resumable-routes.ts'
import { tusRoutes } from './routes/resumable/tus-routes.ts'
import { challengeRoutes } from './routes/retrieval/challenge.ts'
import { filePathRoutes } from './routes/retrieval/file-paths.ts'
import { retrievalRoutes } from './routes/retrieval/retrieval.ts'
import { sharedFolderRoutes } from './routes/retrieval/shared-folder.ts'
import { providerRoutes } from './routes/routing/providers.ts'
import { sessionRoutes } from './routes/sessions/sessions.ts'
import { tokenRoutes } from './routes/tokens/tokens.ts'
import { batchRoutes } from './routes/uploads/batch.ts'
import { composeRoutes } from './routes/uploads/compose.ts'
import { uploadRoutes } from './routes/uploads/uploads.ts'
import { walletRoutes } from './routes/wallets/wallets.ts'
import type { Service } from './service.ts'
import type { SlowReadersOptions } from './slow-readers.ts'
import { frameworkProblem } from './validation-problem.ts'

/**
 * Given to the framework as it starts, so that it does not load compilers of JSON Schema, which take memory and start time.
 * Its types know no schemas but those.
 */
const COMPILERS = {
  buildValidator: () => validatorCompiler,
  buildSerializer: () => serializerCompiler,
} as unknown as NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

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
  const responseCache = responseCacheOf(service)
  const requests = new RequestCounters()
  const app = fastify({
    serverFactory: appServers(service, {
      responseCache,
      requests,
      readerTimes,
      methodProblem: (request): LadeError | undefined => methodProblem(app, request),
    }),
    bodyLimit: MAX_JSON_BYTES,
    exposeHeadRoutes: true,
    // The server answers these by itself; the framework's own answer would come on top.
    clientErrorHandler: () => {},
    routerOptions: { maxParamLength: 4096 },
    schemaController: { compilersFactory: COMPILERS },
    logger: false,
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      sendProblem(request.raw, reply.raw, frameworkProblem(error))
    },
  })
  readJsonBodies(app)
  answerFailures(app, service)
  rememberRoutes(app)
  noteRoutes(app)
  await allowOrigins(app)
  checkRequests(app, service)

  consoleRoutes(app, service)
  documentRoutes(app, service)
  const routes = app.withTypeProvider<ZodTypeProvider>()
  uploadRoutes(routes, service)
  composeRoutes(routes, service)
  directoryRoutes(routes, service)
  batchRoutes(routes, service)
  resumableUploadRoutes(routes, service)
  tusRoutes(routes, service)
  retrievalRoutes(routes, service, responseCache)
  filePathRoutes(routes, service)
  sharedFolderRoutes(routes, service)
  challengeRoutes(routes, service)
  gatewayRoutes(routes, service)
  pieceRoutes(routes, service, responseCache)
  lfsRoutes(routes, service)
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
  adminRoutes(routes, service)
  operationRoutes(routes, service)
  metricsRoutes(routes, service, requests)
  faviconRoute(app)
  return app
}

/** Undefined where the records do not say whether anything was written. */
function responseCacheOf({ records, filesNow, config, moderation }: Service): ResponseCache | undefined {
  if (records.generation === undefined) return undefined
  return new ResponseCache({
    generation: generationOf(records.generation, moderation.content),
    now: filesNow,
    nextRequestId: requestIdMaker(),
    host: contentHostOf(config),
  })
}

/** A number that changes with the records, and with what the operator forbids. */
function generationOf(records: () => number, content: Pick<BlockedContent, 'changes'>): () => number {
  let seen = { records: records(), blocks: content.changes }
  let generation = 0
  return () => {
    const now = { records: records(), blocks: content.changes }
    if (now.records !== seen.records || now.blocks !== seen.blocks) generation += 1
    seen = now
    return generation
  }
}
