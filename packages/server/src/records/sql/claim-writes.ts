import { decideQuota } from '../../quota-rule/decide-quota.ts'
import type { TakeOutcome, TakeRequest } from '../claim-records.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { prepareFileInserts } from './file-inserts.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, folderFactsOf, storedBytesOf } from './file-row.ts'
import { dayLeft, prepareQuotaReads } from './quota-reads.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareUsageWrites } from './usage-writes.ts'

/** Claims of sponsored files. Each function runs inside the caller's transaction. */
export function prepareClaimWrites(db: Sql) {
  const content = prepareContentReads(db)
  const { capsOf, stateFor } = prepareQuotaReads(db)
  const { endAsExpired, insertFile } = prepareFileInserts(db)
  const { closeDeal } = prepareDealClosing(db)
  const { fileEnded } = prepareUsageWrites(db)
  const bySequence = db.prepare<[number], FileRow>(`SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ?`)
  const claimable = db.prepare<[number, string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} JOIN claims ON claims.file = files.sequence
     WHERE files.sequence = ? AND claims.digest = ? AND files.ended_at IS NULL AND files.expires_at > ?`,
  )
  const endClaimed = db.prepare<[number, number]>(`UPDATE files SET ended_at = ?, "end" = 'removed' WHERE sequence = ?`)
  const file = db.dialect.whole('?')
  const copyDeal = db.prepare<[number, number]>(
    `INSERT INTO deals (file, copies_wanted, status, status_at, cause, waits, car_checked)
     SELECT ${file}, copies_wanted, status, status_at, cause, waits, car_checked FROM deals WHERE file = ? AND closed_at IS NULL`,
  )
  const copyDealPieces = db.prepare<[number, number]>(
    `INSERT INTO deal_pieces (file, position, piece, padded_offset_bytes, object, offset_bytes, car_copies)
     SELECT ${file}, position, piece, padded_offset_bytes, object, offset_bytes, car_copies FROM deal_pieces WHERE file = ?`,
  )

  /** The sponsored file goes; its address stays charged for it. */
  function* end(row: FileRow, now: number): Steps<void> {
    yield* endClaimed.run(now, row.sequence)
    yield* fileEnded(row)
    yield* closeDeal(row.sequence, now)
  }

  /** Provers keep what they have. */
  function* passDealOn(from: number, to: number): Steps<void> {
    if ((yield* copyDeal.run(to, from)).changes > 0) yield* copyDealPieces.run(to, from)
  }

  return {
    *take(request: TakeRequest): Steps<TakeOutcome> {
      const { sponsored, digest, now, day, token, file: wanted } = request
      const { principal } = wanted
      const row = yield* claimable.get(sponsored, digest, now)
      if (row === undefined) return { outcome: 'gone' }
      const own = yield* content.openFile(principal, row.object, wanted.key)
      const isHad = own !== undefined && own.expires_at > now
      // A folder comes with all that is in it.
      const bytes = storedBytesOf(row)
      const asked = isHad ? { bytes: 0, files: 0 } : { bytes, files: 1 }
      const caps = yield* capsOf({ ...request, principal })
      const state = yield* stateFor({ principal, day, token, ...caps }, caps, { asked, now })
      const decision = decideQuota(state, { ...caps, asked })
      const left = dayLeft(state, caps, request.capBytes, decision.outcome === 'fits' ? asked.bytes : 0)
      if (isHad) {
        yield* end(row, now)
        return { outcome: 'retry', file: fileFromRow(own), usedBytes: state.used.bytes, ...left }
      }
      if (decision.outcome === 'over_quota') return { ...decision, ...left }
      if (own !== undefined) yield* endAsExpired(own, now)
      const filed = { object: row.object, isNew: false }
      const sequence = yield* insertFile(filed, wanted, { day, bytes, token: token?.id }, folderFactsOf(row))
      yield* passDealOn(row.sequence, sequence)
      yield* end(row, now)
      const recorded = yield* bySequence.get(sequence)
      if (recorded === undefined) throw new TypeError(`there is no file ${sequence}`)
      return {
        outcome: 'recorded',
        file: fileFromRow(recorded),
        usedBytes: decision.usedBytes + bytes,
        ...left,
      }
    },
  }
}
