import type { MarketplaceDeal } from '../chain/chain.ts'

/** Periods without a proof, one after another, after which the contract ends a deal. */
const MISSES_TO_SLASH = 3

/** A call that takes something out of a deal. */
export type RecoveryAction = 'withdraw' | 'settle' | 'slash' | 'end'

/** What can be taken out of a deal now, or in how long it is worth another look. */
export interface DueRecovery {
  /** Undefined when there is nothing to do now. */
  readonly action: RecoveryAction | undefined
  /** Milliseconds after `deal.asOf`; null when nothing can come out of this deal any more. */
  readonly lookAgainInMs: number | null
}

/**
 * What the account does about a deal as the chain has it: it withdraws what was not accepted in time, or what nobody needs; it settles what is
 * over, or owes it something; it slashes what has missed as many proofs as end it; it ends what nobody needs, unless its term is over as soon. A single missed period is not worth a transaction: what it
 * would have earned is refunded when the deal is next paid, at its end at the latest.
 */
export function dueRecovery(
  deal: MarketplaceDeal,
  { isNeeded, canEnd }: { readonly isNeeded: boolean; readonly canEnd: boolean },
): DueRecovery {
  const { state, asOf } = deal
  const now = (action: RecoveryAction): DueRecovery => ({ action, lookAgainInMs: 0 })
  const later = (at: number): DueRecovery => ({ action: undefined, lookAgainInMs: at - asOf })
  switch (state) {
    case 'proposed':
      // The contract accepts at this very second, and not after it.
      return !isNeeded || asOf > deal.acceptableUntil ? now('withdraw') : later(deal.acceptableUntil + 1_000)
    case 'active':
    case 'ending': {
      if (asOf >= deal.endsAt) return now('settle')
      const slashableAt = slashableFrom(deal)
      if (asOf >= slashableAt) return now('slash')
      if (state === 'active' && !isNeeded && canEnd && noticeEndsAt(deal) < deal.endsAt) return now('end')
      return later(Math.min(slashableAt, deal.endsAt))
    }
    case 'settled':
    case 'slashed':
      return deal.refundableMicroUsdc > 0n ? now('settle') : { action: undefined, lookAgainInMs: null }
    case 'withdrawn':
      return { action: undefined, lookAgainInMs: null }
  }
}

/** When the term ends if notice is given now: a period after the current one. */
function noticeEndsAt({ accountedUntil, asOf, periodMs }: MarketplaceDeal): number {
  const endedPeriods = Math.max(0, Math.floor((asOf - accountedUntil) / periodMs))
  const isProven = asOf < accountedUntil
  return accountedUntil + (endedPeriods + (isProven ? 1 : 2)) * periodMs
}

/** When the deal will have missed three proofs in a row if none comes; its end when it is over before. */
function slashableFrom(deal: MarketplaceDeal): number {
  const { accountedUntil, reachedTermEndsAt, endsAt, periodMs } = deal
  let at = accountedUntil
  let end = at < reachedTermEndsAt ? reachedTermEndsAt : endsAt
  for (let misses = deal.missesInARow; misses < MISSES_TO_SLASH && at < end; misses += 1) {
    // The last period of a term takes what is left, up to twice as much.
    at = end - at < 2 * periodMs ? end : at + periodMs
    if (at === end) end = endsAt
  }
  return at
}
