import type {
  AdvanceOpenUploadRequest,
  CreateOpenUploadRequest,
  TakeOpenUploadOutcome,
} from '../open-upload-records.ts'
import type { ReserveOutcome, ReserveRequest } from '../record-store.ts'
import { type OpenUploadRow, openUploadFromRow } from './open-upload-row.ts'
import { forEach, type Sql, type SqlValue, type Steps } from './sql.ts'

/** What reserves and releases, of the quota. */
interface QuotaSteps {
  reserve(request: ReserveRequest): Steps<ReserveOutcome>
  release(request: { readonly reservationId: string; readonly now: number }): Steps<void>
}

interface TakeRequest {
  readonly id: string
  readonly writer: string
  readonly from?: string | undefined
  readonly now: number
}

/** Uploads that are sent in several requests. Each function runs inside the caller's transaction. */
export function prepareOpenUploadWrites(db: Sql, quotas: QuotaSteps) {
  const insert = db.prepare<SqlValue[]>(
    `INSERT INTO open_uploads (id, principal, tier, kind, reservation, size_bytes, head, metadata, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const countOf = db
    .prepare<[string, number], number>(
      'SELECT COUNT(*) FROM open_uploads WHERE principal = ? AND cid IS NULL AND expires_at > ?',
    )
    .pluck()
  const row = db.prepare<[string], OpenUploadRow>('SELECT * FROM open_uploads WHERE id = ?')
  const ofPrincipal = db.prepare<[string], OpenUploadRow>('SELECT * FROM open_uploads WHERE principal = ?')
  const setWriter = db.prepare<[string | null, string]>('UPDATE open_uploads SET writer = ? WHERE id = ?')
  const advance = db.prepare<[number, string, number, string]>(
    'UPDATE open_uploads SET durable_bytes = ?, place = ?, expires_at = ? WHERE id = ?',
  )
  const setSize = db.prepare<[number, string]>('UPDATE open_uploads SET size_bytes = ? WHERE id = ?')
  const extend = db.prepare<[number, string]>('UPDATE reservations SET lease_until = ? WHERE id = ?')
  const giveBack = db.prepare<[string, string]>('UPDATE open_uploads SET writer = NULL WHERE id = ? AND writer = ?')
  const remove = db.prepare<[string]>('DELETE FROM open_uploads WHERE id = ?')
  const expired = db.prepare<[number, number], OpenUploadRow>(
    'SELECT * FROM open_uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  )

  function* end({ id, reservation, kind }: OpenUploadRow, now: number): Steps<void> {
    yield* remove.run(id)
    // Those of a final upload belong to its parts.
    if (kind !== 'final') yield* quotas.release({ reservationId: reservation, now })
  }

  return {
    /** Ends all uploads of a principal. */
    *endAllOf(principal: string, now: number): Steps<void> {
      yield* forEach(yield* ofPrincipal.all(principal), (one) => end(one, now))
    },

    *create({ upload, reserve, maxOpen, now }: CreateOpenUploadRequest): Steps<ReserveOutcome> {
      const open = (yield* countOf.get(upload.principal, now)) ?? 0
      if (open >= maxOpen) return { outcome: 'too_many_in_flight', inFlight: open }
      const reserved: ReserveOutcome =
        reserve === undefined ? { outcome: 'reserved', reservedBytes: 0, usedBytes: 0 } : yield* quotas.reserve(reserve)
      if (reserved.outcome !== 'reserved') return reserved
      const { id, principal, tier, kind, reservationId, sizeBytes = null, head, metadata, expiresAt } = upload
      yield* insert.run(id, principal, tier, kind, reservationId, sizeBytes, head, metadata, expiresAt)
      return reserved
    },

    *take({ id, writer, from, now }: TakeRequest): Steps<TakeOpenUploadOutcome> {
      const found = yield* row.get(id)
      if (found === undefined || found.expires_at <= now) return { outcome: 'absent' }
      if (found.writer !== null && found.writer !== from) return { outcome: 'held', writer: found.writer }
      yield* setWriter.run(writer, id)
      return { outcome: 'taken', upload: openUploadFromRow({ ...found, writer }) }
    },

    *advance(request: AdvanceOpenUploadRequest): Steps<boolean> {
      const { id, writer, durableBytes, place, expiresAt, sizeBytes, isLast = false } = request
      const found = yield* row.get(id)
      if (found === undefined || found.writer !== writer || found.cid !== null) return false
      yield* advance.run(durableBytes, place, expiresAt, id)
      yield* extend.run(expiresAt, found.reservation)
      if (sizeBytes !== undefined && found.size_bytes === null) yield* setSize.run(sizeBytes, id)
      if (isLast) yield* setWriter.run(null, id)
      return true
    },

    *giveBack({ id, writer }: { id: string; writer: string }): Steps<void> {
      yield* giveBack.run(id, writer)
    },

    *end({ id, now }: { id: string; now: number }): Steps<boolean> {
      const found = yield* row.get(id)
      if (found === undefined) return false
      yield* end(found, now)
      return true
    },

    *expire({ now, limit }: { now: number; limit: number }): Steps<string[]> {
      const rows = yield* expired.all(now, limit)
      yield* forEach(rows, (one) => end(one, now))
      return rows.map(({ id }) => id)
    },
  }
}
