import type { AddressInfo } from 'node:net'
import { join, resolve as resolvePath } from 'node:path'
import { HOUR_MS } from '@lade/core/time'
import { ConfigError } from '@lade/node/settings'
import { Registry } from 'prom-client'
import { readChainLimits } from './chain/chain-limits.ts'
import type { DealFollower, DealFollowerOptions } from './chain/deal-follower.ts'
import { DealMetrics } from './chain/deal-metrics.ts'
import { DataSets } from './data-sets/data-sets.ts'
import { createApp } from './http/app.ts'
import type { ProverLimits, ProverService } from './http/service.ts'
import { collectParked } from './pieces/collect-parked.ts'
import { PieceStore } from './pieces/piece-store.ts'
import type { ChainOptions, ProverOptions } from './prover-options.ts'
import type { AllowedHosts } from './pull/allowed-hosts.ts'
import { Pulls } from './pull/pulls.ts'
import { createNotifier } from './uploads/notify.ts'
import { UploadSessions } from './uploads/upload-sessions.ts'

/** A running prover. */
export interface Prover {
  /** Where it is reached, without trailing slash. */
  readonly url: string
  /** Takes no more requests, lets those under way end, and ends. Safe to call twice. */
  close(): Promise<void>
}

/**
 * Starts a storage provider of one machine that speaks Curio's PDP protocol, keeps the pieces it is given, and proves them.
 *
 * An answer that says a piece is stored is sent once its bytes were checked against its CID and flushed. There is no chain
 * behind its data sets: their transactions are fake, and signatures are not looked at. With `chain` it also follows marketplaces,
 * where it is paid for its proofs.
 *
 * @throws {Error} when the folder cannot be opened or the port cannot be bound; nothing is left open then.
 *
 * @example
 * const prover = await startProver({ dir: './prover-data' })
 * await (await fetch(`${prover.url}/pdp/ping`)).text() // 'curio-pdp'
 */
export async function startProver(options: ProverOptions): Promise<Prover> {
  const { host = '127.0.0.1', port = 0, faults = {}, now = Date.now, log, drainMs = 10_000 } = options
  const dir = resolvePath(options.dir)
  const limits = limitsOf(options)
  const closing = new AbortController()
  const store = await PieceStore.open({ dir, now, ...(faults.piece && { faultOf: faults.piece.bind(faults) }) })
  const { confirmDelayMs = 5000, parkHours = 24, sweepMs = 300_000 } = options
  const isRejected = faults.isRejected?.bind(faults)
  const dataSets = await DataSets.open({
    dir: join(dir, 'data-sets'),
    now,
    confirmDelayMs,
    ...(isRejected && { isRejected }),
  })
  const uploads = new UploadSessions({ now, discard: (pending) => store.discard(pending) })
  const allowedHosts = allowedHostsOf(options)
  const pulls = new Pulls({
    attemptMs: 600_000,
    idleMs: 120_000,
    attempts: 5,
    retryDelayMs: 2000,
    ...options.pull,
    store,
    allowed: allowedHosts,
    onFailure: (failure) => log?.warn(failure, 'a piece could not be pulled'),
  })
  const registry = new Registry()
  const deals = options.chain && new DealMetrics(registry)
  const service: ProverService = {
    store,
    uploads,
    dataSets,
    pulls,
    limits,
    allowedHosts,
    faults,
    now,
    notify: createNotifier({
      allowed: allowedHosts,
      closing: closing.signal,
      resolve: options.pull?.resolve,
      onFailure: (failure) => log?.warn(failure, 'a caller could not be notified'),
    }),
    closing: closing.signal,
    registry,
    deals,
  }
  const app = createApp(service, log)
  const sweeping = startSweeping(sweepMs, async () => {
    try {
      await uploads.sweep()
      await collectParked({ store, dataSets, now, parkMs: parkHours * HOUR_MS })
    } catch (error) {
      log?.error({ err: error }, 'what was left behind could not be thrown away')
    }
  })

  let follower: DealFollower | undefined
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const swept = sweeping.stop()
    const cut = setTimeout(() => app.server.closeAllConnections(), drainMs)
    closing.abort()
    await Promise.all([app.close(), pulls.close(), swept, follower?.stop()])
    clearTimeout(cut)
  }
  try {
    await app.listen({ host, port })
    if (options.chain !== undefined && deals !== undefined) {
      follower = await startFollowing(options.chain, { store, dir, log, metrics: deals })
    }
  } catch (error) {
    await close()
    throw error
  }
  const { address, family, port: boundPort } = app.server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${boundPort}`,
    close() {
      closed ??= close()
      return closed
    },
  }
}

/**
 * Loaded when it is needed, since most provers have no chain and its libraries take a while.
 *
 * @throws {ConfigError} when the node is on another chain than the configured one. A node that does not answer is waited for.
 */
async function startFollowing(
  { pollMs = 1000, raiseAfterMs = 60_000, settledPeriods, marketplaces, ...settings }: ChainOptions,
  rest: Pick<DealFollowerOptions, 'store' | 'dir' | 'log' | 'metrics'>,
): Promise<DealFollower> {
  const [{ ChainAccount }, { followDeals }, { WrongChainError }] = await Promise.all([
    import('./chain/chain-account.ts'),
    import('./chain/deal-follower.ts'),
    import('./chain/wrong-chain-error.ts'),
  ])
  const limits = { ...readChainLimits({}), ...settings.limits }
  const chain = new ChainAccount({ ...settings, limits }, { pollMs, raiseAfterMs })
  if (limits.chainId !== undefined) {
    const found = await chain.chainId().catch((error: Error) => error)
    if (found instanceof WrongChainError) throw new ConfigError(found.message)
  }
  if (limits.microUsdcPerCoin === undefined) {
    rest.log?.warn('LADE_PROVER_USDC_PER_COIN is not set: deals are proved whatever their gas costs')
  }
  return followDeals({ ...rest, chain, marketplaces, limits, pollMs, settledPeriods })
}

/** Sweeps every so often, one after another. */
function startSweeping(everyMs: number, sweep: () => Promise<void>) {
  let last = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(sweep)
  }, everyMs)
  timer.unref()
  return {
    stop(): Promise<void> {
      clearInterval(timer)
      return last
    },
  }
}

function limitsOf(options: ProverOptions): ProverLimits {
  const { minPieceBytes = 127, maxPieceBytes = 1_065_353_216, bodyIdleMs = 30_000, findDelayMs = 5000 } = options
  return { minPieceBytes, maxPieceBytes, bodyIdleMs, findDelayMs }
}

function allowedHostsOf({ publicHosts = [], privateHosts = [] }: ProverOptions): AllowedHosts {
  return { publicHosts, privateHosts }
}
