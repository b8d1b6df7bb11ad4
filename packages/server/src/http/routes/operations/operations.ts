import { VERIFIED_FORMS } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { BYTES_PER_MB, healthResult, infoResult, type ReadyResult, readyResult, type WalletInfo } from '@lade/core/wire'
import { usdcText } from '../../../wallets/wallet-quota.ts'
import type { Service } from '../../service.ts'
import { walletRulesOf } from '../../wallet-request.ts'
import type { Routes } from '../routes.ts'

/** How long a dependency may take to answer before it counts as failed. */
const CHECK_MS = 2000

/** `/healthz`, `/readyz`, `/api/info` and `/`. */
export function operationRoutes(app: Routes, service: Service): void {
  app.get(
    '/healthz',
    {
      schema: {
        tags: ['operations'],
        summary: 'Is the process alive',
        response: { 200: healthResult.describe('Alive') },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['operations'],
        summary: 'Can the service take requests, dependency by dependency',
        response: { 200: readyResult.describe('Ready'), 503: readyResult.describe('Not ready') },
      },
    },
    async (_request, reply) => {
      const result = await readiness(service)
      reply.header('cache-control', 'no-store')
      return reply.status(result.status === 'ready' ? 200 : 503).send(result)
    },
  )

  app.get(
    '/api/info',
    {
      schema: {
        tags: ['operations'],
        summary: 'Limits, tiers and versions',
        response: { 200: infoResult.describe('What this service offers') },
      },
    },
    async () => {
      const { config, version } = service
      return {
        name: 'lade' as const,
        version,
        tiers: {
          sponsored: config.sponsored,
          token: { ...config.token, dailyBytes: config.token.quotaMb * BYTES_PER_MB },
        },
        signup: config.signup,
        tokenAlg: config.tokenAlg,
        opaqueIds: config.opaqueIds,
        queryToken: config.queryToken,
        maxTermDays: config.termMaxDays,
        wallets: walletInfoOf(service),
        contentIds: [...VERIFIED_FORMS],
        docs: `${service.publicUrl()}/docs`,
      }
    },
  )

  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs', 302))
}

function walletInfoOf(service: Service): WalletInfo {
  const rules = walletRulesOf(service)
  if (rules === undefined) return null
  return { chainId: rules.chain.chainId, usdc: rules.usdc, usdcPerGib: usdcText(rules.microUsdcPerGib) }
}

async function readiness(service: Service): Promise<ReadyResult> {
  const { records, blobs, provers, chain, keys } = service
  const [recordsState, storageState, proverState, chainState] = await Promise.all([
    stateOf(() => records.check()),
    blobs === undefined ? ('none' as const) : stateOf(() => blobs.check()),
    // One that answers is enough to go on staging.
    stateOf(() => Promise.any(provers.map((prover) => prover.check())).then(() => {})),
    chain === undefined ? undefined : stateOf(() => chain.check()),
  ])
  const dependencies: ReadyResult['dependencies'] = {
    records: recordsState,
    storage: storageState,
    prover: proverState,
    ...(chainState !== undefined && { chain: chainState }),
    signingKey: keys.currentId() === undefined ? 'failed' : 'ok',
    process: service.isDraining() ? 'draining' : 'ok',
  }
  const isReady = Object.values(dependencies).every((state) => state === 'ok')
  return {
    status: isReady ? 'ready' : 'not_ready',
    dependencies,
    signingKey: signingKeyFacts(service),
    clock: clockFacts(service),
  }
}

function signingKeyFacts({ keys, now }: Service): ReadyResult['signingKey'] {
  const key = keys.find()
  if (key === undefined) return null
  const date = new Date(now())
  return { alg: key.alg, ageDays: key.ageDays(date) ?? null, overdue: key.isOverdue(date) }
}

function clockFacts({ clock }: Service): ReadyResult['clock'] {
  const { offsetMs, isDeletionPaused } = clock.state()
  return { aheadSeconds: Math.round(offsetMs / 1000), deletionPaused: isDeletionPaused }
}

async function stateOf(check: () => Promise<void>): Promise<'ok' | 'failed' | 'read_only'> {
  const timeout = new Promise<'failed'>((resolve) => setTimeout(resolve, CHECK_MS, 'failed').unref())
  return Promise.race([
    check().then(
      () => 'ok' as const,
      (error: unknown) => (LadeError.has(error, 'read_only') ? ('read_only' as const) : ('failed' as const)),
    ),
    timeout,
  ])
}
