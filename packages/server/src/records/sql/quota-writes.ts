import { type Caps, decideGrowth, decideQuota, type QuotaState } from '../../quota-rule/decide-quota.ts'
import type { BlobName } from '../inventory-records.ts'
import { sha256Of } from '../object-handle.ts'
import type {
  ClaimOutcome,
  DayLeft,
  ExtendLeasesRequest,
  GrowOutcome,
  GrowRequest,
  ReserveOutcome,
  ReserveRequest,
  UploadCommit,
} from '../record-store.ts'
import { prepareAtOnceWrites } from './at-once-writes.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DealWrites } from './deal-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { askedFor, type CommitReply, handlesOf, hasNamedPut, prepareFileRecording } from './file-recording.ts'
import { type Asking, dayLeft, prepareQuotaReads } from './quota-reads.ts'
import { forEach, type Sql, type SqlValue, type Steps } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'

interface ReservationRow {
  readonly id: string
  readonly principal: string
  readonly day: string
  readonly bytes: number
  readonly cap_bytes: number
  readonly cap_files: number
  readonly cap_stored: number | null
  readonly token: string | null
  readonly cap_token: number | null
  readonly claimed_sha256: string | null
  readonly claimed_put: string
}

interface ClaimRequest extends BlobName {
  readonly reservationId: string
  readonly key: string
  readonly now?: number | undefined
}

interface ReleaseRequest {
  readonly reservationId: string
  readonly now: number
  readonly published?: BlobName | undefined
}

