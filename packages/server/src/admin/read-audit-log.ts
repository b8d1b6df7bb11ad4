import { type AuditEntry, type AuditPage, MAX_AUDIT_ENTRIES_PER_PAGE, readAuditLine } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { readPage } from '../files/page.ts'
import type { PageCursors } from '../files/page-cursor.ts'
import type { AuditLine, RecordStore } from '../records/record-store.ts'

const LINES_AT_ONCE = 1000
/** Entries that a page with a filter looks at. */
const MOST_LOOKED_AT = 10_000

type Deps = Pick<RecordStore, 'audit'>

/**
 * A page of the audit log, newest first. With a filter it may have fewer entries than its limit, or none, before a page that follows.
 *
 * @throws {LadeError} `bad_request` for a limit that is none; `invalid_cursor`.
 */
export async function readAuditPage(
  records: Deps,
  asked: {
    readonly cursor?: string | undefined
    readonly limit?: string | undefined
    readonly q?: string | undefined
    readonly cursors: PageCursors
  },
): Promise<AuditPage> {
  const { limit, request, cursors } = readPage(asked, MAX_AUDIT_ENTRIES_PER_PAGE)
  const newest = (await records.audit.page({ limit: 1 }))[0]?.sequence ?? 0
  const before = Math.min(request.beforeSequence ?? Number.MAX_SAFE_INTEGER, newest + 1)
  const search = asked.q === undefined || asked.q === '' ? {} : { search: asked.q }
  const from = Math.max(1, before - MOST_LOOKED_AT)
  const found = await records.audit.page({ before, from, limit: request.limit, ...search })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const next = found.length > limit && last !== undefined ? last.sequence : from
  return { entries: shown.map(entryOf), nextCursor: next > 1 ? cursors.write(next) : null }
}

/** The whole audit log from its first line on, in parts of many lines. */
export async function* auditLogLines(records: Deps): AsyncGenerator<string, void, undefined> {
  let after = 0
  for (;;) {
    const lines = await records.audit.lines({ after, limit: LINES_AT_ONCE })
    const last = lines.at(-1)
    if (last === undefined) return
    yield `${lines.map(({ line }) => line).join('\n')}\n`
    after = last.sequence
  }
}

function entryOf({ line }: AuditLine): AuditEntry {
  return { ...readAuditLine(line), hash: sha256Hex(Buffer.from(line)) }
}
