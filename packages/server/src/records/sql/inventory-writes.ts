import type { NewAuditEntry } from '../audit-log-records.ts'
import type { BlobName } from '../inventory-records.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import type { DiscardTimes, DiscardWrites } from './discard-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** Of blobs that are looked through. Each function runs inside the caller's transaction. */
export function prepareInventoryWrites(db: Sql, discards: DiscardWrites, audit: AuditLogWrites) {
  const setMark = db.prepare<[string, string]>(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  const usePut = db.prepare<[{ sha256: string; put: string; missing: string }]>(
    `UPDATE objects SET put = :put WHERE sha256 = :sha256 AND place = 'blob' AND put = :missing
     AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
  )

  const forgetPuts = db.prepare<[]>("UPDATE objects SET put = '' WHERE put <> ''")

  return {
    *usePut({ sha256, put, missing }: BlobName & { readonly missing: string }): Steps<boolean> {
      if (!(yield* discards.cancel({ sha256, put }))) return false
      return (yield* usePut.run({ sha256, put, missing })).changes > 0
    },

    *forgetPuts(_: undefined): Steps<void> {
      yield* forgetPuts.run()
    },

    *setMark(request: { name: string; value: string; audit?: NewAuditEntry | undefined }): Steps<void> {
      yield* setMark.run(request.name, request.value)
      yield* audit.appendIf(request.audit)
    },

    planOrphan({
      sha256,
      put,
      now,
      dueAt,
    }: BlobName & { readonly now: number; readonly dueAt: number }): Steps<boolean> {
      return discards.planOrphan({ sha256, put }, { now, dueAt })
    },

    letOrphansBe: (_: undefined): Steps<void> => discards.letOrphansBe(),

    keepAsOrphans: (times: Required<DiscardTimes>): Steps<void> => discards.keepAsOrphans(times),
  }
}
