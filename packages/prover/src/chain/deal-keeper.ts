import { hex0xOf } from '@lade/node/hashing/hex'
import type { FastifyBaseLogger } from 'fastify'
import { BaseError } from 'viem'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import { proveLeaf } from '../proving/prove-leaf.ts'
import { isIntact, pieceOfDeal } from './check-piece.ts'
import { type Deal, type Head, stepOf, type Terms } from './deal.ts'
import { DealWatch } from './deal-watch.ts'
import type { CallResult, Marketplace, ProverCall } from './marketplace.ts'

type ActionKind = 'accept' | 'open' | 'prove' | 'settle'

interface DealAction {
  readonly deal: Deal
  readonly kind: ActionKind
}

/** A deal that could not be served is looked at again after this, in seconds. */
const RETRY_SECONDS = 30
/** What runs out first comes first. */
const ORDER: readonly ActionKind[] = ['prove', 'open', 'accept', 'settle']

export interface DealKeeperOptions {
  readonly marketplace: Marketplace
  readonly store: PieceStore
  readonly terms: Terms
  /** All deals before it ask nothing. */
  readonly firstDealId: bigint
  readonly settledPeriods?: bigint | undefined
  readonly log?: FastifyBaseLogger | undefined
}

/** Does what the deals of one prover ask for, a look at the chain at a time. */
export class DealKeeper {
  readonly #options: DealKeeperOptions
  readonly #watch: DealWatch
  #lookedAt = -1n
  /** The pieces of accepted deals, which have to be kept. */
  readonly #promised = new Map<bigint, HeldPiece>()
  /** Pieces whose bytes were read and were right. */
  readonly #intact = new Set<string>()
  /** What was said about a deal last, so that it is said once. */
  readonly #said = new Map<bigint, string>()

  constructor(options: DealKeeperOptions) {
    this.#options = options
    this.#watch = new DealWatch(options.firstDealId)
  }

  /** All deals before it ask nothing, and never will. */
  get firstDealId(): bigint {
    return this.#watch.firstDealId
  }

  /** Counts on the pieces of the accepted deals. */
  wantPieces(): void {
    for (const { pieceCid } of this.#promised.values()) this.#options.store.want(pieceCid)
  }

  /**
   * Looks at the chain if it has a new block, and does what is to be done, one transaction after the other.
   *
   * @throws {BaseError} of viem, when the chain cannot be asked; what was not done is found again by the next round.
   */
  async round(signal: AbortSignal): Promise<void> {
    const { marketplace } = this.#options
    const head = await marketplace.head()
    if (head.number === this.#lookedAt) return
    const dealIds = this.#watch.due(await marketplace.lastDealId(), head.time)
    const deals = await marketplace.deals(dealIds)
    const steps = deals.flatMap((deal) => this.#stepOf(deal, head))
    steps.sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
    for (const { deal, kind } of steps) await this.#serve(deal, kind, head, signal)
    this.#lookedAt = head.number
  }

  /** What is to be done about a deal, if anything; the rest is noted. */
  #stepOf(deal: Deal, head: Head): DealAction[] {
    const { marketplace, terms, settledPeriods } = this.#options
    if (deal.prover !== marketplace.prover) {
      this.#drop(deal)
      // An hour after a deal was proposed its prover is certain.
      this.#watch.isIdle(deal, head.time, deal.since)
      return []
    }
    const step = stepOf(deal, head, terms, settledPeriods)
    if (deal.state === 'active') this.#promise(deal)
    else this.#promised.delete(deal.dealId)
    if (step.kind === 'over') {
      this.#drop(deal)
      this.#watch.isIdle(deal, head.time)
    } else if (step.kind === 'wait') this.#watch.readAgain(deal, step.until, head.time)
    else return [{ deal, kind: step.kind }]
    return []
  }

  async #serve(deal: Deal, kind: ActionKind, head: Head, signal: AbortSignal) {
    signal.throwIfAborted()
    const { log, marketplace } = this.#options
    const dealId = String(deal.dealId)
    try {
      const call = await this.#callOf(deal, kind)
      if (call === undefined) return this.#watch.readAgain(deal, head.time + RETRY_SECONDS, head.time)
      const result = await marketplace.send(call, signal)
      if (result === 'landed') log?.info({ dealId, call: call.functionName }, 'a deal advanced')
      else this.#sayOnce(deal, `${call.functionName}: ${reasonOf(result)}`, 'the chain rejected a call')
    } catch (error) {
      if (error instanceof BaseError || signal.aborted) throw error
      this.#watch.readAgain(deal, head.time + RETRY_SECONDS, head.time)
      log?.error({ dealId, err: error }, 'could not process a deal')
    }
  }

  /** Undefined when the piece is not there as it should be, or nothing is asked any more. */
  async #callOf(deal: Deal, kind: ActionKind): Promise<ProverCall | undefined> {
    const args = [deal.dealId] as const
    if (kind === 'settle') return { functionName: 'settle', args }
    const piece = pieceOfDeal(this.#options.store, deal)
    if (piece === undefined) return this.#sayOnce(deal, 'lost', NOT_HELD[kind])
    if (kind === 'open') return { functionName: 'openChallenge', args }
    if (kind === 'prove') return this.#proofOf(deal, piece)
    if (!(await this.#isIntact(piece))) return this.#sayOnce(deal, 'rotten', NOT_HELD[kind])
    return { functionName: 'acceptDeal', args }
  }

  async #proofOf(deal: Deal, piece: HeldPiece): Promise<ProverCall | undefined> {
    const { marketplace, store } = this.#options
    const leafIndex = await marketplace.challengedLeaf(deal.dealId)
    if (typeof leafIndex !== 'bigint') return this.#sayOnce(deal, leafIndex.refused, 'there is no challenge to prove')
    const made = await proveLeaf(store, piece, Number(leafIndex))
    if (typeof made === 'string') return this.#sayOnce(deal, made, NOT_HELD.prove)
    return { functionName: 'prove', args: [deal.dealId, hex0xOf(made.leaf), made.proof.map(hex0xOf)] }
  }

  async #isIntact(piece: HeldPiece): Promise<boolean> {
    if (this.#intact.has(piece.pieceCid)) return true
    const isRight = await isIntact(this.#options.store, piece)
    if (isRight) this.#intact.add(piece.pieceCid)
    return isRight
  }

  #promise(deal: Deal): void {
    const piece = this.#promised.get(deal.dealId) ?? pieceOfDeal(this.#options.store, deal)
    if (piece !== undefined) this.#promised.set(deal.dealId, piece)
  }

  #drop({ dealId }: Deal): void {
    this.#promised.delete(dealId)
    this.#said.delete(dealId)
  }

  #sayOnce({ dealId }: Deal, reason: string, sentence: string): undefined {
    const said = `${sentence}: ${reason}`
    if (this.#said.get(dealId) === said) return
    this.#said.set(dealId, said)
    this.#options.log?.warn({ dealId: String(dealId), reason }, sentence)
  }
}

const NOT_HELD = {
  accept: 'a deal was not accepted: its piece is not stored',
  open: 'a deal cannot be proved: its piece is gone',
  prove: 'a deal cannot be proved: its piece is damaged',
} as const

function reasonOf(result: CallResult): string {
  return typeof result === 'string' ? result : result.refused
}
