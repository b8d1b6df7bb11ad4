import { leafCount, paddedSizeBytes } from '@lade/core/piece'
import type { Address, DealProposal, Fees, MarketplaceCall } from '../chain/chain.ts'
import type { QueuedDeal, TransactionRecord } from '../records/record-store.ts'
import { leftToday, noteOverBudget } from './daily-budget.ts'
import { feesWithinCap } from './fees-within-cap.ts'
import type { PricedTerm, ProposerRound, RoundContract } from './proposer-round.ts'
import { paymentOf, readCall } from './recorded-call.ts'
import { MAX_OPEN, signRecordSend } from './send-recorded.ts'
import { ALONE_FROM_REVERTS } from './track-transaction.ts'

/** The most copies of one prover that are queued in one round. */
const QUEUE_BATCH = 500
/** A balance may be a few seconds old, so that what was paid in the newest blocks is taken off it again. */
const BALANCE_AGE_BLOCKS = 5
const DAY_SECONDS = 86_400

/** Queues deals for copies that have none, and proposes what is queued, a batch a transaction. */
export async function proposeDeals(round: ProposerRound, unsettled: readonly TransactionRecord[]): Promise<void> {
  const { transactions, accounts, maxBatch } = round
  const [contract] = round.contracts
  const provers = [...accounts.keys()]
  await transactions.queueDeals({ provers, limit: QUEUE_BATCH })
  let open = unsettled.filter(({ state }) => state === 'open').length
  let spentMicroUsdc = unsettled.filter((each) => mayBeUnpaid(round, each)).reduce(addPayment, 0n)
  while (open < MAX_OPEN) {
    const batch = batchOf(await queuedWithinBudget(round, provers)).slice(0, maxBatch)
    if (batch.length === 0) return
    const fees = await feesIfReady(round, unsettled, contract)
    if (fees === undefined) return
    const affordable = await affordableOf(round, batch, spentMicroUsdc)
    if (affordable.length === 0) return
    const deals = affordable.map(({ proposal }) => proposal)
    const call = { kind: 'propose' as const, contract: contract.address, deals }
    const copies = affordable.map(({ deal }) => deal.copy)
    const isRecorded = await signRecordSend(round, { call, nonce: await nextNonce(round), fees }, (transaction) =>
      transactions.propose({ ...transaction, contract: contract.id, copies }),
    )
    // Somebody else proposes, too, or a copy has just ended: the next round sees what is left.
    if (!isRecorded) return
    open += 1
    spentMicroUsdc += paymentOf(call)
  }
}

/** The nonce of the next new transaction: after every one in a block, and after every one that was ever recorded. */
export async function nextNonce({ transactions, accountId, confirmedNonce }: ProposerRound): Promise<number> {
  return Math.max(confirmedNonce, (await transactions.nextNonce(accountId)) ?? 0)
}

/**
 * The fees of a new transaction, once the contract may take payments and the fees are within the cap; has it allowed to where it is not.
 */
export async function feesIfReady(
  round: ProposerRound,
  unsettled: readonly TransactionRecord[],
  contract: RoundContract,
): Promise<Fees | undefined> {
  const fees = await feesWithinCap(round)
  // A token that froze the contract undoes every payment to it.
  if (fees === undefined || !(await contract.canPay())) return undefined
  const calls = await contract.prepare()
  if (calls.length === 0) return fees
  const underWay = unsettled.map(({ call }) => readCall(call))
  const isUnderWay = ({ kind }: MarketplaceCall) =>
    underWay.some((one) => one.kind === kind && 'contract' in one && one.contract === contract.address)
  for (const call of calls.filter((one) => !isUnderWay(one))) {
    await signRecordSend(round, { call, nonce: await nextNonce(round), fees }, (transaction) =>
      round.transactions.record(transaction),
    )
  }
  return undefined
}

