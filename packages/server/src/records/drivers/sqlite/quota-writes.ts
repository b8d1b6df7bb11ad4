import type {
  ClaimOutcome,
  CommitOutcome,
  FileRecord,
  ReserveOutcome,
  ReserveRequest,
  UploadCommit,
} from '../../record-store.ts'
import type { Connection } from './connection.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { type FileRow, fileFromRow } from './file-row.ts'

interface ReservationRow {
  readonly id: string
  readonly principal: string
  readonly day: string
  readonly bytes: number
  readonly cap_bytes: number
  readonly claimed_sha256: string | null
}

export type QuotaWrites = ReturnType<typeof prepareQuotaWrites>

/** Reservations and charges. Each function runs inside one transaction that the writer opens. */
export function prepareQuotaWrites(db: Connection, discards: DiscardWrites) {
  const chargedBytes = db
    .prepare<[string, string], number>('SELECT bytes FROM usage WHERE principal = ? AND day = ?')
    .pluck()
  const reservedBytes = db
    .prepare<[string, string], number | null>('SELECT SUM(bytes) FROM reservations WHERE principal = ? AND day = ?')
    .pluck()
  const inFlight = db.prepare<[string], number>('SELECT COUNT(*) FROM reservations WHERE principal = ?').pluck()
  const insertReservation = db.prepare(
    'INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const reservation = db.prepare<[string], ReservationRow>('SELECT * FROM reservations WHERE id = ?')
  const deleteReservation = db.prepare<[string]>('DELETE FROM reservations WHERE id = ?')
  const claimBytes = db.prepare<[string, string]>('UPDATE reservations SET claimed_sha256 = ? WHERE id = ?')
  const extend = db.prepare<[number, string]>('UPDATE reservations SET lease_until = ? WHERE instance = ?')
  const expired = db.prepare<[number], string>('SELECT id FROM reservations WHERE lease_until < ?').pluck()
  const ofInstance = db.prepare<[string], string>('SELECT id FROM reservations WHERE instance = ?').pluck()

  const liveFile = db.prepare<[string, string], FileRow>(
    'SELECT * FROM files WHERE principal = ? AND key = ? AND ended_at IS NULL',
  )
  const endAsExpired = db.prepare<[number]>(
    "UPDATE files SET ended_at = expires_at, end = 'expired' WHERE sequence = ?",
  )
  const boundSha256 = db.prepare<[string], string>('SELECT sha256 FROM names WHERE key = ?').pluck()
  const bindName = db.prepare<[string, string]>('INSERT INTO names (key, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const insertObject = db.prepare<[string, number, number, Uint8Array | null]>(
    // A commit without inline bytes proves that the blob store holds them now, so an older inline copy is dropped.
    `INSERT INTO objects (sha256, size_bytes, created_at, inline) VALUES (?, ?, ?, ?)
     ON CONFLICT (sha256) DO UPDATE SET inline = NULL WHERE excluded.inline IS NULL AND objects.inline IS NOT NULL`,
  )
  const insertFile = db.prepare(
    `INSERT INTO files (principal, key, cid, sha256, size_bytes, content_type, filename, visibility, owner, sponsored,
       verified, term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const charge = db.prepare<[string, string, number]>(
    `INSERT INTO usage (principal, day, bytes, files) VALUES (?, ?, ?, 1)
     ON CONFLICT (principal, day) DO UPDATE SET bytes = bytes + excluded.bytes, files = files + 1`,
  )

  const usedBytes = (principal: string, day: string): number =>
    (chargedBytes.get(principal, day) ?? 0) + (reservedBytes.get(principal, day) ?? 0)

  const conflicting = (key: string, sha256: string): string | undefined => {
    if (!key.startsWith('opaque:')) return undefined
    const bound = boundSha256.get(key)
    return bound === undefined || bound === sha256 ? undefined : bound
  }

  function release({ reservationId, now }: { reservationId: string; now: number }): void {
    const held = reservation.get(reservationId)
    if (held === undefined) return
    deleteReservation.run(reservationId)
    if (held.claimed_sha256 !== null) discards.discardUnlessNeeded(held.claimed_sha256, now)
  }

  return {
    release,

    reserve(request: ReserveRequest): ReserveOutcome {
      const { principal, day } = request
      const flying = inFlight.get(principal) ?? 0
      if (flying >= request.maxInFlight) return { outcome: 'too_many_in_flight', inFlight: flying }
      const live = liveFile.get(principal, request.key)
      const isRetry = live !== undefined && live.expires_at > request.now
      const bytes = isRetry ? 0 : request.sizeBytes
      const used = usedBytes(principal, day)
      if (bytes > 0 && used + bytes > request.capBytes) return { outcome: 'over_quota', usedBytes: used }
      const { reservationId, instanceId, capBytes, leaseUntil } = request
      insertReservation.run(reservationId, instanceId, principal, day, bytes, capBytes, leaseUntil)
      return { outcome: 'reserved', reservedBytes: bytes, usedBytes: used + bytes }
    },

    claim({ reservationId, key, sha256 }: { reservationId: string; key: string; sha256: string }): ClaimOutcome {
      if (reservation.get(reservationId) === undefined) return { outcome: 'lost' }
      const bound = conflicting(key, sha256)
      if (bound !== undefined) return { outcome: 'conflict', sha256: bound }
      if (!discards.cancel(sha256)) return { outcome: 'busy' }
      claimBytes.run(sha256, reservationId)
      return { outcome: 'claimed', stored: discards.blobExists(sha256) }
    },

    commit({ reservationId, now, inline, file }: UploadCommit): CommitOutcome {
      const held = reservation.get(reservationId)
      if (held === undefined) return { outcome: 'lost' }
      const { principal, key, sha256 } = file
      const bound = conflicting(key, sha256)
      if (bound !== undefined) return { outcome: 'conflict', sha256: bound }

      const live = liveFile.get(principal, key)
      if (live !== undefined && live.expires_at > now) {
        deleteReservation.run(reservationId)
        return { outcome: 'retry', file: fileFromRow(live), usedBytes: usedBytes(principal, held.day) }
      }
      const othersBytes = usedBytes(principal, held.day) - held.bytes
      if (held.bytes !== file.sizeBytes && othersBytes + file.sizeBytes > held.cap_bytes) {
        return { outcome: 'over_quota', usedBytes: othersBytes }
      }
      if (live !== undefined) endAsExpired.run(live.sequence)
      deleteReservation.run(reservationId)
      if (key.startsWith('opaque:')) bindName.run(key, sha256)
      insertObject.run(sha256, file.sizeBytes, now, inline ?? null)
      const { lastInsertRowid } = insertFile.run(
        principal,
        key,
        file.cid,
        sha256,
        file.sizeBytes,
        file.contentType,
        file.filename,
        file.visibility,
        file.owner,
        file.sponsored ? 1 : 0,
        file.verified ? 1 : 0,
        file.termDays,
        file.uploadedAt,
        file.expiresAt,
        file.dealId,
        held.day,
        file.sizeBytes,
      )
      charge.run(principal, held.day, file.sizeBytes)
      const recorded: FileRecord = { ...file, sequence: Number(lastInsertRowid), endedAt: null, end: null }
      return { outcome: 'recorded', file: recorded, usedBytes: othersBytes + file.sizeBytes }
    },

    extendLeases({ instanceId, leaseUntil }: { instanceId: string; leaseUntil: number }): void {
      extend.run(leaseUntil, instanceId)
    },

    releaseExpired({ now }: { now: number }): number {
      const ids = expired.all(now)
      for (const reservationId of ids) release({ reservationId, now })
      return ids.length
    },

    releaseAllOf(instanceId: string, now: number): number {
      const ids = ofInstance.all(instanceId)
      for (const reservationId of ids) release({ reservationId, now })
      return ids.length
    },
  }
}
