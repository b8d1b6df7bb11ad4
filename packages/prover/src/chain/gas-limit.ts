import type { Head } from './deal.ts'
import { percentOf } from './fees.ts'

/** Between the estimate and its block a call may come to cost more. */
const MARGIN_PERCENT = 130n
/** A transaction for many deals is to find a place in a block beside others. */
const PARTS_OF_BLOCK = 4n

/** The most gas of a transaction that serves so many deals. One for a single deal has to be sent whatever it uses. */
export function mostGasOf(deals: number, { gasLimit }: Pick<Head, 'gasLimit'>, mostGasForMany: bigint): bigint {
  if (deals === 1) return gasLimit
  return lesser(mostGasForMany, gasLimit / PARTS_OF_BLOCK)
}

/** The limit of a transaction that is expected to use so much gas; undefined when that is more than it may use. */
export function gasLimitOf(expected: bigint, most: bigint): bigint | undefined {
  return expected > most ? undefined : lesser(percentOf(expected, MARGIN_PERCENT), most)
}

/** How many deals fit into one transaction, at least one, if each uses so much gas. */
export function dealsWithin(gasOfDeal: bigint, head: Pick<Head, 'gasLimit'>, mostGasForMany: bigint): number {
  const deals = mostGasOf(2, head, mostGasForMany) / percentOf(gasOfDeal, MARGIN_PERCENT)
  return Math.max(1, Number(deals))
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
