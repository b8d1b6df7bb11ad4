import type { OpenUploadRecord } from '../open-upload-records.ts'
import { batchesOf, MANY } from './many.ts'
import { type OpenUploadRow, openUploadFromRow } from './open-upload-row.ts'
import type { Sql, Steps } from './sql.ts'

/** Reads of uploads that are sent in several requests. */
export function prepareOpenUploadReads(db: Sql) {
  const row = db.prepare<[string, number], OpenUploadRow>('SELECT * FROM open_uploads WHERE id = ? AND expires_at > ?')
  const expired = db.prepare<[number], number>('SELECT 1 FROM open_uploads WHERE expires_at <= ? LIMIT 1').pluck()
  const known = db
    .prepare<string[], string>(`SELECT id FROM open_uploads WHERE cid IS NULL AND id IN (${MANY})`)
    .pluck()

  return {
    *find({ id, now }: { id: string; now: number }): Steps<OpenUploadRecord | undefined> {
      const found = yield* row.get(id, now)
      return found && openUploadFromRow(found)
    },

    *hasExpired({ now }: { now: number }): Steps<boolean> {
      return (yield* expired.get(now)) !== undefined
    },

    *known(ids: readonly string[]): Steps<string[]> {
      const found: string[] = []
      for (const batch of batchesOf(ids, '')) found.push(...(yield* known.all(...batch)))
      return found
    },
  }
}
