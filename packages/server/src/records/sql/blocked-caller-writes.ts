import type { BlockCallerRequest, BlockedCallerRecord } from '../record-store.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import { type BlockedCallerRow, callerFromRow } from './blocked-caller-reads.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow } from './file-row.ts'
import type { FileWrites } from './file-writes.ts'
import type { ObjectRelease } from './object-release.ts'
import { prepareRevisions } from './revisions.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

/** Callers that are refused, and the ends of their files. Each function runs inside the caller's transaction. */
export function prepareBlockedCallerWrites(
  db: Sql,
  {
    files,
    release: { releaseObject },
    audit,
  }: { readonly files: FileWrites; readonly release: ObjectRelease; readonly audit: AuditLogWrites },
) {
  const { nextRevision } = prepareRevisions(db, 'callers')
  const byValue = db.prepare<[string], BlockedCallerRow>(
    'SELECT * FROM blocked_callers WHERE value = ? AND lifted_at IS NULL',
  )
  const byId = db.prepare<[number], BlockedCallerRow>('SELECT * FROM blocked_callers WHERE id = ?')
  const insert = db.prepareInsertion<[string, string, string, string, number, string, number, number, number]>(
    'id',
    `INSERT INTO blocked_callers (kind, value, given, reason, blocked_at, blocked_by, removes_files, is_removing, revision)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const renew = db.prepare<[{ id: number; reason: string; removes: number; revision: number }]>(
    `UPDATE blocked_callers SET reason = :reason, revision = :revision,
       removes_files = ${db.dialect.greatest('removes_files', db.dialect.whole(':removes'))},
       is_removing = ${db.dialect.greatest('is_removing', db.dialect.whole(':removes'))} WHERE id = :id`,
  )
  const end = db.prepare<[number, string, number, number]>(
    'UPDATE blocked_callers SET lifted_at = ?, lifted_by = ?, is_removing = 0, revision = ? WHERE id = ?',
  )
  const setRemoved = db.prepare<[number]>('UPDATE blocked_callers SET is_removing = 0 WHERE id = ?')
  const openFiles = db.prepare<[string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE principal = ? AND ended_at IS NULL ORDER BY sequence LIMIT ?`,
  )

  function* recordOf(id: number): Steps<BlockedCallerRecord> {
    const row = yield* byId.get(id)
    if (row === undefined) throw new TypeError(`there is no blocked caller ${id}`)
    return callerFromRow(row)
  }

  return {
    *block(request: BlockCallerRequest): Steps<BlockedCallerRecord> {
      const { kind, value, given, reason, by, now } = request
      const removes = request.files === 'remove' ? 1 : 0
      const revision = yield* nextRevision()
      const held = yield* byValue.get(value)
      if (held !== undefined) {
        yield* renew.run({ id: held.id, reason, removes, revision })
      }
      const id = held?.id ?? (yield* insert(kind, value, given, reason, now, by, removes, removes, revision))
      const detail = { reason, files: request.files, number: id }
      yield* audit.append({ at: now, actor: by, action: 'caller.blocked', subject: subjectOf(request), detail })
      return yield* recordOf(id)
    },

    *lift({ id, by, now }: { id: number; by: string; now: number }): Steps<BlockedCallerRecord | undefined> {
      const row = yield* byId.get(id)
      if (row === undefined || row.lifted_at !== null) return undefined
      yield* end.run(now, by, yield* nextRevision(), id)
      yield* audit.append({
        at: now,
        actor: by,
        action: 'caller.unblocked',
        subject: subjectOf(row),
        detail: { number: id },
      })
      return yield* recordOf(id)
    },

    *removed(id: number): Steps<void> {
      yield* setRemoved.run(id)
    },

    *endFiles({ principal, now, limit }: { principal: string; now: number; limit: number }): Steps<number> {
      const rows = yield* openFiles.all(principal, limit)
      yield* forEach(rows, function* (row) {
        yield* files.endNow(row, now)
        yield* releaseObject(row.object, now)
      })
      return rows.length
    },
  }
}

/** The audit log has no addresses. */
function subjectOf({ kind, value }: Pick<BlockedCallerRecord, 'kind' | 'value'>): string {
  return kind === 'network' ? 'network' : value
}
