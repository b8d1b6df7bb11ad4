import { MAX_SHARE_SECONDS } from '@lade/core/wire/limits'
import { auditSubjectOf } from '../audit-log-records.ts'
import type { ErasedFiles, EraseFilesRequest, EraseSignInsRequest } from '../erasure-records.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow } from './file-row.ts'
import type { FileWrites } from './file-writes.ts'
import type { ObjectRelease } from './object-release.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

/** As long as the links of a token may last, its revocation is remembered. */
const LINK_MS = MAX_SHARE_SECONDS * 1000

/** What is left of a row of `files`. */
export const THINNED = `filename = NULL, owner = NULL, content_type = 'application/octet-stream', is_thin = 1`

interface RevokeUser {
  revokeUser(request: {
    readonly sub: string
    readonly now: number
    readonly keepsLinks: boolean
    readonly by: string
  }): Steps<{ readonly tokens: number }>
}

interface ErasureDeps {
  readonly files: FileWrites
  readonly release: ObjectRelease
  readonly tokens: RevokeUser
  readonly audit: AuditLogWrites
  readonly openUploads: { endAllOf(principal: string, now: number): Steps<void> }
}

/** Erasure of what is known of one caller. Each function runs inside the caller's transaction. */
export function prepareErasureWrites(db: Sql, { files, release, tokens, audit, openUploads }: ErasureDeps) {
  const sessionsOf = db.prepare<[string], number>('SELECT COUNT(*) FROM sessions WHERE sub = ?').pluck()
  const eraseTokens = db.prepare<{ sub: string; now: number; forgetAt: number }>(
    `UPDATE tokens SET email = '', label = '', keeps_links = 0, revoked_at = coalesce(revoked_at, ${db.dialect.whole(':now')}),
       forget_at = coalesce(forget_at, ${db.dialect.whole(':forgetAt')}) WHERE sub = :sub`,
  )
  const eraseCodes = db.prepare<[string]>('DELETE FROM challenges WHERE email = ?')
  const eraseMails = db.prepare<[string]>('DELETE FROM signups WHERE address = ?')
  const eraseLimits = db.prepare<[string]>('DELETE FROM caller_limits WHERE principal = ?')
  const eraseGiven = db.prepare<[string]>('UPDATE blocked_callers SET given = value WHERE value = ?')
  const openFiles = db.prepare<[string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE principal = ? AND ended_at IS NULL ORDER BY sequence LIMIT ?`,
  )
  const endedFiles = db.prepare<[string, number, number], { sequence: number; object: number; is_thin: number }>(
    `SELECT sequence, object, is_thin FROM files WHERE principal = ? AND sequence > ? AND ended_at IS NOT NULL
     ORDER BY sequence LIMIT ?`,
  )
  const thin = db.prepare<[number]>(`UPDATE files SET ${THINNED} WHERE sequence = ?`)
  const isOfOthers = db
    .prepare<[number, string], number>('SELECT 1 FROM files WHERE object = ? AND principal <> ? LIMIT 1')
    .pluck()
  const letGo = db.prepare<[number], string>(`SELECT sha256 FROM objects WHERE id = ? AND place = 'none'`).pluck()

  /** Lets go of bytes at once, unless others have uploaded them too: then as it is for every file. Answers the digest to delete. */
  function* releaseBytes(object: number, principal: string, now: number): Steps<string | undefined> {
    if ((yield* isOfOthers.get(object, principal)) !== undefined) {
      yield* release.releaseObject(object, now)
      return undefined
    }
    yield* release.releaseAtOnce(object, now)
    yield* release.discardNow(object, now)
    const handle = yield* letGo.get(object)
    return handle?.startsWith('piece:') ? undefined : handle
  }

  function* releaseAll(objects: ReadonlySet<number>, principal: string, now: number): Steps<string[]> {
    const deleted: string[] = []
    for (const object of objects) {
      const digest = yield* releaseBytes(object, principal, now)
      if (digest !== undefined) deleted.push(digest)
    }
    return deleted
  }

  return {
    *signIns(request: EraseSignInsRequest): Steps<{ readonly tokens: number; readonly sessions: number }> {
      const { principal, sub, email, by, now } = request
      const sessions = sub === undefined ? 0 : ((yield* sessionsOf.get(sub)) ?? 0)
      const ended = sub === undefined ? { tokens: 0 } : yield* tokens.revokeUser({ sub, now, keepsLinks: false, by })
      if (sub !== undefined) yield* eraseTokens.run({ sub, now, forgetAt: now + LINK_MS })
      if (email !== undefined) {
        yield* eraseCodes.run(email)
        yield* eraseMails.run(`mail:${email}`)
      }
      yield* openUploads.endAllOf(principal, now)
      yield* eraseLimits.run(principal)
      yield* eraseGiven.run(principal)
      const subject = auditSubjectOf(principal)
      yield* audit.append({ at: now, actor: by, action: 'caller.erased', subject, detail: { ...ended, sessions } })
      return { ...ended, sessions }
    },

    *endFiles({ principal, now, limit }: EraseFilesRequest): Steps<ErasedFiles> {
      const rows = yield* openFiles.all(principal, limit)
      yield* forEach(rows, (row) => files.endNow(row, now))
      const objects = new Set(rows.map(({ object }) => object))
      return { files: rows.length, deleted: yield* releaseAll(objects, principal, now) }
    },

    *endedFiles(
      request: EraseFilesRequest & { readonly after: number },
    ): Steps<ErasedFiles & { readonly last: number | undefined }> {
      const { principal, now, limit, after } = request
      const rows = yield* endedFiles.all(principal, after, limit)
      const thick = rows.filter(({ is_thin: isThin }) => isThin === 0)
      yield* forEach(thick, ({ sequence }) => thin.run(sequence))
      const deleted = yield* releaseAll(new Set(rows.map(({ object }) => object)), principal, now)
      return { files: thick.length, deleted, last: rows.length < limit ? undefined : rows.at(-1)?.sequence }
    },
  }
}
