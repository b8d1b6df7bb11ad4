import { LadeError } from '@lade/core/errors'
import type { Hash, TransactionPlace } from '../chain/chain.ts'
import type { TransactionRecord } from '../records/record-store.ts'
import type { ProposerRound } from './proposer-round.ts'
import { readCall } from './recorded-call.ts'
import { latestOf, sendAgain, sendRaised } from './send-recorded.ts'

/** A deal that was undone so often is proposed alone from then on, so that it undoes no others. */
export const ALONE_FROM_REVERTS = 3
/** One more, and it was undone alone: the deal itself is at fault. */
const FAILED_FROM_REVERTS = ALONE_FROM_REVERTS + 1
/** At so many heads running another transaction has to be seen in the place of ours before that is believed. */
const SUPERSEDED_OBSERVATIONS = 3

type InBlock = Extract<TransactionPlace, { readonly place: 'block' }>

/**
 * Brings what is recorded about one unsettled transaction up to what the chain says, and sends it again where nobody has it.
 *
 * Its deals are queued again only when it can take effect no more: it was undone in a block, or another transaction has its nonce, and
 * the blocks of finality are over that. Until then another proposal could land beside it.
 *
 * @throws {LadeError} `chain_offline`, `storage_failed`.
 */
export async function trackTransaction(round: ProposerRound, transaction: TransactionRecord): Promise<void> {
  // A chain that has not moved says about a block what it said before.
  if (transaction.state !== 'open' && round.isSameHead) return
  const place = await placeOf(round, transaction)
  if (place.place === 'block') await keepPlace(round, transaction, place)
  else await bringIn(round, transaction, place.place)
}

/** The block of whichever attempt is in one, else where the latest attempt is. */
async function placeOf(round: ProposerRound, { attempts }: TransactionRecord): Promise<TransactionPlace> {
  const places: TransactionPlace[] = []
  for (const { hash } of attempts.toReversed()) {
    const place = await round.marketplace.find(hash as Hash)
    if (place.place === 'block') return place
    places.push(place)
  }
  return places[0] ?? { place: 'unknown' }
}

async function keepPlace(round: ProposerRound, transaction: TransactionRecord, place: InBlock): Promise<void> {
  const { head, confirmations, finalityBlocks, transactions } = round
  const { block, dealIds } = place
  round.observations.forget(supersessionOf(transaction))
  const call = readCall(transaction.call)
  const proposals = call.kind === 'propose' ? call.deals : []
  // A contract that made no deal has undone the proposal, whatever it says; one that made some would be none that is known here.
  const succeeded = place.succeeded && (proposals.length === 0 || dealIds.length > 0)
  if (succeeded && dealIds.length !== proposals.length) {
    round.trouble(`A transaction proposed ${proposals.length} deals but created ${dealIds.length}.`)
    return
  }
  const isSameBlock = transaction.blockHash === block.hash
  const isConfirmed = head.number - block.number + 1 >= confirmations
  if (!isSameBlock || (isConfirmed && transaction.state === 'mined')) {
    await transactions.mined({
      transaction: transaction.id,
      succeeded,
      blockNumber: block.number,
      blockHash: block.hash,
      isConfirmed,
      dealIds: dealIds.map(String),
      // A deal ends so long after its acceptance, which comes after the signature.
      endsAt: proposals.map(({ durationSeconds }) => transaction.createdAt + durationSeconds * 1000),
    })
    if (!succeeded) round.log.warn({ transaction: transaction.id, kind: call.kind }, 'a transaction was reverted')
  }
  if (isSameBlock && head.number - block.number >= finalityBlocks) {
    const settled = { transaction: transaction.id, blockHash: block.hash, now: round.now() }
    await transactions.final({ ...settled, failFromReverts: FAILED_FROM_REVERTS })
  }
}

async function bringIn(round: ProposerRound, transaction: TransactionRecord, place: 'unknown' | 'pool'): Promise<void> {
  const { blockNumber, blockHash } = transaction
  // A node whose newest block is older than the one that had it cannot say that it is gone.
  if (blockHash !== null && round.head.number >= (blockNumber ?? 0)) {
    round.log.warn({ transaction: transaction.id, blockNumber }, 'the block of a transaction was reorganised away')
    await round.transactions.reorganised({ transaction: transaction.id, blockHash })
  }
  if (await isSuperseded(round, transaction)) {
    round.log.warn({ nonce: transaction.nonce }, 'another transaction used our nonce; its deals are queued again')
    await round.transactions.superseded({ transaction: transaction.id })
    round.observations.forget(supersessionOf(transaction))
    return
  }
  const outcome = place === 'pool' ? 'accepted' : (await sendAgain(round, transaction)).outcome
  if (outcome === 'underpriced' || (outcome === 'accepted' && waitsLong(round, transaction))) {
    await sendRaised(round, transaction)
  }
}

/** True when another transaction has had this nonce for all the blocks of finality, and at several heads running. */
async function isSuperseded(round: ProposerRound, transaction: TransactionRecord): Promise<boolean> {
  const { head, finalityBlocks, confirmedNonce, observations } = round
  const { nonce } = transaction
  const what = supersessionOf(transaction)
  const finalBlock = head.number - finalityBlocks
  if (confirmedNonce <= nonce || finalBlock < 0 || (await nonceAt(round, finalBlock)) <= nonce) {
    observations.forget(what)
    return false
  }
  return observations.see(what, head.hash) >= SUPERSEDED_OBSERVATIONS
}

function supersessionOf({ id }: TransactionRecord): string {
  return `superseded ${id}`
}

async function nonceAt(round: ProposerRound, blockNumber: number): Promise<number> {
  try {
    return await round.marketplace.nonceAt(blockNumber)
  } catch (error) {
    if (!LadeError.has(error, 'chain_offline')) throw error
    round.trouble('The node does not return the nonce of the account at the final block.')
    return 0
  }
}

/** Only the next one in line can be helped by a higher fee, and only where blocks come and pass it by. */
function waitsLong(round: ProposerRound, transaction: TransactionRecord): boolean {
  const { signedAt } = latestOf(transaction)
  const { grewAt, raiseAfterMs, confirmedNonce } = round
  if (transaction.nonce !== confirmedNonce || grewAt === undefined) return false
  return round.now() - signedAt > raiseAfterMs && grewAt > signedAt
}
