import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainRecords } from '../records/record-store.ts'

export interface WaitForDealRequest {
  readonly copies: readonly number[]
  /** Epoch milliseconds; from then on the answer is what is known. */
  readonly deadline: number
  /** Ends the waiting early, with its reason. */
  readonly signal?: AbortSignal
  /** @default 50 */
  readonly pollMs?: number
}

/**
 * Waits until one of these copies has a confirmed deal on the chain, whichever process makes it.
 *
 * @returns the decimal id of the deal of the first copy that has one; undefined when none has by the deadline, or when all have failed.
 * @throws {LadeError} `storage_failed`; the signal's reason.
 *
 * @example
 * await waitForDeal({ records, now: Date.now }, { copies: [7], deadline: Date.now() + 10_000 }) // '42'
 */
export async function waitForDeal(
  { records, now }: { readonly records: { readonly chain: ChainRecords }; readonly now: () => number },
  { copies, deadline, signal, pollMs = 50 }: WaitForDealRequest,
): Promise<string | undefined> {
  for (;;) {
    signal?.throwIfAborted()
    const deals = await records.chain.dealsOf(copies)
    const made = deals.find(
      ({ state, onchainId }) => onchainId !== null && (state === 'confirmed' || state === 'final'),
    )
    if (made !== undefined) return made.onchainId ?? undefined
    const areAllFailed = deals.length === copies.length && deals.every(({ state }) => state === 'failed')
    const leftMs = deadline - now()
    if (areAllFailed || leftMs <= 0) return undefined
    await sleep(Math.min(pollMs, leftMs))
  }
}
