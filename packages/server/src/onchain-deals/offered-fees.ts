import type { Fees } from '../chain/chain.ts'
import type { TransactionAttempt } from '../records/record-store.ts'

/**
 * The fees of a transaction that replaces others of its nonce: an eighth more than the highest of them, for both fees, or what the
 * network asks for now, where that is more. An eighth is more than the tenth that nodes want before they replace a transaction.
 *
 * @param feeCap - the most that `maxFeePerGas` may be, in wei.
 * @returns undefined when an eighth more would be above the cap.
 */
export function raisedFees(attempts: readonly TransactionAttempt[], asked: Fees, feeCap: bigint): Fees | undefined {
  const least = raised(highest(attempts.map(({ maxFeePerGas }) => BigInt(maxFeePerGas))))
  const leastPriority = raised(highest(attempts.map(({ maxPriorityFeePerGas }) => BigInt(maxPriorityFeePerGas))))
  if (least > feeCap) return undefined
  const maxFeePerGas = lower(highest([least, asked.maxFeePerGas]), feeCap)
  const maxPriorityFeePerGas = lower(highest([leastPriority, asked.maxPriorityFeePerGas]), maxFeePerGas)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

function raised(wei: bigint): bigint {
  return (wei * 9n + 7n) / 8n
}

function highest(values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most), 0n)
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
