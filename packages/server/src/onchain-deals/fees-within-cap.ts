import type { Fees } from '../chain/chain.ts'
import type { ProposerRound } from './proposer-round.ts'

/** What a new transaction offers; undefined, and noted, while the network asks for more than the cap. */
export async function feesWithinCap(round: ProposerRound): Promise<Fees | undefined> {
  const fees = await round.marketplace.fees()
  if (fees.maxFeePerGas <= round.feeCap) return fees
  round.wait('fee', 'The network fee exceeds the fee cap. Transactions wait until it is lower.')
  return undefined
}
