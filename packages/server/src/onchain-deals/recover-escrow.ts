import { HOUR_MS, MINUTE_MS } from '@lade/core/time'
import type { MarketplaceDeal } from '../chain/chain.ts'
import type { EscrowToCheck, TransactionRecord } from '../records/record-store.ts'
import { dueRecovery } from './due-recovery.ts'
import { feesWithinCap } from './fees-within-cap.ts'
import { nextNonce } from './propose-deals.ts'
import type { ProposerRound } from './proposer-round.ts'
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
 * Reads deals whose time has come, and takes back what the contract holds for nothing. Each deal has one transaction at a time, recorded with
 * the nonce and the signed bytes before it is sent.
 */
export async function recoverEscrow(round: ProposerRound, unsettled: readonly TransactionRecord[]): Promise<void> {
  const { escrow, marketplace } = round
  const { contract } = marketplace
  let open = unsettled.filter(({ state }) => state === 'open').length
  for (const due of await escrow.due({ contract, now: round.now(), limit: SLICE })) {
    const deal = await marketplace.deal(BigInt(due.onchainId))
    const outcome = deal === undefined ? undefined : dueRecovery(BigInt(due.onchainId), deal, due.isNeeded)
    if (deal === undefined || outcome?.call === undefined) {
      await lookLater(round, due, deal, outcome?.lookAgainInMs)
      continue
    }
    if (deal.state !== due.state) await noteState(round, due, deal)
    if (open >= MAX_OPEN) return
    if (!(await round.canPay())) return
    const fees = await feesWithinCap(round)
    if (fees === undefined) return
    const { onchainId } = due
    const isRecorded = await signRecordSend(
      round,
      { call: outcome.call, nonce: await nextNonce(round), fees },
      (transaction) => round.transactions.record({ ...transaction, recovers: { contract, onchainId } }),
    )
    if (!isRecorded) return
    open += 1
  }
}

async function lookLater(
  round: ProposerRound,
  due: EscrowToCheck,
  deal: MarketplaceDeal | undefined,
  lookAgainInMs: number | null | undefined,
): Promise<void> {
  const { contract } = round.marketplace
  const { onchainId } = due
  const now = round.now()
  if (deal === undefined) {
    round.trouble(`The chain has no deal ${onchainId}.`)
    await round.escrow.checked({ contract, onchainId, state: due.state, nextAt: now + GONE_WAIT_MS, now })
    return
  }
  const isConfirmed = deal.state === due.finalState
  const isOver = lookAgainInMs === null || lookAgainInMs === undefined
  // The newest block may be old, when no other has come, and its clock may be ahead of ours.
  const dueAt = isOver ? now + UNCONFIRMED_WAIT_MS : Math.min(now, deal.asOf) + lookAgainInMs
  const lookAt = Math.max(now + MIN_WAIT_MS, isConfirmed ? dueAt : Math.min(dueAt, now + UNCONFIRMED_WAIT_MS))
  const nextAt = isOver && isConfirmed ? null : lookAt
  await round.escrow.checked({ contract, onchainId, state: deal.state, nextAt, now })
}

async function noteState(
  round: ProposerRound,
  { onchainId }: EscrowToCheck,
  { state }: MarketplaceDeal,
): Promise<void> {
  const { contract } = round.marketplace
  await round.escrow.checked({ contract, onchainId, state, nextAt: round.now(), now: round.now() })
}
