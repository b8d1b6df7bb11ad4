import type {
  AdmitRequest,
  ClaimOutcome,
  CommitOutcome,
  FileCommit,
  ReserveOutcome,
  ReserveRequest,
  UploadCommit,
} from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import { prepareQuotaReads } from './quota-reads.ts'

interface ReservationRow {
  readonly id: string
  readonly principal: string
  readonly day: string
  readonly bytes: number
  readonly cap_bytes: number
  readonly claimed_sha256: string | null
}

/** A commit's outcome on its way back: the caller, who has the file, needs only its sequence. */
export type CommitReply =
  | Exclude<CommitOutcome, { outcome: 'recorded' }>
  | { readonly outcome: 'recorded'; readonly sequence: number; readonly usedBytes: number }

type AtOnceReply = CommitReply | Exclude<ReserveOutcome, { outcome: 'reserved' }>

interface ReleaseRequest {
  readonly reservationId: string
  readonly now: number
  readonly published?: string | undefined
}

export type QuotaWrites = ReturnType<typeof prepareQuotaWrites>

/** Reservations and charges. Each function runs inside one transaction that the writer opens. */
export function prepareQuotaWrites(db: Connection, discards: DiscardWrites) {
  const content = prepareContentReads(db)
  const { decide, reservedBytes, usedBytes } = prepareQuotaReads(db)
  const insertReservation = db.prepare(
    'INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const reservation = db.prepare<[string], ReservationRow>('SELECT * FROM reservations WHERE id = ?')
  const deleteReservation = db.prepare<[string]>('DELETE FROM reservations WHERE id = ?')
  const claimBytes = db.prepare<[string, string]>('UPDATE reservations SET claimed_sha256 = ? WHERE id = ?')
  const extend = db.prepare<[number, string]>('UPDATE reservations SET lease_until = ? WHERE instance = ?')
  const expired = db.prepare<[number], string>('SELECT id FROM reservations WHERE lease_until < ?').pluck()
  const ofInstance = db.prepare<[string], string>('SELECT id FROM reservations WHERE instance = ?').pluck()

  const endAsExpired = db.prepare<[number]>(
    "UPDATE files SET ended_at = expires_at, end = 'expired' WHERE sequence = ?",
  )
  const bindName = db.prepare<[string, number]>('INSERT INTO names (name, object) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const insertObject = db.prepare<[string, number, string, Uint8Array | null]>(
    'INSERT INTO objects (sha256, size_bytes, place, inline) VALUES (?, ?, ?, ?)',
  )
  // Bytes that are in the blob store already stay there; inline bytes give way to those.
  const placeObject = db.prepare<[{ id: number; place: string; inline: Uint8Array | null }]>(
    `UPDATE objects SET place = :place, inline = :inline
     WHERE id = :id AND (place = 'none' OR (place = 'inline' AND :place = 'blob'))`,
  )
  const insertFile = db.prepare(
    `INSERT INTO files (object, principal, name, cid, content_type, filename, visibility, owner, sponsored,
       verified, term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const charge = db
    .prepare<[string, string, number], number>(
      `INSERT INTO usage (principal, day, bytes, files) VALUES (?, ?, ?, 1)
       ON CONFLICT (principal, day) DO UPDATE SET bytes = bytes + excluded.bytes, files = files + 1 RETURNING bytes`,
    )
    .pluck()

  const conflicting = (key: string, sha256: string): string | undefined => {
    const bound = content.boundSha256(key)
    return bound === sha256 ? undefined : bound
  }

  /** The object's number, with its bytes where this commit says that they are. */
  function putObject(sha256: string, sizeBytes: number, inline: Uint8Array | undefined): number {
    const place = inline === undefined ? 'blob' : 'inline'
    const id = content.objectOfDigest(sha256)
    if (id === undefined) {
      return Number(insertObject.run(sha256, sizeBytes, place, inline ?? null).lastInsertRowid)
    }
    placeObject.run({ id, place, inline: inline ?? null })
    return id
  }

  /** Forgets a reservation; what it had claimed and nobody needs any more is to be removed. */
  function settle(held: ReservationRow, now: number): void {
    deleteReservation.run(held.id)
    if (held.claimed_sha256 !== null) discards.discardUnlessNeeded(held.claimed_sha256, now)
  }

  function release({ reservationId, now, published }: ReleaseRequest): void {
    const held = reservation.get(reservationId)
    if (held !== undefined) settle(held, now)
    if (published !== undefined) discards.discardUnlessNeeded(published, now)
  }

  /** Records a file whose bytes are in place, and charges it to `day`; the caller has seen to the quota. */
  function record({ inline, file }: FileCommit, live: FileRow | undefined, day: string): CommitReply {
    const { principal, key, sha256, sizeBytes } = file
    if (live !== undefined) endAsExpired.run(live.sequence)
    const object = putObject(sha256, sizeBytes, inline)
    const name = opaqueNameOf(key)
    if (name !== '') bindName.run(name, object)
    const { lastInsertRowid } = insertFile.run(
      object,
      principal,
      name,
      file.cid,
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
      day,
      sizeBytes,
    )
    const charged = charge.get(principal, day, sizeBytes) ?? 0
    return {
      outcome: 'recorded',
      sequence: Number(lastInsertRowid),
      usedBytes: charged + reservedBytes(principal, day),
    }
  }

  return {
    release,

    reserve(request: ReserveRequest): ReserveOutcome {
      const decision = decide(request)
      if (decision.outcome !== 'reserved') return decision
      const { reservationId, instanceId, principal, day, capBytes, leaseUntil } = request
      insertReservation.run(reservationId, instanceId, principal, day, decision.reservedBytes, capBytes, leaseUntil)
      return decision
    },

    commitAtOnce({ admit, commit }: { admit: AdmitRequest; commit: FileCommit }): AtOnceReply {
      const decision = decide(admit)
      if (decision.outcome !== 'reserved') return decision
      const { principal, key, sha256 } = commit.file
      const bound = conflicting(key, sha256)
      if (bound !== undefined) return { outcome: 'conflict', sha256: bound }
      const live = content.liveFile(principal, key)
      if (live !== undefined && live.expires_at > commit.now) {
        return { outcome: 'retry', file: fileFromRow(live), usedBytes: decision.usedBytes }
      }
      return record(commit, live, admit.day)
    },

    claim({ reservationId, key, sha256 }: { reservationId: string; key: string; sha256: string }): ClaimOutcome {
      if (reservation.get(reservationId) === undefined) return { outcome: 'lost' }
      const bound = conflicting(key, sha256)
      if (bound !== undefined) return { outcome: 'conflict', sha256: bound }
      if (!discards.cancel(sha256)) return { outcome: 'busy' }
      claimBytes.run(sha256, reservationId)
      return { outcome: 'claimed' }
    },

    commit(commit: UploadCommit): CommitReply {
      const { reservationId, now, file } = commit
      const held = reservation.get(reservationId)
      if (held === undefined) return { outcome: 'lost' }
      const { principal, key, sha256, sizeBytes } = file
      const bound = conflicting(key, sha256)
      if (bound !== undefined) return { outcome: 'conflict', sha256: bound }

      const live = content.liveFile(principal, key)
      if (live !== undefined && live.expires_at > now) {
        settle(held, now)
        return { outcome: 'retry', file: fileFromRow(live), usedBytes: usedBytes(principal, held.day) }
      }
      if (held.bytes !== sizeBytes) {
        const othersBytes = usedBytes(principal, held.day) - held.bytes
        if (othersBytes + sizeBytes > held.cap_bytes) return { outcome: 'over_quota', usedBytes: othersBytes }
      }
      deleteReservation.run(reservationId)
      return record(commit, live, held.day)
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