/** Reservations and charges. Each function runs inside the caller's transaction. */
export function prepareQuotaWrites(db: Sql, contents: ContentWrites, discards: DiscardWrites, deals: DealWrites) {
  const content = prepareContentReads(db)
  const { decide, quotaState, stateFor } = prepareQuotaReads(db)
  const recording = prepareFileRecording(db, contents, discards, deals)
  const { agree, knownOf, keepRetry, record, replacePut } = recording
  const takedowns = prepareTakedownReads(db)
  const insertReservation = db.prepare<SqlValue[]>(
    `INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, cap_files, lease_until, cap_stored, token, cap_token)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const reservation = db.prepare<[string], ReservationRow>('SELECT * FROM reservations WHERE id = ?')
  const deleteReservation = db.prepare<[string]>('DELETE FROM reservations WHERE id = ?')
  const setReserved = db.prepare<[number, string]>('UPDATE reservations SET bytes = ? WHERE id = ?')
  const completeUpload = db.prepare<[number, number, string, string]>(
    `UPDATE open_uploads SET size_bytes = ?, durable_bytes = ?, cid = ?, place = '', writer = NULL WHERE id = ?`,
  )
  const reservationOfPart = db.prepare<[string], ReservationRow>(
    'SELECT * FROM reservations WHERE id = (SELECT reservation FROM open_uploads WHERE id = ?)',
  )
  const deleteOpenUpload = db.prepare<[string]>('DELETE FROM open_uploads WHERE id = ?')
  const claimBytes = db.prepare<[string, string, string]>(
    'UPDATE reservations SET claimed_sha256 = ?, claimed_put = ? WHERE id = ?',
  )
  const extend = db.prepare<[number, string, number]>(
    'UPDATE reservations SET lease_until = ? WHERE instance = ? AND lease_until < ?',
  )
  const expired = db.prepare<[number], string>('SELECT id FROM reservations WHERE lease_until < ?').pluck()
  const ofInstance = db.prepare<[string], string>('SELECT id FROM reservations WHERE instance = ?').pluck()

  /** Forgets a reservation; what it had claimed and nobody needs any more is to be removed. */
  function* settle(held: ReservationRow, now: number): Steps<void> {
    yield* deleteReservation.run(held.id)
    if (held.claimed_sha256 === null) return
    yield* discards.discardUnlessNeeded({ sha256: held.claimed_sha256, put: held.claimed_put }, { now })
  }

  function* release({ reservationId, now, published }: ReleaseRequest): Steps<void> {
    const held = yield* reservation.get(reservationId)
    if (held !== undefined) yield* settle(held, now)
    if (published !== undefined) yield* discards.discardUnlessNeeded(published, { now })
  }

  /** What the parts of a concatenation have reserved of the same day, beside the one whose reservation the commit is of. */
  function* reservedByParts({ completes }: UploadCommit, held: ReservationRow): Steps<number> {
    let bytes = 0
    for (const id of completes?.partIds ?? []) {
      const part = yield* reservationOfPart.get(id)
      if (part !== undefined && part.id !== held.id && part.day === held.day) bytes += part.bytes
    }
    return bytes
  }

  /** The upload in several requests is a file now, and its parts have ended. */
  function* complete({ completes, file, now }: UploadCommit): Steps<void> {
    if (completes === undefined) return
    yield* forEach(completes.partIds, function* (id) {
      const part = yield* reservationOfPart.get(id)
      if (part !== undefined) yield* settle(part, now)
      yield* deleteOpenUpload.run(id)
    })
    yield* completeUpload.run(file.sizeBytes, file.sizeBytes, file.cid, completes.id)
  }

  return {
    ...prepareAtOnceWrites(db, recording),
    release,

    *reserve(request: ReserveRequest): Steps<ReserveOutcome> {
      const { outcome, caps } = yield* decide(request)
      if (outcome.outcome !== 'reserved') return outcome
      const { reservationId, instanceId, principal, day, token, leaseUntil, grows = false } = request
      const { capBytes, capFiles, capStoredBytes = null } = caps
      const reservedBytes = grows ? 0 : outcome.reservedBytes
      const upload = [reservationId, instanceId, principal, day, reservedBytes, capBytes, capFiles, leaseUntil]
      yield* insertReservation.run(...upload, capStoredBytes, token?.id ?? null, token?.capBytes ?? null)
      return { ...outcome, reservedBytes, usedBytes: outcome.usedBytes - outcome.reservedBytes + reservedBytes }
    },

    *grow({ reservationId, principal, key, leastBytes, wantedBytes, now }: GrowRequest): Steps<GrowOutcome> {
      const held = yield* reservation.get(reservationId)
      if (held === undefined) return { outcome: 'lost' }
      // An upload of a file that the principal has already asks for nothing.
      if ((yield* content.liveFile(principal, key, now)) !== undefined) {
        return { outcome: 'grown', allowedBytes: wantedBytes }
      }
      const caps = heldCaps(held)
      const request = { asked: { bytes: wantedBytes, files: 1 }, reservedBytes: held.bytes }
      const state = yield* stateFor({ ...heldAsking(held), ...caps }, caps, { ...request, now })
      const decision = decideGrowth(state, { ...caps, ...request, leastBytes })
      if (decision.outcome === 'over_quota') return { ...decision, ...heldDayLeft(held, state, 0) }
      const allowedBytes = Math.max(held.bytes, decision.bytes)
      yield* setReserved.run(allowedBytes, reservationId)
      return { outcome: 'grown', allowedBytes }
    },

    *claim({ reservationId, key, sha256, put, now = 0 }: ClaimRequest): Steps<ClaimOutcome> {
      const held = yield* reservation.get(reservationId)
      if (held === undefined) return { outcome: 'lost' }
      const bound = yield* content.boundElsewhere(key, [sha256])
      // What is known by its piece alone may be these bytes: the commit, which knows their piece, decides.
      if (bound !== undefined && sha256Of(bound) !== null) return { outcome: 'conflict', object: bound }
      // A put that has a name is new, so that no removal of it was ever planned.
      if (put === '' && !(yield* discards.cancel({ sha256, put }))) return { outcome: 'busy' }
      yield* claimBytes.run(sha256, put, reservationId)
      // An upload in several requests may have claimed before, and ended otherwise.
      const { claimed_sha256: earlier, claimed_put: earlierPut } = held
      if (earlier !== null && (earlier !== sha256 || earlierPut !== put)) {
        yield* discards.discardUnlessNeeded({ sha256: earlier, put: earlierPut }, { now })
      }
      return { outcome: 'claimed' }
    },

    *commit(commit: UploadCommit): Steps<CommitReply> {
      const { reservationId, now, file } = commit
      const held = yield* reservation.get(reservationId)
      if (held === undefined) return { outcome: 'lost' }
      if (yield* takedowns.haveChanged(commit)) return { outcome: 'takedowns_changed' }
      const { key, sizeBytes } = file
      const bound = yield* content.boundElsewhere(key, handlesOf(commit))
      if (bound !== undefined) return { outcome: 'conflict', object: bound }

      const known = yield* knownOf(commit)
      if (known.open !== undefined && known.open.expires_at > now) {
        const { object } = known.open
        yield* replacePut(object, commit)
        if (hasNamedPut(commit)) yield* contents.usePut(object, commit.put)
        yield* settle(held, now)
        yield* complete(commit)
        const state = yield* quotaState(heldAsking(held))
        return { ...(yield* keepRetry(known.open, commit, state.used.bytes)), ...heldDayLeft(held, state, 0) }
      }
      const folder = commit.folder && (yield* agree({ ...commit, folder: commit.folder }))
      if (folder !== undefined && 'outcome' in folder) return folder
      const asked = askedFor(sizeBytes, folder)
      const chargedBytes = asked.bytes
      const caps = heldCaps(held)
      const request = { asked, reservedBytes: held.bytes + (yield* reservedByParts(commit, held)) }
      // What has reserved its bytes is not asked about them again.
      const state = yield* request.reservedBytes === chargedBytes && folder === undefined
        ? quotaState(heldAsking(held))
        : stateFor({ ...heldAsking(held), ...caps }, caps, { ...request, now })
      const decision = decideQuota(state, { ...caps, ...request })
      if (decision.outcome === 'over_quota') return { ...decision, ...heldDayLeft(held, state, 0) }
      yield* deleteReservation.run(reservationId)
      yield* complete(commit)
      const sequence = yield* record(commit, known, { day: held.day, token: held.token ?? undefined }, folder)
      const left = heldDayLeft(held, state, chargedBytes - request.reservedBytes)
      return { outcome: 'recorded', sequence, usedBytes: decision.usedBytes + chargedBytes, ...left }
    },

    *extendLeases({ instanceId, endingBefore, leaseUntil }: ExtendLeasesRequest): Steps<void> {
      yield* extend.run(leaseUntil, instanceId, endingBefore)
    },

    *releaseExpired({ now }: { now: number }): Steps<number> {
      const ids = yield* expired.all(now)
      yield* forEach(ids, (reservationId) => release({ reservationId, now }))
      return ids.length
    },

    *releaseAllOf(instanceId: string, now: number): Steps<number> {
      const ids = yield* ofInstance.all(instanceId)
      yield* forEach(ids, (reservationId) => release({ reservationId, now }))
      return ids.length
    },
  }
}

/** The limits that a reservation was made under. */
function heldCaps({ cap_bytes, cap_files, cap_stored, cap_token }: ReservationRow): Caps {
  return {
    capBytes: cap_bytes,
    capFiles: cap_files,
    capStoredBytes: cap_stored ?? undefined,
    capTokenBytes: cap_token ?? undefined,
  }
}

function heldAsking({ principal, day, token, cap_token }: ReservationRow): Asking {
  return { principal, day, ...(token !== null && { token: { id: token, capBytes: cap_token ?? 0 } }) }
}

/** Where a token asked, always, since the caps that were asked about first are not known any more. */
function heldDayLeft(held: ReservationRow, state: QuotaState, added: number): { readonly day?: DayLeft } {
  const caps = heldCaps(held)
  return dayLeft(state, caps, held.token === null ? caps.capBytes : Number.NaN, added)
}
