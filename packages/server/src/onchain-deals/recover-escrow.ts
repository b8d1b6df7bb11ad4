import { HOUR_MS, MINUTE_MS } from '@lade/core/time'
import type { MarketplaceDeal } from '../chain/chain.ts'
import type { EscrowToCheck, OnchainDealName, TransactionRecord } from '../records/record-store.ts'
import { dueRecovery } from './due-recovery.ts'
import { feesWithinCap } from './fees-within-cap.ts'
import { nextNonce } from './propose-deals.ts'
import type { ProposerRound, RoundContract } from './proposer-round.ts'
import { MAX_OPEN, signRecordSend } from './send-recorded.ts'

/** Deals that one round reads at most. */
const SLICE = 50
/** A clock that is behind the chain's makes no busy loop. */
const MIN_WAIT_MS = 5_000
/** A state that final blocks do not confirm yet may be taken back. */
const UNCONFIRMED_WAIT_MS = MINUTE_MS
/** A deal that is not on the chain any more, though final blocks had it. */
const GONE_WAIT_MS = HOUR_MS

/**
 * Reads deals whose time has come, and takes back what the contracts hold for nothing. Each deal has one transaction at a time, recorded with
 * the nonce and the signed bytes before it is sent.
 */
export async function recoverEscrow(round: ProposerRound, unsettled: readonly TransactionRecord[]): Promise<void> {
  const open = { count: unsettled.filter(({ state }) => state === 'open').length }
  for (const contract of round.contracts) await recoverFrom(round, contract, open)
}

/** @param open - how many transactions wait for a block; it grows. */
async function recoverFrom(round: ProposerRound, contract: RoundContract, open: { count: number }): Promise<void> {
  const canEnd = (await contract.version()) !== 1
  for (const due of await round.escrow.due({ contract: contract.id, now: round.now(), limit: SLICE })) {
    const deal = await contract.deal(BigInt(due.onchainId))
    const outcome = deal === undefined ? undefined : dueRecovery(deal, { isNeeded: due.isNeeded, canEnd })
    const name = { contract: contract.id, onchainId: due.onchainId }
    if (deal === undefined || outcome?.action === undefined) {
      await lookLater(round, name, due, deal, outcome?.lookAgainInMs)
      continue
    }
    if (deal.state !== due.state) {
      const read = { state: deal.state, nextAt: round.now() }
      await round.escrow.checked({ ...name, ...read, now: round.now() })
    }
    if (open.count >= MAX_OPEN) return
    if (!(await contract.canPay())) return
    const fees = await feesWithinCap(round)
    if (fees === undefined) return
    const call = { kind: outcome.action, contract: contract.address, dealId: BigInt(due.onchainId) }
    const isRecorded = await signRecordSend(round, { call, nonce: await nextNonce(round), fees }, (transaction) =>
      round.transactions.record({ ...transaction, recovers: name }),
    )
    if (!isRecorded) return
    open.count += 1
  }
}

async function lookLater(
  round: ProposerRound,
  name: OnchainDealName,
  due: EscrowToCheck,
  deal: MarketplaceDeal | undefined,
  lookAgainInMs: number | null | undefined,
): Promise<void> {
  const now = round.now()
  if (deal === undefined) {
    round.trouble(`The contract ${name.contract} has no deal ${name.onchainId}.`)
    await round.escrow.checked({ ...name, state: due.state, nextAt: now + GONE_WAIT_MS, now })
    return
  }
  const isConfirmed = deal.state === due.finalState
  const isOver = lookAgainInMs === null || lookAgainInMs === undefined
  // The newest block may be old, when no other has come, and its clock may be ahead of ours.
  const dueAt = isOver ? now + UNCONFIRMED_WAIT_MS : Math.min(now, deal.asOf) + lookAgainInMs
  const lookAt = Math.max(now + MIN_WAIT_MS, isConfirmed ? dueAt : Math.min(dueAt, now + UNCONFIRMED_WAIT_MS))
  const nextAt = isOver && isConfirmed ? null : lookAt
  await round.escrow.checked({ ...name, state: deal.state, nextAt, now })
}
