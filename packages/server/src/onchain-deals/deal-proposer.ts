import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { accountIdOf, chainNameOf } from '../chain/account-id.ts'
import type { BlockPlace, Marketplace, MarketplaceContract } from '../chain/chain.ts'
import type { EscrowTotals, TransactionRecord } from '../records/record-store.ts'
import { countEscrow, type ScanRange } from './count-escrow.ts'
import { extendDeals } from './extend-deals.ts'
import { fillNonces } from './fill-nonces.ts'
import { Observations } from './observations.ts'
import { proposeDeals } from './propose-deals.ts'
import type { DealProposerDeps, ProposerRound, RoundContract, WaitCause } from './proposer-round.ts'
import { recoverEscrow } from './recover-escrow.ts'
import { trackTransaction } from './track-transaction.ts'

/** The most transactions that one round tracks, lowest nonces first. */
const MAX_UNSETTLED = 500
const MAX_BACKOFF_MS = 60_000
/** How many blocks the node is asked about at first, at a time. */
const FIRST_SCAN_BLOCKS = 1_000

const DEFAULTS = {
  confirmations: 1,
  finalityBlocks: 64,
  bondPercent: 0,
  maxBatch: 40,
  raiseAfterMs: 60_000,
  extendWithinMs: 2 * DAY_MS,
  pollMs: 1_000,
  idleMs: 5_000,
}

/** How the proposals of onchain deals stand. */
export interface DealProposerState {
  /** Transactions that are recorded and, as far as is known, in no block. */
  readonly pendingTransactions: number
  /** When the oldest of them was made, in epoch milliseconds; undefined without one. */
  readonly oldestPendingAt: number | undefined
  /** What transactions waited for in the last round. */
  readonly waits: readonly WaitCause[]
  /** What the contracts hold for the account; undefined before the first round, and in processes that run none. */
  readonly escrow: EscrowTotals | undefined
  /** What was put in escrow on this UTC day; undefined likewise. */
  readonly spentTodayMicroUsdc: number | undefined
  /** What keeps deals from being made, for people; null when nothing does. */
  readonly lastError: string | null
}

/** Makes deals on the chain for copies that provers hold, keeps them, and takes back what they do not use. */
export interface DealProposer {
  /**
   * Tracks every transaction that is not settled, proposes what is queued, extends what is too short, counts what the contract holds, and
   * takes back what was not accepted, was missed, or is over.
   *
   * Safe to be ended at any point and beside other processes: a copy gets one deal, whatever happens. A chain that does not answer is
   * no error: the round ends, and the next one is later.
   *
   * @returns when the next round is due.
   * @throws {LadeError} `storage_failed`, `insufficient_storage`.
   */
  round(): Promise<{ readonly nextInMs: number }>
  /** As of the last round. */
  state(): DealProposerState
}

/**
 * Makes what has to be run round after round; between the rounds nothing happens. What is kept in memory is only what makes it cautious:
 * everything that matters is in the records.
 *
 * @throws {TypeError} for a chain without a marketplace.
 *
 * @example
 * const proposer = createDealProposer({ records, chain, now: Date.now, log, accounts, priceOf, feeCap: 100n * 10n ** 9n })
 * const { nextInMs } = await proposer.round() // 1000 (ms) while something is on its way
 */
