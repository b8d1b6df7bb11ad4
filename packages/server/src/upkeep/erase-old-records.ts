import { DAY_MS } from '@lade/core/time'
import { MAX_SHARE_SECONDS } from '@lade/core/wire/limits'
import { utcDay } from '../quotas/utc-day.ts'
import type { RecordStore } from '../records/record-store.ts'

const EVERY_MS = 600_000
/** Rows that are changed in one transaction, for which uploads wait. */
const ROWS_AT_ONCE = 500
/** Each may have the files of a day. */
const ADDRESSES_AT_ONCE = 20
/** Transactions of each kind in one round: the first round is waited for at the start, and what is left goes on in the next ones. */
const MOST_TRANSACTIONS = 4

export interface EraseOldRecordsDeps {
  readonly records: Pick<RecordStore, 'erasure'>
  readonly now: () => number
  /** How long after its end what is known of people is kept; 0 for ever. */
  readonly tombstoneMs: number
}

/**
 * A function that erases, when it is called and ten minutes are over, what is known of people and has been over for long: names, types and
 * owners of ended files, IP addresses of sponsored ones, expired tokens. Safe to stop anywhere, and beside other processes.
 */
export function oldRecordEraser({ records, now, tombstoneMs }: EraseOldRecordsDeps): () => Promise<void> {
  const { erasure } = records
  let erasedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const at = now()
    if (tombstoneMs === 0 || Math.abs(at - erasedAt) < EVERY_MS) return
    const endedBefore = at - tombstoneMs
    const files = await hasErasedAll(ROWS_AT_ONCE, (limit) => erasure.oldFiles({ endedBefore, limit }))
    const day = utcDay(endedBefore)
    const addresses = await hasErasedAll(ADDRESSES_AT_ONCE, (limit) =>
      erasure.oldAddresses({ day, endedBefore, limit }),
    )
    // A link that a token made may go on after it, and is asked about by the token.
    const expiredBefore = at - Math.max(tombstoneMs, MAX_SHARE_SECONDS * 1000 + DAY_MS)
    const tokens = await hasErasedAll(ROWS_AT_ONCE, (limit) => erasure.oldTokens({ expiredBefore, limit }))
    if (files && addresses && tokens) erasedAt = at
  }
}

/** False when there is more to erase. */
async function hasErasedAll(limit: number, step: (limit: number) => Promise<number>): Promise<boolean> {
  for (let count = 0; count < MOST_TRANSACTIONS; count += 1) if ((await step(limit)) < limit) return true
  return false
}
