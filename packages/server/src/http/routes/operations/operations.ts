import { VERIFIED_FORMS } from '@lade/core/content'
import { BYTES_PER_MB, healthResult, infoResult, readyResult, type WalletInfo } from '@lade/core/wire'
import { usdcText } from '../../../wallets/wallet-quota.ts'
import type { Service } from '../../service.ts'
import { walletRulesOf } from '../../wallet-request.ts'
import { problems, type Routes } from '../routes.ts'
import { createReadiness } from './readiness.ts'

/** `/healthz`, `/readyz` and `/api/info`. */
export function operationRoutes(app: Routes, service: Service): void {
  app.get(
    '/healthz',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getHealth',
        summary: 'Check that the process is alive',
        description: 'For supervisors, which restart a process that does not answer. It does not check dependencies.',
        response: { 200: healthResult.describe('Alive'), ...problems(401) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  const readiness = createReadiness(service)
  app.get(
    '/readyz',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getReadiness',
        summary: 'Check that the service and its dependencies are ready',
        description:
          'Dependencies are checked at most once per second, for all clients together. ' +
          'The shutdown state is never cached.',
        response: { 200: readyResult.describe('Ready'), ...problems(401), 503: readyResult.describe('Not ready') },
      },
    },
    async (_request, reply) => {
      const result = await readiness()
      reply.header('cache-control', 'no-store')
      return reply.status(result.status === 'ready' ? 200 : 503).send(result)
    },
  )

  app.get(
    '/api/info',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getInfo',
        summary: 'Show limits, tiers and versions',
        description:
          'What this service accepts: sizes, quotas and terms of each tier, how to sign up, and which ids it verifies.',
        response: { 200: infoResult.describe('Properties of this service'), ...problems(401) },
      },
    },
    async () => {
      const { config, version } = service
      return {
        name: 'lade' as const,
        version,
        tiers: {
          sponsored: { ...config.sponsored, storedBytes: config.sponsored.storedBytes ?? null },
          token: {
            ...config.token,
            dailyBytes: config.token.quotaMb * BYTES_PER_MB,
            storedBytes: config.token.storedBytes ?? null,
          },
        },
        signup: config.signup,
        tokenAlg: config.tokenAlg,
        opaqueIds: config.opaqueIds,
        queryToken: config.queryToken,
        maxTermDays: config.termMaxDays,
        wallets: walletInfoOf(service),
        contentIds: [...VERIFIED_FORMS],
        sitesUrl: config.sitesUrl ?? null,
        docs: `${service.publicUrl()}/docs`,
      }
    },
  )
}

function walletInfoOf(service: Service): WalletInfo {
  const rules = walletRulesOf(service)
  if (rules === undefined) return null
  return { chainId: rules.chainId, usdc: rules.usdc, usdcPerGib: usdcText(rules.microUsdcPerGib) }
}
