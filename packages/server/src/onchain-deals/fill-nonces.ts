import type { TransactionRecord } from '../records/record-store.ts'
import { feesWithinCap } from './fees-within-cap.ts'
import type { ProposerRound } from './proposer-round.ts'
import { signRecordSend } from './send-recorded.ts'

/** A node that is behind shows gaps that are none, so that they have to be seen in so many rounds running. */
const GAP_OBSERVATIONS = 3
/** The most nonces that are looked at in one round. */
const MAX_NONCES = 200

/**
 * Uses up nonces that nobody has a transaction for and that recorded ones wait behind, as when somebody else used one and a
 * reorganisation took that away. Such a nonce gets a transaction of no effect, recorded like any other.
 *
 * @throws {LadeError} `chain_offline`, `storage_failed`.
 */
export async function fillNonces(round: ProposerRound, unsettled: readonly TransactionRecord[]): Promise<void> {
  const { confirmedNonce, observations, transactions, accountId: account } = round
  const waiting = unsettled.filter(({ state, nonce }) => state === 'open' && nonce >= confirmedNonce)
  const lowest = waiting[0]?.nonce ?? confirmedNonce
  const gap = (nonce: number): string => `gap ${nonce}`
  const gaps = new Set<string>()
  if (lowest > confirmedNonce) {
    const states = ['open', 'mined', 'confirmed', 'final'] as const
    const recorded = await transactions.transactions({ account, states, fromNonce: confirmedNonce, limit: MAX_NONCES })
    const byNonce = new Map(recorded.map((each) => [each.nonce, each]))
    const end = Math.min(lowest, confirmedNonce + MAX_NONCES)
    for (let nonce = confirmedNonce; nonce < end; nonce += 1) {
      if (byNonce.get(nonce)?.state === 'final')
        round.trouble(`The chain no longer has the final transaction with nonce ${nonce}.`)
      if (byNonce.has(nonce)) continue
      gaps.add(gap(nonce))
      if (observations.see(gap(nonce), round.number) >= GAP_OBSERVATIONS) await useUp(round, nonce)
    }
  }
  observations.keep((what) => !what.startsWith('gap ') || gaps.has(what))
}

async function useUp(round: ProposerRound, nonce: number): Promise<void> {
  const fees = await feesWithinCap(round)
  if (fees === undefined) return
  await signRecordSend(round, { call: { kind: 'empty' }, nonce, fees }, (transaction) =>
    round.transactions.record(transaction),
  )
}
