/** The states of a deal, at the places that the contract gives them. */
export const DEAL_STATES = ['none', 'proposed', 'active', 'settled', 'slashed', 'withdrawn'] as const

export type DealState = (typeof DEAL_STATES)[number]

/** A deal as the contract has it. Times are seconds since 1970, durations seconds, amounts units of 10⁻⁶ USDC. */
export interface Deal {
  /** The address of the contract, in lower case. */
  readonly contract: string
  /** The number that the contract gave it. Other contracts may give the same. */
  readonly dealId: bigint
  readonly state: DealState
  /** In lower case. */
  readonly client: string
  /** In lower case. */
  readonly prover: string
  /** 32 bytes. */
  readonly root: Uint8Array
  readonly paddedSizeBytes: bigint
  /** Challenges are about so many leaves, from the first one on. */
  readonly leafCount: bigint
  /** When it was proposed; once accepted, when its term began. */
  readonly since: number
  readonly durationSeconds: number
  /** Added behind the duration. */
  readonly extraSeconds: number
  /** Where the period at hand begins; what lies before it is accounted for. */
  readonly accountedUntil: number
  /** Missed periods since the last proven one, as far as they are accounted for. */
  readonly missesInARow: number
  /** The number of the period at hand. */
  readonly period: number
  /** The block that draws the challenge of the period at hand; 0n while that is not open. It may be still to come. */
  readonly challengeBlock: bigint
  /** Escrow for the time from `accountedUntil` on, without that of `extraSeconds`. */
  readonly remaining: bigint
  /** Escrow for `extraSeconds`. */
  readonly extraPayment: bigint
  /** Due to the prover and not paid yet, a bond that is its own again included. */
  readonly earned: bigint
  /** What the prover has to put up when it accepts the deal. */
  readonly bond: bigint
  /** What it has put up and did not get back, as far as it was not lost. */
  readonly bonded: bigint
  /** The part of it that would be lost with the deal. */
  readonly bondAtRisk: bigint
}

/** The block that is looked at from. */
export interface Head {
  readonly number: bigint
  readonly hash: `0x${string}`
  /** Seconds since 1970. */
  readonly time: number
  /** The most gas that all transactions of a block may use. */
  readonly gasLimit: bigint
}

/** What the contract was made with. */
export interface Terms {
  readonly provingPeriodSeconds: number
  readonly acceptanceWindowSeconds: number
  /** So many missed periods in a row end a deal. */
  readonly missesToSlash: number
  /** How many leaves the proof of a period is about. */
  readonly leavesOfProof: number
  /** So many blocks after the one that opens a challenge comes the one that draws it. */
  readonly drawBlocks: bigint
  /** And up to so many blocks after that one the challenge can be answered. */
  readonly challengeBlocks: bigint
}

/** What a deal is known by, among those of all contracts. */
export function nameOf({ contract, dealId }: Pick<Deal, 'contract' | 'dealId'>): string {
  return `${contract}/${dealId}`
}

/**
 * What a deal asks of its prover. `wait`: nothing before that time of the chain, in seconds since 1970. `over`: nothing any more.
 * `reopen`: the challenge of the period lapsed, and the contract has to say whether another may be opened. The rest are the calls of
 * the contract. `until`: when the call comes too late. `lastBlock`: the last one in which the proof is good.
 */
export type DealStep =
  | { readonly kind: 'accept' | 'open' | 'reopen'; readonly until: number }
  | { readonly kind: 'prove'; readonly until: number; readonly lastBlock: bigint }
  | { readonly kind: 'settle' }
  | { readonly kind: 'over' }
  | WaitStep

interface WaitStep {
  readonly kind: 'wait'
  readonly until: number
  /** True for a challenge that is open and not drawn yet. */
  readonly isUndrawn?: true
}

/** What a prover can do about a deal. */
export type CallKind = 'accept' | 'open' | 'prove' | 'settle'

/** The period of a deal that runs at a time, as the contract will have it once it has accounted for what was missed. */
export interface Period {
  readonly start: number
  readonly end: number
  readonly missesInARow: number
}

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
  return isOver || periodAt(deal, time, terms).missesInARow >= terms.missesToSlash
}

/** Goes through the periods as `_accountForMissed` of the contract does. */
export function periodAt(deal: Deal, time: number, terms: Terms): Period {
  const { provingPeriodSeconds } = terms
  let start = deal.accountedUntil
  let term = deal.since + deal.durationSeconds
  let { missesInARow } = deal
  for (;;) {
    if (start >= term) term += deal.extraSeconds
    const end = term - start < 2 * provingPeriodSeconds ? term : start + provingPeriodSeconds
    if (time < end || start >= term || missesInARow >= terms.missesToSlash) return { start, end, missesInARow }
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
  if (head.number <= deal.challengeBlock) return undrawnUntil(deal, head)
  const lastBlock = deal.challengeBlock + terms.challengeBlocks
  return head.number > lastBlock ? { kind: 'reopen', until } : { kind: 'prove', until, lastBlock }
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

/** Blocks come a second apart at least; where they come more seldom, it is looked at again in between. */
function undrawnUntil({ challengeBlock }: Deal, head: Head): WaitStep {
  return { kind: 'wait', until: head.time + Number(challengeBlock - head.number), isUndrawn: true }
}
