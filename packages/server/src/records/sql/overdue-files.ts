import type { Sql, Steps } from './sql.ts'

interface OverdueRow {
  readonly sequence: number
  readonly expiresAt: number
  readonly principal: string
  readonly bytes: number
}

const OVERDUE_ROWS = 1000

/** What a file takes: its object says it, since a composed file is charged only for what is repeated in it. */
export const STORED_BYTES = '((SELECT size_bytes FROM objects WHERE objects.id = files.object) + files.member_bytes)'

/** Files that are past their term, and that nobody has ended yet. */
export function prepareOverdueFiles(db: Sql) {
  // In the order of the index and so many at a time, so that no engine thinks of reading the table instead.
  const overdue = db.prepare<{ now: number; at: number; after: number }, OverdueRow>(
    `SELECT sequence, expires_at AS "expiresAt", principal, ${STORED_BYTES} AS bytes
     FROM files ${db.dialect.indexedBy('files_by_expiry')}
     WHERE ended_at IS NULL AND expires_at <= :now AND (expires_at, sequence) > (:at, :after)
     ORDER BY expires_at, sequence LIMIT ${OVERDUE_ROWS}`,
  )

  return {
    /** What principals have of them: few files of all principals, unless nobody ends any. */
    *overdueOf(
      isOne: (principal: string) => boolean,
      now: number,
    ): Steps<{ readonly bytes: number; readonly files: number }> {
      let [bytes, files] = [0, 0]
      let last: OverdueRow | undefined
      do {
        const rows = yield* overdue.all({ now, at: last?.expiresAt ?? 0, after: last?.sequence ?? 0 })
        for (const row of rows.filter(({ principal }) => isOne(principal))) {
          bytes += row.bytes
          files += 1
        }
        last = rows.length === OVERDUE_ROWS ? rows.at(-1) : undefined
      } while (last !== undefined)
      return { bytes, files }
    },
  }
}
