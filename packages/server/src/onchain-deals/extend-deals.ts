import { paddedSizeBytes } from '@lade/core/piece'
import { DAY_MS } from '@lade/core/time'
import type { ShortDeal, TransactionRecord } from '../records/record-store.ts'
import { leftToday, noteOverBudget } from './daily-budget.ts'
import { feesIfReady, nextNonce } from './propose-deals.ts'
import type { ProposerRound, RoundContract } from './proposer-round.ts'
import { signRecordSend } from './send-recorded.ts'

/** How many deals are looked at in one round. */
const SLICE = 200
/** The most extensions that go out in one round. */
const MAX_EXTENSIONS = 10
/** After as many extensions that were undone the deal is let go: its prover or the chain has ended it. */
const MAX_FAILURES = 3
/** So long after one that was undone comes the next. */
const RETRY_AFTER_MS = 3_600_000

/**
 * Extends final deals that end soon and before the last file that needs them, each by whole days, to where it is needed.
 *
 * Only final ones: the number of a younger deal can become that of another one.
 *
 * @param endsAfter - the end that the last round got to.
 * @returns where the next round goes on; null when it begins anew.
 */
export async function extendDeals(
  round: ProposerRound,
  unsettled: readonly TransactionRecord[],
  endsAfter: number | null,
): Promise<number | null> {
  const now = round.now()
  const endsBefore = now + round.extendWithinMs
  const slice = await round.transactions.tooShort({ endsAfter: endsAfter ?? now, endsBefore, limit: SLICE })
  const due = slice.deals.flatMap((deal) => {
    const contract = round.contracts.find(({ id }) => id === deal.contract)
    const { extensionFailures, extensionFailedAt } = deal
    const isTried =
      extensionFailures >= MAX_FAILURES || (extensionFailedAt !== null && now - extensionFailedAt <= RETRY_AFTER_MS)
    // What contracts that are not configured have is nobody's to extend.
    return contract === undefined || isTried ? [] : [{ contract, deal }]
  })
  const taken = due.slice(0, MAX_EXTENSIONS)
  for (const one of taken) if (!(await extend(round, unsettled, one))) return endsAfter
  // What was left out is at the end of the slice.
  return taken.length < due.length ? (taken.at(-1)?.deal.endsAt ?? null) : slice.upTo
}

/** False when nothing can be sent now. */
async function extend(
  round: ProposerRound,
  unsettled: readonly TransactionRecord[],
  { contract, deal }: { readonly contract: RoundContract; readonly deal: ShortDeal },
): Promise<boolean> {
  const extraMs = Math.ceil((deal.neededUntil - deal.endsAt) / DAY_MS) * DAY_MS
  const term = { paddedSizeBytes: paddedSizeBytes(deal.pieceSizeBytes), durationSeconds: extraMs / 1000 }
  const paymentMicroUsdc = round.priceOf(term)
  const left = await leftToday(round)
  if (left !== undefined && paymentMicroUsdc > left) {
    noteOverBudget(round, paymentMicroUsdc)
    // One that costs more than a whole day holds up no other.
    return paymentMicroUsdc > (round.dealMicroUsdcPerDay ?? 0n)
  }
  const fees = await feesIfReady(round, unsettled, contract)
  if (fees === undefined) return false
  if ((await round.chain.usdcBalance(round.marketplace.account)) < paymentMicroUsdc) {
    round.trouble('The account has too little USDC to extend a deal.')
    return false
  }
  const call = {
    kind: 'extend' as const,
    contract: contract.address,
    dealId: BigInt(deal.onchainId),
    extraSeconds: term.durationSeconds,
    paymentMicroUsdc,
  }
  await signRecordSend(round, { call, nonce: await nextNonce(round), fees }, (transaction) =>
    round.transactions.record({
      ...transaction,
      extends: { copy: deal.copy, from: deal.endsAt, to: deal.endsAt + extraMs },
    }),
  )
  return true
}
