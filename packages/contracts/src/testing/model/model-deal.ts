import type { Address, Hex } from 'viem'

export const MISSES_TO_SLASH = 3
export const BOND_PARTS = 10n

/** In the order of the contract's numbers. */
export const STATES = ['None', 'Proposed', 'Active', 'Settled', 'Slashed', 'Withdrawn'] as const
export type ModelState = (typeof STATES)[number]
export const BOND_STATES = ['None', 'Bonded', 'Released'] as const

/** A proposal. */
export interface Terms {
  readonly prover: Address
  readonly commp: Hex
  readonly pieceSize: bigint
  readonly leafCount: bigint
  readonly durationSeconds: number
  readonly totalPayment: bigint
  readonly bond: bigint
}

/** A deal as the model has it: the term has an end and not a length. */
export interface ModelDeal {
  readonly terms: Terms
  readonly client: Address
  state: ModelState
  isEnding: boolean
  bondState: (typeof BOND_STATES)[number]
  since: number
  accountedUntil: number
  termEnd: number
  extraSeconds: number
  seedBlock: number
  period: number
  misses: number
  missesInARow: number
  remaining: bigint
  extraPayment: bigint
  earned: bigint
  refundable: bigint
  bondLeft: bigint
  forfeited: bigint
}

export interface ModelEvent {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** What `deals` of the contract answers for it. */
export function contractView(deal: ModelDeal) {
  const { terms } = deal
  return {
    ...{ client: deal.client, prover: terms.prover, state: STATES.indexOf(deal.state), isEnding: deal.isEnding },
    ...{ bondState: BOND_STATES.indexOf(deal.bondState), missesInARow: deal.missesInARow, misses: deal.misses },
    ...{ period: deal.period, since: deal.since, duration: deal.termEnd - deal.since },
    ...{ accountedUntil: deal.accountedUntil, seedBlock: deal.seedBlock, extraDuration: deal.extraSeconds },
    ...{ commp: terms.commp, pieceSize: terms.pieceSize, leafCount: terms.leafCount },
    ...{ remaining: deal.remaining, extraPayment: deal.extraPayment, earned: deal.earned },
    ...{ refundable: deal.refundable, bond: terms.bond, bondLeft: deal.bondLeft, forfeited: deal.forfeited },
  }
}
