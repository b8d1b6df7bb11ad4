import type { Fees, Hash, SendOutcome, SignedTransaction } from '../chain/chain.ts'
import type { NewTransaction, TransactionAttempt, TransactionRecord } from '../records/record-store.ts'
import { budgetOf } from './daily-budget.ts'
import { raisedFees } from './offered-fees.ts'
import type { ProposerRound } from './proposer-round.ts'
import { paymentOf, type RecordedCall, writeCall } from './recorded-call.ts'

/** The most transactions that may wait for a block; nodes keep no more than a few of one account. */
export const MAX_OPEN = 16
/** Where another transaction of the same nonce offers more, ours is raised as often as this while it would wait for one raise. */
const OUTBID_FRACTION = 10

/**
 * Signs a new transaction, has it recorded, and only then sends it: whatever dies in between, the next round finds it and sends the same
 * bytes.
 *
 * @param record - answers whether it was recorded; what was not is never sent.
 * @returns whether it was recorded. Whether the network has it, the next round sees.
 * @throws {LadeError} `chain_offline`, `storage_failed`.
 */
export async function signRecordSend(
  round: ProposerRound,
  request: { readonly call: RecordedCall; readonly nonce: number; readonly fees: Fees },
  record: (transaction: NewTransaction) => Promise<boolean>,
): Promise<boolean> {
  const { call, nonce, fees } = request
  const signed = await sign(round, request)
  const account = round.accountId
  const attempt = attemptOf(signed, fees, round.now())
  const paymentMicroUsdc = Number(paymentOf(call))
  const now = round.now()
  const budget = budgetOf(round, now)
  const isRecorded = await record({ account, nonce, call: writeCall(call), attempt, paymentMicroUsdc, budget, now })
  if (!isRecorded) return false
  round.log.info({ transaction: signed.hash, nonce, kind: call.kind }, 'a transaction is recorded and sent')
  noteRefusal(round, await round.marketplace.send(signed.raw))
  return true
}

/** Sends the latest signed form again, the same bytes. @throws {LadeError} `chain_offline`. */
export async function sendAgain(round: ProposerRound, transaction: TransactionRecord): Promise<SendOutcome> {
  const outcome = await round.marketplace.send(latestOf(transaction).raw as Hash)
  noteRefusal(round, outcome)
  return outcome
}

/**
 * Signs the same transaction with higher fees, records that as a further attempt, and sends it. Nothing happens when the
 * cap does not allow it, when the transaction is not open any more, or when the last attempt is young and offers what the network asks
 * for: what outbids it then is another transaction of the same nonce, which is not worth a race.
 *
 * @throws {LadeError} `chain_offline`, `storage_failed`.
 */
export async function sendRaised(round: ProposerRound, transaction: TransactionRecord): Promise<void> {
  const asked = await round.marketplace.fees()
  const latest = latestOf(transaction)
  const isTooLittle = asked.maxFeePerGas > BigInt(latest.maxFeePerGas)
  if (!isTooLittle && round.now() - latest.signedAt < round.raiseAfterMs / OUTBID_FRACTION) return
  const fees = raisedFees(transaction.attempts, asked, round.feeCap)
  if (fees === undefined) {
    round.trouble(
      `The transaction with nonce ${transaction.nonce} is not accepted, and its fee has reached the fee cap.`,
    )
    return
  }
  const signed = await round.marketplace.signAgain({ raw: latest.raw as Hash, fees })
  const attempt = attemptOf(signed, fees, round.now())
  if (!(await round.transactions.addAttempt({ transaction: transaction.id, attempt }))) return
  round.log.info({ transaction: signed.hash, nonce: transaction.nonce }, 'a transaction was replaced with a higher fee')
  noteRefusal(round, await round.marketplace.send(signed.raw))
}

/** The signed form that went out last. */
export function latestOf({ attempts }: TransactionRecord): TransactionAttempt {
  const latest = attempts.at(-1)
  if (latest === undefined) throw new TypeError('a transaction is recorded with its first attempt')
  return latest
}

function sign(
  { marketplace }: ProposerRound,
  { call, nonce, fees }: { readonly call: RecordedCall; readonly nonce: number; readonly fees: Fees },
): Promise<SignedTransaction> {
  return call.kind === 'empty' ? marketplace.signEmpty({ nonce, fees }) : marketplace.sign({ call, nonce, fees })
}

function attemptOf({ hash, raw }: SignedTransaction, fees: Fees, signedAt: number): TransactionAttempt {
  return {
    hash,
    raw,
    maxFeePerGas: fees.maxFeePerGas.toString(),
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
    signedAt,
  }
}

/** A refusal is no end: the bytes are out, and somebody may take them yet. */
function noteRefusal(round: ProposerRound, outcome: SendOutcome): void {
  if (outcome.outcome === 'refused') round.trouble(`The network rejected a transaction: ${outcome.reason}`)
}
