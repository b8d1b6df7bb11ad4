import type { ClaimQuestion, FoundClaim } from '../claim-records.ts'
import { prepareContentReads } from './content-reads.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import type { Sql, Steps } from './sql.ts'

/** Reads of claims. */
export function prepareClaimReads(db: Sql) {
  const content = prepareContentReads(db)
  const live = db.prepare<[number, string, string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} JOIN claims ON claims.file = files.sequence
     WHERE files.object = ? AND files.name = ? AND claims.digest = ? AND files.ended_at IS NULL AND files.expires_at > ?
     ORDER BY files.sequence LIMIT 1`,
  )
  const any = db
    .prepare<[number, string, string], number>(
      `SELECT 1 FROM files JOIN claims ON claims.file = files.sequence
       WHERE files.object = ? AND files.name = ? AND claims.digest = ? LIMIT 1`,
    )
    .pluck()

  return {
    *find({ key, digest, principal, now }: ClaimQuestion): Steps<FoundClaim> {
      const name = opaqueNameOf(key)
      const objects = yield* content.objectsNamedBy(key)
      for (const { object } of objects) {
        const row = yield* live.get(object, name, digest, now)
        if (row !== undefined) return { outcome: 'open', file: fileFromRow(row) }
      }
      for (const { object } of objects) {
        const own = yield* content.openFile(principal, object, key)
        if (own === undefined || own.expires_at <= now) continue
        if ((yield* any.get(object, name, digest)) !== undefined) return { outcome: 'taken', file: fileFromRow(own) }
      }
      return { outcome: 'absent' }
    },
  }
}
