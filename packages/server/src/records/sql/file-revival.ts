import type { ReviveFilesRequest } from '../record-store.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow } from './file-row.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { isTouchedByTakedown } from './takedown-reads.ts'
import { prepareUsageWrites } from './usage-writes.ts'

/** Clocks of instances differ by less. */
const TOLERANCE_MS = 60_000

/** Files that expired while the clock was ahead. Each function runs inside the caller's transaction. */
export function prepareFileRevival(db: Sql) {
  const { reopenDeal } = prepareDealClosing(db)
  const { fileRevived } = prepareUsageWrites(db)
  // Nothing that expires now has a later time.
  const tooLate = db
    .prepare<[number, number], number>('SELECT object FROM ended_objects WHERE due_at > ? ORDER BY due_at LIMIT ?')
    .pluck()
  const keepUntil = db.prepare<[number, number]>('UPDATE ended_objects SET due_at = ? WHERE object = ?')
  const expired = db.prepare<[{ object: number; now: number }], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE files.object = :object AND "end" = 'expired' AND expires_at > :now
       AND NOT EXISTS (SELECT 1 FROM files AS open WHERE open.principal = files.principal AND open.object = files.object
         AND open.name = files.name AND open.ended_at IS NULL)
     ORDER BY sequence`,
  )
  const isTakenDown = db
    .prepare<[number], number>(`SELECT 1 FROM objects WHERE id = ? AND ${isTouchedByTakedown('objects.id')}`)
    .pluck()
  const reopen = db.prepare<[number]>('UPDATE files SET ended_at = NULL, "end" = NULL WHERE sequence = ?')

  return {
    *revive({ now, limit, keepMs }: ReviveFilesRequest): Steps<number> {
      let revived = 0
      const objects = yield* tooLate.all(now + keepMs + TOLERANCE_MS, limit)
      yield* forEach(objects, function* (object) {
        const names = new Set<string>()
        yield* forEach(yield* expired.all({ object, now }), function* (row) {
          // One open file for each principal and name.
          const name = `${row.principal} ${row.name}`
          if (names.has(name)) return
          names.add(name)
          yield* reopen.run(row.sequence)
          yield* fileRevived(row)
          // Provers have released a file that became private, or was taken down.
          const isForbidden = (yield* isTakenDown.get(object)) !== undefined
          if (row.visibility === 'public' && !isForbidden) yield* reopenDeal(row.sequence, now)
          revived += 1
        })
        yield* keepUntil.run(now + keepMs, object)
      })
      return revived
    },
  }
}
