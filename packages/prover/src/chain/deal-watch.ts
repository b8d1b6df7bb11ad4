import type { Deal } from './deal.ts'

/** A deal that changed less than this ago may change back with a reorganisation of the chain, in seconds. */
const FINALITY_SECONDS = 3600
/** Every deal that is watched is read again after this at the latest, in seconds: a reorganisation may have undone what was done. */
const RECHECK_SECONDS = 180
/** So many deals are looked at for the first time in one go. */
const NEW_DEALS = 1000n

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
  /** The lowest id that was never read. */
  #nextDealId: bigint

  constructor(firstDealId: bigint) {
    this.#nextDealId = firstDealId
  }

  /** All deals before it ask nothing, and never will. */
  get firstDealId(): bigint {
    let first = this.#nextDealId
    for (const dealId of this.#watched.keys()) if (dealId < first) first = dealId
    return first
  }

  /**
   * The ids of the deals to be read at a time of the chain. Each stays due until {@link readAgain} or {@link isIdle} puts it off.
   *
   * @param lastDealId - the newest that the contract has.
   */
  due(lastDealId: bigint, time: number): bigint[] {
    // Deals that a reorganisation took away; their ids are given again.
    for (const dealId of this.#watched.keys()) if (dealId > lastDealId) this.#watched.delete(dealId)
    if (this.#nextDealId > lastDealId + 1n) this.#nextDealId = lastDealId + 1n
    const known = [...this.#watched].filter(([, { readAt }]) => readAt <= time).map(([dealId]) => dealId)
    const fresh: bigint[] = []
    for (let count = 0n; count < NEW_DEALS && this.#nextDealId <= lastDealId; count += 1n) {
      fresh.push(this.#nextDealId)
      // Due until somebody has read it and says otherwise.
      this.#watched.set(this.#nextDealId, { readAt: 0, idleSince: undefined })
      this.#nextDealId += 1n
    }
    return [...known, ...fresh]
  }

  /** Has a deal read again at that time, or soon enough before it to notice a reorganisation. */
  readAgain({ dealId }: Deal, at: number, time: number): void {
    this.#watched.set(dealId, { readAt: Math.min(at, time + RECHECK_SECONDS), idleSince: undefined })
  }

  /** Notes that a deal asks nothing. @param changedAt - when it came to that at the latest, as far as the deal itself says. */
  isIdle({ dealId }: Deal, time: number, changedAt = time): void {
    const idleSince = this.#watched.get(dealId)?.idleSince ?? changedAt
    if (idleSince + FINALITY_SECONDS <= time) this.#watched.delete(dealId)
    else this.#watched.set(dealId, { readAt: idleSince + FINALITY_SECONDS, idleSince })
  }
}
