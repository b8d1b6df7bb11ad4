import { DAY_MS } from '@lade/core/time'
import { usdcText } from '../wallets/wallet-quota.ts'
import type { ProposerRound } from './proposer-round.ts'

/** What may be put in escrow on the UTC day of `now`; undefined without a limit. */
export function budgetOf({ dealMicroUsdcPerDay }: ProposerRound, now: number) {
  if (dealMicroUsdcPerDay === undefined) return undefined
  const from = now - (now % DAY_MS)
  return { from, to: from + DAY_MS, microUsdc: Number(dealMicroUsdcPerDay) }
}

/** How much of the budget of today is left; undefined without a limit. What transactions that failed for good had put in is back. */
export async function leftToday(round: ProposerRound): Promise<bigint | undefined> {
  const budget = budgetOf(round, round.now())
  if (budget === undefined) return undefined
  const { from, to, microUsdc } = budget
  const spent = await round.escrow.spent({ account: round.accountId, from, to })
  return BigInt(Math.max(0, microUsdc - spent))
}

/** Notes that deals wait for the next day, or for a higher budget where one costs more than a whole day's. */
export function noteOverBudget(round: ProposerRound, paymentMicroUsdc: bigint): void {
  const { dealMicroUsdcPerDay: limit = 0n } = round
  const budget = `LADE_DEAL_USDC_PER_DAY (${usdcText(limit)})`
  if (paymentMicroUsdc > limit) {
    round.wait('budget', `A deal costs ${usdcText(paymentMicroUsdc)} USDC, more than ${budget}. It is not made.`)
  } else round.wait('budget', `The daily budget ${budget} is used up. Deals wait for the next UTC day.`)
}
