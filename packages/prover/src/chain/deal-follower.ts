import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { BaseError } from 'viem'
import type { PieceStore } from '../pieces/piece-store.ts'
import type { ChainAccount } from './chain-account.ts'
import type { ChainLimits } from './chain-limits.ts'
import { ContractOpenings } from './contract-openings.ts'
import { DealCursor } from './deal-cursor.ts'
import { DealKeeper } from './deal-keeper.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { WrongChainError } from './wrong-chain-error.ts'

const CURSOR_FILE = 'chain-cursor.json'
const CURSOR_MS = 60_000
const MAX_BACKOFF_MS = 30_000

export interface DealFollowerOptions {
  readonly chain: ChainAccount
  /** The addresses of the contracts. */
  readonly marketplaces: readonly `0x${string}`[]
  readonly store: PieceStore
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  /** The prover's folder; absolute. */
  readonly dir: string
  /** How often a new block is looked for. */
  readonly pollMs: number
  /** So many periods' pay are settled at a time. */
  readonly settledPeriods?: bigint | undefined
  readonly log?: FastifyBaseLogger | undefined
}

/** A prover's part in its deals, going on until it is stopped. */
export interface DealFollower {
  /** Ends soon; a transaction that is under way is left to the chain. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Follows marketplaces: accepts the deals about held pieces, proves them in every period, settles what they earn. One account serves
 * the deals of all of them, each by the version of its own contract.
 *
 * What there is to do is read from the chain each time, so a process that begins anew goes on where the one before ended. While the
 * chain cannot be asked, that is logged once, and tried again more and more seldom, up to every 30 seconds.
 */
export function followDeals(options: DealFollowerOptions): DealFollower {
  const stopping = new AbortController()
  const following = follow(options, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      await following
    },
  }
}

async function follow(options: DealFollowerOptions, signal: AbortSignal): Promise<void> {
  const { pollMs, log, chain, metrics } = options
  const openings = new ContractOpenings(options.marketplaces, pollMs, log)
  const keeper = new DealKeeper(options)
  let cursor: DealCursor | undefined
  let cursorAt = performance.now()
  let failures = 0
  let complaint = ''
  while (!signal.aborted) {
    try {
      cursor ??= await openCursor(options)
      for await (const marketplace of openings.open(chain)) {
        keeper.follow(marketplace, cursor.firstDealIdOf(marketplace.address, marketplace.firstDealId))
      }
      await keeper.round(signal)
      if (openings.isWaiting) metrics.become('wrong_contract')
      else if (metrics.state !== 'fees_too_high') metrics.become('following')
      if (failures > 0) log?.info('the chain answers again')
      failures = 0
      complaint = ''
      if (performance.now() - cursorAt > CURSOR_MS) {
        await moveCursor(cursor, keeper)
        cursorAt = performance.now()
      }
    } catch (error) {
      if (signal.aborted) break
      failures += 1
      metrics.become(error instanceof WrongChainError ? 'wrong_chain' : 'unavailable')
      if (!isOfTheChain(error)) log?.error({ err: error }, 'could not follow the deals')
      else if (complaint !== reasonOf(error)) {
        complaint = reasonOf(error)
        log?.warn({ reason: complaint }, 'the chain is not usable; retrying')
      }
    }
    // Also while nobody knows how the deals stand: their pieces must not be thrown away.
    keeper.wantPieces()
    const waitMs = failures === 0 ? pollMs : Math.min(pollMs * 2 ** failures, MAX_BACKOFF_MS)
    await delay(waitMs, undefined, { signal }).catch(() => undefined)
  }
  if (cursor !== undefined) await moveCursor(cursor, keeper)
}

async function openCursor({ chain, dir }: DealFollowerOptions): Promise<DealCursor> {
  return DealCursor.open(join(dir, CURSOR_FILE), await chain.chainId(), (hash) => chain.hasBlock(hash))
}

async function moveCursor(cursor: DealCursor, { firstDealIds, headHash }: DealKeeper): Promise<void> {
  if (headHash !== undefined) await cursor.moveTo(firstDealIds, headHash)
}

function isOfTheChain(error: unknown): error is BaseError | WrongChainError {
  return error instanceof BaseError || error instanceof WrongChainError
}

/** What a node or the network said. The whole message would hold the address, and with it perhaps a key. */
function reasonOf(error: BaseError | WrongChainError): string {
  if (error instanceof WrongChainError) return error.message
  return `${error.shortMessage} ${error.details}`.slice(0, 300)
}
