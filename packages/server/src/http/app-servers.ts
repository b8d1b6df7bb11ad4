import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { LadeError } from '@lade/core/errors'
import { limitBodyTime } from './body-deadline.ts'
import { callerCheck } from './caller-check.ts'
import { addressTest, withoutMapping } from './client-address.ts'
import { affordableConnections, Connections } from './connections.ts'
import { contentHostCheck } from './content-host.ts'
import { directRoutes, routeOfCached } from './direct-routes.ts'
import { hostCheck, isLoopback } from './known-host.ts'
import { Lingering } from './lingering.ts'
import { pathOf } from './query.ts'
import type { RequestCounters } from './request-counters.ts'
import { requestPrincipal } from './request-principal.ts'
import { sendProblem } from './respond.ts'
import type { ResponseCache } from './response-cache.ts'
import { siteHandler, siteMethodProblem } from './routes/sites/sites.ts'
import { siteRouter } from './routes/sites/to-site.ts'
import { createHttpServer } from './server.ts'
import type { Service } from './service.ts'
import { siteHosts } from './site-hosts.ts'
import { SlowReaders, type SlowReadersOptions } from './slow-readers.ts'
import { requestInHand } from './unanswered.ts'

export interface AppServersOptions {
  readonly responseCache: ResponseCache | undefined
  readonly requests: RequestCounters
  readonly readerTimes: Pick<SlowReadersOptions, 'idleMs' | 'minuteMs'>
  /** Why no route takes the method of a request; undefined when one does. */
  readonly methodProblem: (request: IncomingMessage) => LadeError | undefined
}

/** Answers what the server does not answer itself. */
type Route = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Makes the servers in front of the framework, one for each address that is listened on. They answer uploads, downloads and cached
 * responses themselves, and share the limits of connections.
 */
export function appServers(service: Service, options: AppServersOptions): (route: Route) => Server {
  const { responseCache, requests, readerTimes, methodProblem } = options
  const { requestOrigin } = service
  const direct = directRoutes(service, responseCache)
  const sites = siteHosts(service.config)
  const answerSite = sites && siteHandler(service, sites)
  const routeToSite = sites && siteRouter(sites)
  const hostProblem = hostCheck(service.config, sites)
  const contentHostProblem = contentHostCheck(service.config)
  const callerProblem = callerCheck(service)
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

  return (route) =>
    createHttpServer({
      budget,
      inlineBytes: service.inlineBytes,
      requestsInHand: service.requestsInHand,
      uploadTurns: service.uploadTurns,
      methodProblem: (request) => (sites?.siteOf(request) === undefined ? methodProblem : siteMethodProblem)(request),
      answerFromCache: (request, response, requestId) => {
        if (responseCache === undefined || hostProblem(request) !== undefined) return undefined
        if (sites?.siteOf(request) !== undefined) return undefined
        if (callerProblem(request) !== undefined) return undefined
        return responseCache.answer(request, response, requestId) ? routeOfCached(request) : undefined
      },
      hostProblem,
      callerProblem,
      handle: (request, response) =>
        requestOrigin.run(request, () => {
          const site = sites?.siteOf(request)
          if (site !== undefined) return answerSite?.(request, response, site)
          const misplaced = contentHostProblem(request)
          if (misplaced !== undefined) return sendProblem(request, response, misplaced)
          if (routeToSite?.(request, response) || direct(request, response)) return
          if (!isLfsUpload(request)) limitBodyTime(request, service.config.bodyIdleMs)
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
    })
}

/** An upload that is watched for its progress, as others are, and may take hours. */
function isLfsUpload({ method, url = '' }: IncomingMessage): boolean {
  return method === 'PUT' && /^\/lfs\/[^/]+\/objects\/[^/]+$/.test(pathOf(url))
}

/** Addresses that many callers may come through: proxies, and this machine where nobody else reaches the service. */
function sharedAddressTest({ host, trustedProxies }: Service['config']): (address: string) => boolean {
  if (isLoopback(host)) return () => true
  const isTrusted = addressTest(trustedProxies)
  return (address) => isTrusted(withoutMapping(address))
}
