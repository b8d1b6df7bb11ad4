import type { Deal } from './deal.ts'

/** A deal that changed less than this ago may change back with a reorganisation of the chain, in seconds. */
const FINALITY_SECONDS = 3600
/** Every deal that is watched is read again after this at the latest, in seconds: a reorganisation may have undone what was done. */
const RECHECK_SECONDS = 180
/** A deal that could not be served is looked at again after this, in seconds. */
const RETRY_SECONDS = 30
/** So many deals wait to be looked at for the first time. */
const NEW_DEALS = 1000

interface Watched {
  /** The time of the chain from which the deal is read again. */
  readonly readAt: number
  /** Since when it asks nothing; undefined while it may. */
  readonly idleSince: number | undefined
}

/**
 * Which deals are worth reading, of all that the contract has.
 *
 * Deals that ask nothing of the prover, since they are another's or over, are read once more when that is final, and then never again.
 */
export class DealWatch {
  readonly #watched = new Map<bigint, Watched>()
  /** Of these, the ones that nobody has said anything about yet. */
  readonly #unread = new Set<bigint>()
  /** The lowest id that was never due. */
  #nextDealId: bigint
  /** The newest that the contract had. */
  #lastDealId: bigint | undefined

  constructor(firstDealId: bigint) {
    this.#nextDealId = firstDealId
  }

  /** True when every deal that the contract had was read at least once. */
  get isComplete(): boolean {
    return this.#lastDealId !== undefined && this.#unread.size === 0 && this.#nextDealId > this.#lastDealId
  }

  /** All deals before it ask nothing, and never will. */
  get firstDealId(): bigint {
    let first = this.#nextDealId
    for (const dealId of this.#watched.keys()) if (dealId < first) first = dealId
    return first
  }

  /**
   * The ids of the deals to be read at a time of the chain, at most 1000 of them for the first time. Each stays due until
   * {@link readAgain}, {@link readRarely} or {@link isIdle} puts it off; while nobody does, no further ones become due.
   *
   * @param lastDealId - the newest that the contract has.
   */
  due(lastDealId: bigint, time: number): bigint[] {
    this.#lastDealId = lastDealId
    // Deals that a reorganisation took away; their ids are given again.
    for (const dealId of this.#watched.keys()) if (dealId > lastDealId) this.#forget(dealId)
    if (this.#nextDealId > lastDealId + 1n) this.#nextDealId = lastDealId + 1n
    while (this.#unread.size < NEW_DEALS && this.#nextDealId <= lastDealId) {
      // Due until somebody has read it and says otherwise.
      this.#watched.set(this.#nextDealId, { readAt: 0, idleSince: undefined })
      this.#unread.add(this.#nextDealId)
      this.#nextDealId += 1n
    }
    return [...this.#watched].filter(([, { readAt }]) => readAt <= time).map(([dealId]) => dealId)
  }

  /** Notes that a deal was read and stays due. */
  isRead({ dealId }: Deal): void {
    this.#unread.delete(dealId)
  }

  /** Has a deal read again at that time, or soon enough before it to notice a reorganisation. */
  readAgain({ dealId }: Deal, at: number, time: number): void {
    this.#set(dealId, { readAt: Math.min(at, time + RECHECK_SECONDS), idleSince: undefined })
  }

  /** Has a deal read again in a while: it could not be served now. */
  retryLater(deal: Deal, time: number): void {
    this.readAgain(deal, time + RETRY_SECONDS, time)
  }

  /** Has a deal read again at that time, or in an hour: there is nothing to be done for it unless somebody else changes it. */
  readRarely({ dealId }: Deal, at: number, time: number): void {
    this.#set(dealId, { readAt: Math.min(at, time + FINALITY_SECONDS), idleSince: undefined })
  }

  /** Notes that a deal asks nothing. @param changedAt - when it came to that at the latest, as far as the deal itself says. */
  isIdle({ dealId }: Deal, time: number, changedAt = time): void {
    const idleSince = this.#watched.get(dealId)?.idleSince ?? changedAt
    if (idleSince + FINALITY_SECONDS <= time) this.#forget(dealId)
    else this.#set(dealId, { readAt: idleSince + FINALITY_SECONDS, idleSince })
  }

  #set(dealId: bigint, watched: Watched): void {
    this.#unread.delete(dealId)
    this.#watched.set(dealId, watched)
  }

  #forget(dealId: bigint): void {
    this.#unread.delete(dealId)
    this.#watched.delete(dealId)
  }
}
