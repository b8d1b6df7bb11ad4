import { DAY_MS } from '@lade/core/time'
import type { ExpireFilesRequest, FileRecord, PostponeFilesRequest, RemoveFileRequest } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { type ExpiredFile, prepareFileExpiry } from './file-expiry.ts'
import { type FileRow, fileFromRow } from './file-row.ts'
import type { ObjectRelease } from './object-release.ts'
import { STORED_BYTES } from './overdue-files.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareUsageWrites } from './usage-writes.ts'

export type FileWrites = ReturnType<typeof prepareFileWrites>

/** Ends of files. Each function runs inside the caller's transaction. */
export function prepareFileWrites(db: Sql, { releaseObject, releaseObjects, releaseLater }: ObjectRelease) {
  const content = prepareContentReads(db)
  const { closeDeal } = prepareDealClosing(db)
  const { fileEnded } = prepareUsageWrites(db)
  const { endAsExpired } = prepareFileExpiry(db)
  const pastTerm = db.prepare<[number, number], ExpiredFile & { readonly object: number }>(
    `SELECT sequence, object, principal, charged_day AS day, ${STORED_BYTES} AS bytes
     FROM files WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const endFile = db.prepare<[number, 'expired' | 'removed', number]>(
    'UPDATE files SET ended_at = ?, "end" = ? WHERE sequence = ?',
  )
  // A file that was moved before lasts longer than its term says.
  const postpone = db.prepare<[PostponeFilesRequest]>(
    `UPDATE files SET expires_at = expires_at + :byMs
     WHERE sequence >= :fromSequence AND ended_at IS NULL AND uploaded_at BETWEEN :from AND :to
       AND expires_at - uploaded_at = CAST(term_days AS BIGINT) * ${DAY_MS}`,
  )

  function* end(row: FileRow, endedAt: number, reason: 'expired' | 'removed', now: number): Steps<void> {
    yield* endFile.run(endedAt, reason, row.sequence)
    yield* fileEnded(row)
    yield* closeDeal(row.sequence, now)
  }

  return {
    /** Ends a file that has not ended; what becomes of its bytes is for the caller to decide. */
    end,

    /** As `end`, at its owner's or the operator's wish: what is past its term has expired, and was not removed. */
    *endNow(row: FileRow, now: number): Steps<void> {
      const isOver = row.expires_at <= now
      yield* end(row, isOver ? row.expires_at : now, isOver ? 'expired' : 'removed', now)
    },

    *remove({ principal, key, now, endedAt = now }: RemoveFileRequest): Steps<FileRecord | undefined> {
      for (const { object } of yield* content.objectsNamedBy(key)) {
        const row = yield* content.openFile(principal, object, key)
        if (row === undefined) continue
        if (row.expires_at > now) {
          yield* end(row, endedAt, 'removed', now)
          yield* releaseObject(row.object, now)
          return { ...fileFromRow(row), endedAt, end: 'removed' }
        }
        yield* end(row, row.expires_at, 'expired', now)
        yield* releaseObject(row.object, now)
      }
      return undefined
    },

    *expire({ now, limit, keepMs = 0 }: ExpireFilesRequest): Steps<number> {
      const rows = yield* pastTerm.all(now, limit)
      yield* endAsExpired(rows, now)
      const objects = rows.map(({ object }) => object)
      yield* keepMs > 0 ? releaseLater(objects, now + keepMs) : releaseObjects(objects, now)
      return rows.length
    },

    *postpone(request: PostponeFilesRequest): Steps<void> {
      yield* postpone.run(request)
    },
  }
}
