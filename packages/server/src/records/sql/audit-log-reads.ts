import type { AuditLine } from '../audit-log-records.ts'
import type { Sql, Steps } from './sql.ts'

interface PageRequest {
  readonly before?: number
  readonly from?: number
  readonly limit: number
  readonly search?: string
}

/** The mark with the id of the signing key that was in use last. */
export const KEY_MARK = 'signing-key'

/** Reads of the audit log. */
export function prepareAuditLogReads(db: Sql) {
  const ascending = db.prepare<[number, number], AuditLine>(
    'SELECT sequence, line FROM audit_log WHERE sequence > ? ORDER BY sequence LIMIT ?',
  )
  const descending = db.prepare<[number, number, number], AuditLine>(
    'SELECT sequence, line FROM audit_log WHERE sequence < ? AND sequence >= ? ORDER BY sequence DESC LIMIT ?',
  )
  const found = db.prepare<[number, number, string, number], AuditLine>(
    `SELECT sequence, line FROM audit_log
     WHERE sequence < ? AND sequence >= ? AND ${db.dialect.includesFolded('line', '?')} ORDER BY sequence DESC LIMIT ?`,
  )

  const mark = db.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck()

  return {
    keyInUse: (): Steps<string | undefined> => mark.get(KEY_MARK),

    lines: ({ after, limit }: { after: number; limit: number }): Steps<AuditLine[]> => ascending.all(after, limit),

    page: ({ before = Number.MAX_SAFE_INTEGER, from = 0, limit, search }: PageRequest): Steps<AuditLine[]> =>
      search === undefined ? descending.all(before, from, limit) : found.all(before, from, search, limit),
  }
}
