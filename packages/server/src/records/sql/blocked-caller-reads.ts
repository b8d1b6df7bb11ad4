import type { BlockedCallerKind, BlockedCallerRecord } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

export interface BlockedCallerRow {
  readonly id: number
  readonly kind: BlockedCallerKind
  readonly value: string
  readonly given: string
  readonly reason: string
  readonly blocked_at: number
  readonly blocked_by: string
  readonly removes_files: number
  readonly is_removing: number
  readonly lifted_at: number | null
}

/** Callers that are refused. For reads and writes alike. */
export function prepareBlockedCallerReads(db: Sql) {
  const revision = db.prepare<[], number>("SELECT revision FROM moderation_revisions WHERE name = 'callers'").pluck()
  const changedSince = db.prepare<[number], BlockedCallerRow>(
    'SELECT * FROM blocked_callers WHERE revision > ? ORDER BY revision',
  )
  const holding = db.prepare<[number, number], BlockedCallerRow>(
    'SELECT * FROM blocked_callers WHERE lifted_at IS NULL AND id < ? ORDER BY id DESC LIMIT ?',
  )
  const removing = db.prepare<[], BlockedCallerRow>('SELECT * FROM blocked_callers WHERE is_removing = 1 ORDER BY id')
  const nextPrincipal = db
    .prepare<[string, string], string | null>(
      `SELECT MIN(principal) FROM files ${db.dialect.indexedBy('files_live_by_principal')}
       WHERE principal > ? AND principal < ? AND ended_at IS NULL`,
    )
    .pluck()

  function* currentRevision(): Steps<number> {
    return (yield* revision.get()) ?? 0
  }

  return {
    revision: currentRevision,

    /** Needs one state of the records for all its statements. */
    *changes({ since }: { since: number }): Steps<{ revision: number; changed: BlockedCallerRecord[] }> {
      const now = yield* currentRevision()
      return { revision: now, changed: now === since ? [] : (yield* changedSince.all(since)).map(callerFromRow) }
    },

    *list({ before, limit }: { before?: number; limit: number }): Steps<BlockedCallerRecord[]> {
      return (yield* holding.all(before ?? Number.MAX_SAFE_INTEGER, limit)).map(callerFromRow)
    },

    *removing(): Steps<BlockedCallerRecord[]> {
      return (yield* removing.all()).map(callerFromRow)
    },

    *principals({ prefix, after, limit }: { prefix: string; after: string; limit: number }): Steps<string[]> {
      const found: string[] = []
      const last = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
      let from = after < prefix ? prefix : after
      while (found.length < limit) {
        const principal = yield* nextPrincipal.get(from, last)
        if (principal === undefined || principal === null) break
        found.push(principal)
        from = principal
      }
      return found
    },
  }
}

export function callerFromRow(row: BlockedCallerRow): BlockedCallerRecord {
  return {
    id: row.id,
    kind: row.kind,
    value: row.value,
    given: row.given,
    reason: row.reason,
    blockedAt: row.blocked_at,
    blockedBy: row.blocked_by,
    files: row.removes_files === 1 ? 'remove' : 'keep',
    isRemoving: row.is_removing === 1,
    liftedAt: row.lifted_at,
  }
}