export function createDealProposer(deps: DealProposerDeps): DealProposer {
  const settings = { ...DEFAULTS, ...deps }
  const { records, now, log, pollMs, idleMs } = settings
  const marketplace = marketplaceOf(deps)
  const observations = new Observations()
  let rounds = 0
  let offlineRounds = 0
  let headBefore: BlockPlace | undefined
  let highest: number | undefined
  let grewAt: number | undefined
  let extendedUpTo: number | null = null
  let pendingTransactions = 0
  let oldestPendingAt: number | undefined
  let troublesBefore: readonly string[] = []
  let waits: readonly WaitCause[] = []
  let escrow: EscrowTotals | undefined
  let spentTodayMicroUsdc: number | undefined
  const scanRanges = new Map<string, ScanRange>()
  const { chainId } = deps.chain
  const accountId = accountIdOf({ chainId, address: marketplace.account })
  let isAdopted = false

  async function unsettled(): Promise<readonly TransactionRecord[]> {
    const states = ['open', 'mined', 'confirmed'] as const
    return records.chain.transactions({ account: accountId, states, limit: MAX_UNSETTLED })
  }

  async function begin(trouble: (sentence: string) => void, wait: ProposerRound['wait']): Promise<ProposerRound> {
    const contractOf = (contract: MarketplaceContract): RoundContract => {
      let paying: Promise<boolean> | undefined
      const canPay = async (): Promise<boolean> => {
        paying ??= contract.canPay()
        if (await paying) return true
        wait('token', 'The token refuses payments from the marketplace. No deal is made, and no escrow comes back.')
        return false
      }
      return { ...contract, id: accountIdOf({ chainId, address: contract.address }), canPay }
    }
    const [first, ...others] = marketplace.contracts
    const newest = await marketplace.head()
    const confirmedNonce = await marketplace.confirmedNonce()
    const isSameHead = headBefore?.hash === newest.hash
    headBefore = undefined
    if (highest !== undefined && newest.number > highest) grewAt = now()
    highest = Math.max(highest ?? 0, newest.number)
    rounds += 1
    return {
      ...settings,
      dealMicroUsdcPerDay: deps.dealMicroUsdcPerDay,
      transactions: records.chain,
      escrow: records.escrow,
      marketplace,
      accountId,
      contracts: [contractOf(first), ...others.map(contractOf)],
      head: newest,
      confirmedNonce,
      grewAt,
      isSameHead,
      number: rounds,
      observations,
      trouble,
      wait,
    }
  }

  /** Gives names with a chain to what an older version of Lade recorded. */
  async function adopt(): Promise<void> {
    if (isAdopted) return
    const contracts = marketplace.contracts.map(({ address }) => address)
    await records.chain.adopt({ chain: chainNameOf(chainId), account: marketplace.account, contracts })
    isAdopted = true
  }

  async function countAll(round: ProposerRound): Promise<boolean> {
    let isCounted = true
    for (const contract of round.contracts) {
      const range = scanRanges.get(contract.id) ?? { blocks: FIRST_SCAN_BLOCKS }
      scanRanges.set(contract.id, range)
      if (!(await countEscrow(round, { contract, range }))) isCounted = false
    }
    return isCounted
  }

  async function work(trouble: (sentence: string) => void, wait: ProposerRound['wait']): Promise<number> {
    await adopt()
    const round = await begin(trouble, wait)
    for (const transaction of await unsettled()) await trackTransaction(round, transaction)
    const left = await unsettled()
    await fillNonces(round, left)
    await proposeDeals(round, left)
    extendedUpTo = await extendDeals(round, left, extendedUpTo)
    const isCounted = await countAll(round)
    await recoverEscrow(round, await unsettled())
    // Only now: what a round that failed has not looked at is looked at by the next, though the chain did not move.
    headBefore = round.head
    const after = await unsettled()
    const pending = after.filter(({ state }) => state === 'open')
    pendingTransactions = pending.length
    oldestPendingAt = pending.length === 0 ? undefined : Math.min(...pending.map(({ createdAt }) => createdAt))
    escrow = await records.escrow.totals(round.contracts.map(({ id }) => id))
    const today = now() - (now() % DAY_MS)
    spentTodayMicroUsdc = await records.escrow.spent({ account: accountId, from: today, to: today + DAY_MS })
    return !isCounted || after.some(({ state }) => state === 'open' || state === 'mined') ? pollMs : idleMs
  }

  return {
    async round() {
      const troubles: string[] = []
      const causes = new Set<WaitCause>()
      const trouble = (sentence: string): void => {
        if (!troublesBefore.includes(sentence)) log.warn({ account: marketplace.account }, sentence)
        troubles.push(sentence)
      }
      const wait = (cause: WaitCause, sentence: string): void => {
        causes.add(cause)
        trouble(sentence)
      }
      try {
        const nextInMs = await work(trouble, wait)
        offlineRounds = 0
        return { nextInMs }
      } catch (error) {
        if (!LadeError.has(error, 'chain_offline')) throw error
        // What was not sent is recorded or still queued, and the next round goes on from there.
        offlineRounds += 1
        trouble('The chain does not respond.')
        return { nextInMs: Math.min(MAX_BACKOFF_MS, pollMs * 2 ** offlineRounds) }
      } finally {
        troublesBefore = troubles
        waits = [...causes]
      }
    },
    state: () => ({
      pendingTransactions,
      oldestPendingAt,
      waits,
      escrow,
      spentTodayMicroUsdc,
      lastError: troublesBefore.at(-1) ?? null,
    }),
  }
}

function marketplaceOf({ chain }: DealProposerDeps): Marketplace {
  if (chain.marketplace === undefined) throw new TypeError('This chain has no marketplace to propose deals to.')
  return chain.marketplace
}
