import { DAY_MS } from '@lade/core/time'
import { MAX_SHARE_SECONDS } from '@lade/core/wire/limits'
import { utcDay } from '../quotas/utc-day.ts'
import type { EndedFilePlace } from '../records/erasure-records.ts'
import type { RecordStore } from '../records/record-store.ts'

const EVERY_MS = 600_000
/** Rows that are changed in one transaction, for which uploads wait. */
const ROWS_AT_ONCE = 500
/** Each may have the files of a day. */
const ADDRESSES_AT_ONCE = 20
/** Each has a deal, pieces and copies, which go with it. */
const FILES_AT_ONCE = 100
/** Objects that are looked at in one transaction. */
const OBJECTS_AT_ONCE = 1000
/** Transactions of each kind in one round: the first round is waited for at the start, and what is left goes on in the next ones. */
const MOST_TRANSACTIONS = 4

export interface EraseOldRecordsDeps {
  readonly records: Pick<RecordStore, 'erasure'>
  readonly now: () => number
  /** How long after its end a file or token is kept in the records; 0 for ever. */
  readonly tombstoneMs: number
}

/**
 * A function that erases, when it is called and ten minutes are over, what has been over for long: names, types and owners of ended files, IP
 * addresses of sponsored ones, expired tokens, and then what is left of ended files, but for what 410 and the charges of days need. Safe to
 * stop anywhere, and beside other processes.
 */
export function oldRecordEraser({ records, now, tombstoneMs }: EraseOldRecordsDeps): () => Promise<void> {
  const { erasure } = records
  let erasedAt = Number.NEGATIVE_INFINITY
  // Where the walks through files and objects go on.
  let lastFile: EndedFilePlace | undefined
  let lastObject: number | undefined

  async function thinFiles(endedBefore: number): Promise<boolean> {
    for (let count = 0; count < MOST_TRANSACTIONS; count += 1) {
      const { last } = await erasure.thinEnded({ endedBefore, after: lastFile, limit: FILES_AT_ONCE })
      lastFile = last
      if (last === undefined) return true
    }
    return false
  }

  async function forgetObjects(): Promise<boolean> {
    for (let count = 0; count < MOST_TRANSACTIONS; count += 1) {
      const { last } = await erasure.forgetObjects({ after: lastObject ?? 0, limit: OBJECTS_AT_ONCE })
      lastObject = last
      if (last === undefined) return true
    }
    return false
  }

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
    const thinned = await thinFiles(endedBefore)
    const forgotten = thinned && (await forgetObjects())
    if (files && addresses && tokens && forgotten) erasedAt = at
  }
}

/** False when there is more to erase. */
async function hasErasedAll(limit: number, step: (limit: number) => Promise<number>): Promise<boolean> {
  for (let count = 0; count < MOST_TRANSACTIONS; count += 1) if ((await step(limit)) < limit) return true
  return false
}
