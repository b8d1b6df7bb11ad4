import { DAY_MS } from '@lade/core/time'
import type {
  ChangeFileOutcome,
  ChangeFileRequest,
  FileChange,
  ObjectHandle,
  RepeatableChange,
  TermChange,
} from '../record-store.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { FileWithdrawal } from './file-withdrawal.ts'
import type { Sql, Steps } from './sql.ts'

/** How many private files of a folder are named. */
const MAX_NAMED = 100

/** The columns that a change sets. */
type Changed = Pick<FileRow, 'visibility' | 'content_type' | 'filename' | 'expires_at' | 'term_days'>

/** Changes of live files. Each function runs inside the caller's transaction. */
export function prepareFileChanges(db: Sql, { withdraw, offer }: FileWithdrawal) {
  const { markPiecesUnreconciled } = prepareDealClosing(db)
  const liveFile = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ? AND ended_at IS NULL AND expires_at > ?`,
  )
  const update = db.prepare<[Changed & { sequence: number }]>(
    `UPDATE files SET visibility = :visibility, content_type = :content_type, filename = :filename,
       expires_at = :expires_at, term_days = :term_days
     WHERE sequence = :sequence`,
  )
  /** Files of the principal that are private by themselves, and nobody else's public ones. */
  const privateIn = db
    .prepare<[number, string, number, number], ObjectHandle>(
      `SELECT objects.sha256 FROM members JOIN objects ON objects.id = members.object JOIN files ON files.object = members.object
       WHERE members.folder = ? AND principal = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'private'
         AND NOT EXISTS (SELECT 1 FROM files AS others WHERE others.object = members.object AND others.ended_at IS NULL
           AND others.expires_at > ? AND others.visibility = 'public')
       ORDER BY objects.id LIMIT ${MAX_NAMED}`,
    )
    .pluck()
  const useKey = db.prepare<[string, string, number]>('INSERT INTO nonces (account, nonce, until) VALUES (?, ?, ?)')
  const usedKey = db
    .prepare<[{ account: string; from: string; to: string }], string>(
      'SELECT nonce FROM nonces WHERE account = :account AND nonce >= :from AND nonce < :to LIMIT 1',
    )
    .pluck()

  /** The request that this key was used for, by its digest. */
  function* requestOf({ principal, key }: RepeatableChange): Steps<string | undefined> {
    const used = yield* usedKey.get({ account: accountOf(principal), from: `${key} `, to: `${key}!` })
    return used?.slice(key.length + 1)
  }

  return {
    *change(request: ChangeFileRequest): Steps<ChangeFileOutcome> {
      const { file, now, maxTermDays, once } = request
      const row = yield* liveFile.get(file, now)
      if (row === undefined) return { outcome: 'ended' }
      const before = once === undefined ? undefined : yield* requestOf(once)
      if (before !== undefined && before !== once?.request) return { outcome: 'key_reused' }
      if (before !== undefined) return { outcome: 'changed', file: fileFromRow(row) }

      const addedDays = addedDaysOf(row, request.term)
      if (addedDays > 0 && row.term_days + addedDays > maxTermDays) {
        return { outcome: 'too_long', termDays: row.term_days }
      }
      const changed = changedRow(row, request, addedDays)
      if (changed.visibility === 'public' && row.visibility === 'private' && row.folder_files !== null) {
        const hidden = yield* privateIn.all(row.object, row.principal, now, now)
        if (hidden.length > 0) return { outcome: 'private_members', objects: hidden }
      }
      const { sequence, visibility, content_type, filename, expires_at, term_days } = changed
      yield* update.run({ sequence, visibility, content_type, filename, expires_at, term_days })
      if (addedDays > 0) yield* markPiecesUnreconciled(file, now)
      if (visibility !== row.visibility) yield* visibility === 'private' ? withdraw(file, now) : offer(file, now)
      if (once !== undefined) yield* useKey.run(accountOf(once.principal), `${once.key} ${once.request}`, once.until)
      return { outcome: 'changed', file: fileFromRow(changed) }
    },
  }
}

function changedRow(row: FileRow, change: FileChange, addedDays: number): FileRow {
  return {
    ...row,
    visibility: change.visibility ?? row.visibility,
    content_type: change.contentType ?? row.content_type,
    filename: change.filename === undefined ? row.filename : change.filename,
    // A term that was moved once stays moved.
    expires_at: row.expires_at + addedDays * DAY_MS,
    term_days: row.term_days + addedDays,
  }
}

/** By how many days the term grows; 0 for one that is long enough. */
function addedDaysOf(row: FileRow, term: TermChange | undefined): number {
  if (term === undefined) return 0
  if ('addDays' in term) return term.addDays
  if ('termDays' in term) return Math.max(0, term.termDays - row.term_days)
  return Math.max(0, Math.ceil((term.until - row.expires_at) / DAY_MS))
}

/** No wallet is called that. */
function accountOf(principal: string): string {
  return `change by ${principal}`
}
