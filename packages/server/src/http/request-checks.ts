import cors from '@fastify/cors'
import { LadeError } from '@lade/core/errors'
import { LFS_MEDIA_TYPE } from '@lade/core/wire'
import { oneATurn } from '@lade/node/budget/one-a-turn'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { apiHeaders, commonHeaders } from './api-headers.ts'
import { checkToken, queryTokenHeaders } from './authenticate.ts'
import { checkBodyDigest } from './body-digest.ts'
import { anyOrigin, exposedHeaders } from './cors.ts'
import { exchangeOf, requestIdOf } from './exchange.ts'
import { parseJsonBody } from './json-body.ts'
import { knownPaths, methodProblem } from './known-paths.ts'
import { pathOf, queryOf } from './query.ts'
import { headersSet, sendProblem } from './respond.ts'
import { routeTemplate } from './route-template.ts'
import { logFailure } from './server.ts'
import type { Service } from './service.ts'
import { guardChange } from './session-request.ts'
import { unknownPath } from './unknown-path.ts'
import { frameworkProblem } from './validation-problem.ts'
import { signatureRequestHeaders } from './wallet-request.ts'

/** Decoding and validating a body of this size takes less than a millisecond. */
const LONG_JSON_BYTES = 16_384

/** Reads JSON bodies, one long one at a time, and no others. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const takeTurn = oneATurn()
  const types = ['application/json', LFS_MEDIA_TYPE]
  app.addContentTypeParser(types, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > LONG_JSON_BYTES) await takeTurn()
    checkBodyDigest(request.raw, body)
    return parseJsonBody(body)
  })
}

/** Answers every failure of a route with a problem document. */
export function answerFailures(app: FastifyInstance, service: Service): void {
  app.setErrorHandler<Error>((error, request, reply) => {
    const { body, query, params, headers: sent } = request
    const bodyLimitBytes = request.routeOptions.bodyLimit
    const bodyFields = fieldsOf(request.routeOptions.schema?.body)
    const problem = frameworkProblem(error, { body, query, params, headers: sent, bodyLimitBytes, bodyFields })
    logFailure(service, request.raw, problem)
    const headers = { ...headersSet(reply), ...signatureRequestHeaders(service, request.raw, problem) }
    reply.hijack()
    sendProblem(request.raw, reply.raw, problem, headers)
  })
}

/** Lets web pages of every origin call the service. */
export async function allowOrigins(app: FastifyInstance): Promise<void> {
  await app.register(cors, {
    origin: anyOrigin,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders,
    maxAge: 86_400,
    strictPreflight: false,
  })
}

/** What every request goes through before its route: common headers, unknown paths and methods, the query, the token. */
export function checkRequests(app: FastifyInstance, service: Service): void {
  const { requestOrigin } = service
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
}

/** A parameter that may be repeated is a list, also with one value. */
function listRepeatable({ query, routeOptions }: FastifyRequest): void {
  const parameters = query as Record<string, string | string[]>
  for (const name of routeOptions.config.repeatable ?? []) {
    const value = parameters[name]
    if (typeof value === 'string') parameters[name] = [value]
  }
}

/** The names of the fields of an object schema. */
function fieldsOf(schema: unknown): readonly string[] | undefined {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined
}
