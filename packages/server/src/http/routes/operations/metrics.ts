import { createHash, timingSafeEqual } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import * as z from 'zod'
import { createMetrics } from '../../metrics.ts'
import type { RequestCounters } from '../../request-counters.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes } from '../routes.ts'

/** `/metrics`, where a token for it is configured. */
export function metricsRoutes(app: Routes, service: Service, requests: RequestCounters): void {
  const { metricsToken } = service.config
  if (metricsToken === undefined) return
  const registry = createMetrics(service, requests)

  app.get(
    '/metrics',
    {
      config: { hasOwnToken: true },
      schema: {
        tags: ['operations'],
        operationId: 'getMetrics',
        summary: 'Metrics for Prometheus',
        description: 'Needs the token of LADE_METRICS_TOKEN. 404 if that is not set.',
        security: [{ metrics: [] }],
        response: {
          200: {
            description: 'Metrics in the Prometheus text format',
            content: { 'text/plain': { schema: z.string() } },
          },
          ...problems(401),
        },
      },
    },
    async (request, reply) => {
      const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (given === undefined) throw new LadeError('no_token', { reason: NEEDED })
      if (!isSame(given, metricsToken.reveal())) throw new LadeError('invalid_token', { reason: WRONG })
      reply.header('cache-control', 'no-store').type(registry.contentType)
      return registry.metrics()
    },
  )
}

const NEEDED = 'Send the token of LADE_METRICS_TOKEN: "Authorization: Bearer TOKEN". No other token works here.'
const WRONG = 'The token is not the one in LADE_METRICS_TOKEN. No other token works here.'

function isSame(one: string, other: string): boolean {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digestOf(one), digestOf(other))
}
