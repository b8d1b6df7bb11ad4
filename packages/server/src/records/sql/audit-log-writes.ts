import { FIRST_AUDIT_PREVIOUS } from '@lade/core/wire/limits'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { AuditLine, NewAuditEntry } from '../record-store.ts'
import { KEY_MARK, prepareAuditLogReads } from './audit-log-reads.ts'
import type { Sql, Steps } from './sql.ts'

/** Adds to the audit log, inside the caller's transaction. */
export interface AuditLogWrites {
  append(entry: NewAuditEntry): Steps<void>
  /** As {@link append}, for an entry that may be absent. */
  appendIf(entry: NewAuditEntry | undefined): Steps<void>
  keyInUse(request: { readonly keyId: string; readonly at: number }): Steps<void>
}

export function prepareAuditLogWrites(db: Sql): AuditLogWrites {
  const last = db.prepare<[], AuditLine>(
    'SELECT sequence, line FROM audit_log WHERE sequence > 0 ORDER BY sequence DESC LIMIT 1',
  )
  const insert = db.prepare<[number, string]>('INSERT INTO audit_log (sequence, line) VALUES (?, ?)')
  const reads = prepareAuditLogReads(db)
  const setMark = db.prepare<[string, string]>(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  function* append({ at, actor, action, subject, detail = {} }: NewAuditEntry): Steps<void> {
    const before = yield* last.get()
    const sequence = (before?.sequence ?? 0) + 1
    const previous = before === undefined ? FIRST_AUDIT_PREVIOUS : sha256Hex(Buffer.from(before.line))
    const time = new Date(at).toISOString()
    yield* insert.run(sequence, JSON.stringify({ sequence, at: time, actor, action, subject, detail, previous }))
  }

  return {
    append,

    *appendIf(entry) {
      if (entry !== undefined) yield* append(entry)
    },

    *keyInUse({ keyId, at }) {
      const before = yield* reads.keyInUse()
      if (before === keyId) return
      yield* setMark.run(KEY_MARK, keyId)
      const detail = { replaces: before ?? null }
      yield* append({ at, actor: 'service', action: 'key.used', subject: `key:${keyId}`, detail })
    },
  }
}
