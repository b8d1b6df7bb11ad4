/** The states of a deal, at the places that the contract gives them. */
export const DEAL_STATES = ['none', 'proposed', 'active', 'settled', 'slashed', 'withdrawn'] as const

export type DealState = (typeof DEAL_STATES)[number]

/** A deal as the contract has it. Times are seconds since 1970, durations seconds, amounts units of 10⁻⁶ USDC. */
export interface Deal {
  readonly dealId: bigint
  readonly state: DealState
  /** In lower case. */
  readonly client: string
  /** In lower case. */
  readonly prover: string
  /** 32 bytes. */
  readonly root: Uint8Array
  readonly paddedSizeBytes: bigint
  /** When it was proposed; once accepted, when its term began. */
  readonly since: number
  readonly durationSeconds: number
  /** Added behind the duration. */
  readonly extraSeconds: number
  /** Where the period at hand begins; what lies before it is accounted for. */
  readonly accountedUntil: number
  /** Missed periods since the last proven one, as far as they are accounted for. */
  readonly missesInARow: number
  /** The block whose hash draws the challenge of the period at hand; 0n while that is not open. */
  readonly challengeBlock: bigint
  /** Escrow for the time from `accountedUntil` on, without that of `extraSeconds`. */
  readonly remaining: bigint
  /** Escrow for `extraSeconds`. */
  readonly extraPayment: bigint
  /** Due to the prover and not paid yet. */
  readonly earned: bigint
}

/** The block that is looked at from. */
export interface Head {
  readonly number: bigint
  readonly hash: `0x${string}`
  /** Seconds since 1970. */
  readonly time: number
}

/** What the contract was made with. */
export interface Terms {
  readonly provingPeriodSeconds: number
  readonly acceptanceWindowSeconds: number
}

/**
 * What a deal asks of its prover. `wait`: nothing before that time of the chain, in seconds since 1970. `over`: nothing any more.
 * `reopen`: the challenge of the period lapsed, and the contract has to say whether another may be opened. The rest are the calls of
 * the contract. `until`: when the call comes too late.
 */
export type DealStep =
  | { readonly kind: 'accept' | 'open' | 'reopen' | 'prove'; readonly until: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'over' }
  | WaitStep

interface WaitStep {
  readonly kind: 'wait'
  readonly until: number
}

/** The period of a deal that runs at a time, as the contract will have it once it has accounted for what was missed. */
export interface Period {
  readonly start: number
  readonly end: number
  /** The contract slashes the deal at three. */
  readonly missesInARow: number
}

/** A challenge is good for as many blocks as a contract can read the hashes of. */
export const CHALLENGE_BLOCKS = 256n
/** So many periods' pay is worth a transaction of its own. */
const SETTLED_PERIODS = 7n
const MISSES_TO_SLASH = 3

/**
 * Says what a deal asks of its prover now. Whatever it says is decided by the contract in the end: a call that comes too late
 * is refused there and does no harm.
 *
 * @param settledPeriods - so many periods' pay are settled at a time. @default 7
 */
export function stepOf(deal: Deal, head: Head, terms: Terms, settledPeriods: bigint = SETTLED_PERIODS): DealStep {
  switch (deal.state) {
    case 'proposed': {
      const until = deal.since + terms.acceptanceWindowSeconds
      return head.time > until ? { kind: 'over' } : { kind: 'accept', until }
    }
    case 'active':
      return activeStepOf(deal, head, terms, settledPeriods)
    case 'settled':
    case 'slashed':
      return deal.earned > 0n ? { kind: 'settle' } : { kind: 'over' }
    case 'none':
    case 'withdrawn':
      return { kind: 'over' }
  }
}

/** True when nothing is left to prove of an active deal: its term is over, or it has missed too much. */
export function isPastProving(deal: Deal, time: number, terms: Terms): boolean {
  const isOver = time >= deal.since + deal.durationSeconds + deal.extraSeconds
  return isOver || periodAt(deal, time, terms).missesInARow >= MISSES_TO_SLASH
}

/** Goes through the periods as `_accountForMissed` of the contract does. */
export function periodAt(deal: Deal, time: number, { provingPeriodSeconds }: Terms): Period {
  let start = deal.accountedUntil
  let term = deal.since + deal.durationSeconds
  let { missesInARow } = deal
  for (;;) {
    if (start >= term) term += deal.extraSeconds
    const end = term - start < 2 * provingPeriodSeconds ? term : start + provingPeriodSeconds
    if (time < end || start >= term || missesInARow >= MISSES_TO_SLASH) return { start, end, missesInARow }
    missesInARow += 1
    start = end
  }
}

function activeStepOf(deal: Deal, head: Head, terms: Terms, settledPeriods: bigint): DealStep {
  const overAt = deal.since + deal.durationSeconds + deal.extraSeconds
  if (head.time >= overAt) return { kind: 'settle' }
  // Whoever slashes it pays both sides.
  if (isPastProving(deal, head.time, terms)) return waitUntil(overAt)
  if (head.time < deal.accountedUntil) {
    return isWorthSettling(deal, terms, settledPeriods) ? { kind: 'settle' } : waitUntil(deal.accountedUntil)
  }

  const { start, end: until } = periodAt(deal, head.time, terms)
  // A period that has passed is missed, and the one that runs now has no challenge yet.
  if (deal.challengeBlock === 0n || start !== deal.accountedUntil) return { kind: 'open', until }
  if (head.number <= deal.challengeBlock) return waitUntil(head.time)
  if (head.number > deal.challengeBlock + CHALLENGE_BLOCKS) return { kind: 'reopen', until }
  return { kind: 'prove', until }
}

function isWorthSettling(deal: Deal, { provingPeriodSeconds }: Terms, settledPeriods: bigint): boolean {
  const secondsLeft = deal.since + deal.durationSeconds - deal.accountedUntil
  // The last period's pay is settled with the end of the term.
  if (deal.earned === 0n || secondsLeft <= 0) return false
  return deal.earned * BigInt(secondsLeft) >= settledPeriods * deal.remaining * BigInt(provingPeriodSeconds)
}

function waitUntil(until: number): WaitStep {
  return { kind: 'wait', until }
}
