/** The states of a deal, at the places that the contract gives them. */
export const DEAL_STATES = ['none', 'proposed', 'active', 'settled', 'slashed', 'withdrawn'] as const

export type DealState = (typeof DEAL_STATES)[number]

/** A deal as the contract has it. Times are seconds since 1970, durations seconds, amounts units of 10⁻⁶ USDC. */
export interface Deal {
  readonly dealId: bigint
  readonly state: DealState
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
  /** The block whose hash draws the challenge of the period at hand; 0n while that is not open. */
  readonly challengeBlock: bigint
  /** Escrow for the time from `accountedUntil` on, without that of `extraSeconds`. */
  readonly remaining: bigint
  /** Due to the prover and not paid yet. */
  readonly earned: bigint
}

/** The block that is looked at from. */
export interface Head {
  readonly number: bigint
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
 * The rest are the calls of the contract.
 */
export type DealStep = { readonly kind: 'accept' | 'open' | 'prove' | 'settle' | 'over' } | WaitStep

interface WaitStep {
  readonly kind: 'wait'
  readonly until: number
}

/** A challenge is good for as many blocks as a contract can read the hashes of. */
const CHALLENGE_BLOCKS = 256n
/** So many periods' pay is worth a transaction of its own. */
const SETTLED_PERIODS = 7n

/**
 * Says what a deal asks of its prover now. Whatever it says is decided by the contract in the end: a call that comes too late
 * is refused there and does no harm.
 *
 * @param settledPeriods - so many periods' pay are settled at a time. @default 7
 */
export function stepOf(deal: Deal, head: Head, terms: Terms, settledPeriods: bigint = SETTLED_PERIODS): DealStep {
  switch (deal.state) {
    case 'proposed':
      return head.time > deal.since + terms.acceptanceWindowSeconds ? { kind: 'over' } : { kind: 'accept' }
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

function activeStepOf(deal: Deal, head: Head, terms: Terms, settledPeriods: bigint): DealStep {
  const end = deal.since + deal.durationSeconds
  if (head.time >= end + deal.extraSeconds) return { kind: 'settle' }
  if (head.time < deal.accountedUntil) {
    return isWorthSettling(deal, terms, settledPeriods) ? { kind: 'settle' } : waitUntil(deal.accountedUntil)
  }

  const isLastPeriod = end - deal.accountedUntil < 2 * terms.provingPeriodSeconds
  const periodEnd = isLastPeriod ? end : deal.accountedUntil + terms.provingPeriodSeconds
  // A period that has passed is missed, and the one that runs now has no challenge yet.
  if (deal.challengeBlock === 0n || head.time >= periodEnd) return { kind: 'open' }
  if (head.number <= deal.challengeBlock) return waitUntil(head.time)
  if (head.number > deal.challengeBlock + CHALLENGE_BLOCKS) return waitUntil(periodEnd)
  return { kind: 'prove' }
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