/** The oldest queued deals, without those that cost more than the budget of a whole day. */
async function queuedWithinBudget(round: ProposerRound, provers: readonly string[]): Promise<readonly QueuedDeal[]> {
  const { transactions, maxBatch, dealMicroUsdcPerDay: limit } = round
  const queued = await transactions.queued({ provers, now: round.now(), limit: maxBatch })
  if (limit === undefined) return queued
  const paymentOfDeal = (deal: QueuedDeal) => round.priceOf(termOf(round, deal))
  const isTooDear = (deal: QueuedDeal) => paymentOfDeal(deal) > limit
  const dearest = queued.find(isTooDear)
  if (dearest === undefined) return queued
  noteOverBudget(round, paymentOfDeal(dearest))
  // Those behind it are not held up.
  const more = await transactions.queued({ provers, now: round.now(), limit: QUEUE_BATCH })
  return more.filter((deal) => !isTooDear(deal))
}

/** The oldest alone when it was undone often; else the oldest ones that were not. */
function batchOf(queued: readonly QueuedDeal[]): readonly QueuedDeal[] {
  const [first] = queued
  if (first !== undefined && first.reverts >= ALONE_FROM_REVERTS) return [first]
  return queued.filter(({ reverts }) => reverts < ALONE_FROM_REVERTS)
}

/** As many of the batch, from the first on, as the balance and the budget of today pay for. */
async function affordableOf(
  round: ProposerRound,
  batch: readonly QueuedDeal[],
  spentMicroUsdc: bigint,
): Promise<readonly { readonly deal: QueuedDeal; readonly proposal: DealProposal }[]> {
  const priced = batch.flatMap((deal) => {
    const prover = round.accounts.get(deal.prover)
    return prover === undefined ? [] : [{ deal, proposal: proposalOf(round, deal, prover) }]
  })
  const budget = await leftToday(round)
  if (budget !== undefined) {
    let leftOfBudget = budget
    const tooMuch = priced.findIndex(({ proposal }) => {
      leftOfBudget -= proposal.paymentMicroUsdc
      return leftOfBudget < 0n
    })
    if (tooMuch !== -1) {
      noteOverBudget(round, priced[tooMuch]?.proposal.paymentMicroUsdc ?? 0n)
      priced.splice(tooMuch)
    }
  }
  let left = (await round.chain.usdcBalance(round.marketplace.account)) - spentMicroUsdc
  const tooDear = priced.findIndex(({ proposal }) => {
    left -= proposal.paymentMicroUsdc
    return left < 0n
  })
  if (tooDear === -1) return priced
  round.trouble('The account has too little USDC for the queued deals.')
  return priced.slice(0, tooDear)
}

function proposalOf(round: ProposerRound, deal: QueuedDeal, prover: Address): DealProposal {
  const term = termOf(round, deal)
  const paymentMicroUsdc = round.priceOf(term)
  const bondMicroUsdc = (paymentMicroUsdc * BigInt(round.bondPercent)) / 100n
  const piece = { pieceRoot: deal.pieceRoot, leafCount: leafCount(deal.pieceSizeBytes) }
  return { prover, ...piece, ...term, paymentMicroUsdc, bondMicroUsdc }
}

function termOf(round: ProposerRound, deal: QueuedDeal): PricedTerm {
  const seconds = (deal.neededUntil - round.now()) / 1000
  return {
    paddedSizeBytes: paddedSizeBytes(deal.pieceSizeBytes),
    durationSeconds: Math.max(1, Math.ceil(seconds / DAY_SECONDS)) * DAY_SECONDS,
  }
}

function mayBeUnpaid(round: ProposerRound, { state, blockNumber }: TransactionRecord): boolean {
  return state === 'open' || (blockNumber ?? 0) > round.head.number - BALANCE_AGE_BLOCKS
}

function addPayment(sum: bigint, { call }: TransactionRecord): bigint {
  return sum + paymentOf(readCall(call))
}
