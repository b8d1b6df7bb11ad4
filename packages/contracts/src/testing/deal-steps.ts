import type { Address, Hex } from 'viem'
import { type Actor, type Fixture, PERIOD } from './marketplace-fixture.ts'
import { type Piece, pieceOf } from './pieces.ts'

const STATES = ['None', 'Proposed', 'Active', 'Settled', 'Slashed', 'Withdrawn'] as const

/** Of `MAX_PAYMENT` and `MAX_DURATION` in the contract. */
export const MAX_PAYMENT = 2n ** 96n - 1n
export const MAX_DURATION = 100n * 365n * 86_400n

/** What a proposal says that is not the usual. */
export interface Terms {
  readonly prover?: Address
  readonly commp?: Hex
  readonly pieceSize?: bigint
  readonly leafCount?: bigint
  readonly duration?: bigint
  readonly totalPayment?: bigint
  readonly bond?: bigint
}

/** The steps of deals between the client and the prover of a fixture, about one small piece. */
export function dealSteps(fixtureOf: () => Fixture) {
  const piece: Piece = pieceOf(new Uint8Array(127).fill(7))

  const termsOf = (terms: Terms = {}) => {
    const { commp, pieceSize, leafCount } = piece
    const usual = { prover: fixtureOf().prover.address, duration: 3n * BigInt(PERIOD), totalPayment: 3_001n, bond: 0n }
    return { ...usual, commp, pieceSize, leafCount, ...terms }
  }
  const propose = async (terms: Terms = {}): Promise<bigint> => {
    await fixtureOf().client1.send('proposeDeal', [termsOf(terms)])
    return fixtureOf().lastDealId()
  }

  const accept = async (dealId: bigint, prover: Actor = fixtureOf().prover): Promise<void> => {
    await prover.send('acceptDeal', [dealId, await fixtureOf().termsHash(dealId)])
  }

  return {
    piece,
    accept,
    /** A proposal. */
    termsOf,
    propose,
    /** A deal that is proposed and accepted. */
    async activeDeal(terms: Terms = {}): Promise<bigint> {
      const dealId = await propose(terms)
      await accept(dealId)
      return dealId
    },
    async provePeriod(dealId: bigint, of: Piece = piece): Promise<void> {
      await fixtureOf().prover.send('openChallenge', [dealId])
      await fixtureOf().prover.send('prove', await fixtureOf().proofOf(dealId, of))
    },
    stateOf: async (dealId: bigint) => STATES[(await fixtureOf().deal(dealId)).state],
    /** What an account gains by something that is done. */
    async gainOf(account: Address, act: () => Promise<unknown>): Promise<bigint> {
      const before = await fixtureOf().balance(account)
      await act()
      return (await fixtureOf().balance(account)) - before
    },
  }
}
