import {
  type Caps,
  decideGrowth,
  decideQuota,
  type QuotaRequest,
  type QuotaState,
} from '../../quota-rule/decide-quota.ts'
import type { BlobName } from '../inventory-records.ts'
import { pieceHandle, sha256Of } from '../object-handle.ts'
import type {
  AdmitRequest,
  ClaimOutcome,
  CommitOutcome,
  DayLeft,
  FileCommit,
  GrowOutcome,
  GrowRequest,
  ReserveOutcome,
  ReserveRequest,
  UploadCommit,
} from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DealWrites } from './deal-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { prepareFileInserts } from './file-inserts.ts'
import { type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import { type AgreedFolder, prepareMemberWrites } from './member-writes.ts'
import { type Asking, dayLeft, prepareQuotaReads } from './quota-reads.ts'
import { forEach, type Sql, type SqlValue, type Steps } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'
import type { Charge } from './usage-writes.ts'

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

/** A commit's outcome on its way back: the caller, who has the file, needs only its sequence. */
export type CommitReply =
  | Exclude<CommitOutcome, { outcome: 'recorded' }>
  | { readonly outcome: 'recorded'; readonly sequence: number; readonly usedBytes: number; readonly day?: DayLeft }

type AtOnceReply = CommitReply | Exclude<ReserveOutcome, { outcome: 'reserved' }>

/** What the records know of the bytes of a commit before it. `open` has not been ended; its term may be over. */
interface KnownBefore {
  readonly object: number | undefined
  readonly open: FileRow | undefined
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
export function prepareQuotaWrites(
  db: Sql,
  contents: ContentWrites,
  discards: DiscardWrites,
  { placeFile }: DealWrites,
) {
  const content = prepareContentReads(db)
  const { decide, capsOf, quotaState, stateFor } = prepareQuotaReads(db)
  const { endAsExpired, insertFile } = prepareFileInserts(db)
  const { agree, endTaken, keepMembers } = prepareMemberWrites(db)
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
  const extend = db.prepare<[number, string]>('UPDATE reservations SET lease_until = ? WHERE instance = ?')
  const expired = db.prepare<[number], string>('SELECT id FROM reservations WHERE lease_until < ?').pluck()
  const ofInstance = db.prepare<[string], string>('SELECT id FROM reservations WHERE instance = ?').pluck()

  function* knownOf(commit: FileCommit): Steps<KnownBefore> {
    const { file } = commit
    const [digest, unread] = handlesOf(commit)
    const object = (yield* content.objectOfHandle(digest)) ?? (yield* content.objectOfHandle(unread))
    const open = object === undefined ? undefined : yield* content.openFile(file.principal, object, file.key)
    return { object, open }
  }

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

  /** What was put before for an object goes once its readers are through. Its bytes may have been what made somebody upload them again. */
  function* replacePut(object: number, commit: FileCommit): Steps<void> {
    if (!hasNamedPut(commit)) return
    yield* discards.discardReplaced(object, commit.put, { now: commit.now, dueAt: commit.replacedUntil ?? commit.now })
  }

  /** The verified bytes of the commit take the place of what is stored; a blob that they replace in the records goes. */
  function* putBytes(object: number, commit: FileCommit): Steps<void> {
    const put = yield* contents.putBytes(object, commit)
    if (put === undefined) return
    yield* discards.discardUnlessNeeded({ sha256: commit.file.sha256, put }, { now: commit.now })
  }

  /** Keeps what a commit of bytes brought that are staged already. */
  function* keepRetry(row: FileRow, commit: FileCommit, usedBytes: number): Steps<CommitReply> {
    yield* contents.learn(row.object, commit.content, commit.file.sha256)
    yield* putBytes(row.object, commit)
    const file = fileFromRow({ ...row, handle: commit.file.sha256 })
    return { outcome: 'retry', file: { ...file, pieceRoot: commit.content.pieceRoot }, usedBytes }
  }

  /** Records a file whose bytes are in place, and charges it to `day`; the caller has seen to the quota. */
  function* record(
    commit: FileCommit,
    { object: known, open }: KnownBefore,
    { day, token }: Pick<Charge, 'day' | 'token'>,
    folder?: AgreedFolder,
  ): Steps<number> {
    const { file } = commit
    if (open !== undefined) yield* endAsExpired(open, commit.now)
    if (known !== undefined) yield* replacePut(known, commit)
    const object = yield* contents.putObject(commit, known)
    if (known !== undefined) yield* putBytes(object, commit)
    // Bytes that are kept as those of parts stay so, and those that came now go again.
    if (known !== undefined && commit.inline === undefined && (yield* contents.isComposed(known))) {
      yield* discards.discardUnlessNeeded({ sha256: file.sha256, put: commit.put ?? '' }, { now: commit.now })
    }
    const name = opaqueNameOf(file.key)
    if (name !== '') yield* contents.bindName(name, object)
    const bytes = file.sizeBytes + (folder?.chargedBytes ?? 0)
    const sequence = yield* insertFile(object, file, { day, bytes, token }, folder?.stored)
    if (folder !== undefined) {
      yield* keepMembers(object, folder)
      yield* endTaken(folder, sequence, file.principal, commit.now)
    }
    if (commit.placement !== undefined) yield* placeFile(sequence, commit.placement, commit.now)
    return sequence
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

    *commitAtOnce({ admit, commit }: { admit: AdmitRequest; commit: FileCommit }): Steps<AtOnceReply> {
      const { principal, day, key, token, maxInFlight, now } = admit
      if (yield* takedowns.haveChanged(commit)) return { outcome: 'takedowns_changed' }
      const { sizeBytes } = commit.file
      const caps = yield* capsOf(admit)
      const known = yield* knownOf(commit)
      const retried = known.open !== undefined && known.open.expires_at > now ? known.open : undefined
      const folder =
        retried === undefined && commit.folder !== undefined
          ? yield* agree({ ...commit, folder: commit.folder })
          : undefined
      if (folder !== undefined && 'outcome' in folder) return folder
      const asked = retried === undefined ? askedFor(sizeBytes, folder) : { bytes: 0, files: 0 }
      const state = yield* stateFor({ principal, day, token, ...caps }, caps, { asked, now })
      const decision = decideQuota(state, { ...caps, asked, maxInFlight })
      if (decision.outcome === 'too_many_in_flight') return decision
      // A file under this key would have let the upload in; only then is it of interest whether the key is bound.
      const isLetIn = decision.outcome === 'fits' || (yield* content.liveFile(principal, key, now)) !== undefined
      const left = dayLeft(state, caps, admit.capBytes, decision.outcome === 'fits' ? asked.bytes : 0)
      if (!isLetIn) return { ...decision, ...left }
      const bound = yield* content.boundElsewhere(key, handlesOf(commit))
      if (bound !== undefined) return { outcome: 'conflict', object: bound }
      if (decision.outcome === 'over_quota') return { ...decision, ...left }
      const { usedBytes } = decision
      if (retried !== undefined) return { ...(yield* keepRetry(retried, commit, usedBytes)), ...left }
      const sequence = yield* record(commit, known, { day, token: token?.id }, folder)
      return { outcome: 'recorded', sequence, usedBytes: usedBytes + asked.bytes, ...left }
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

    *extendLeases({ instanceId, leaseUntil }: { instanceId: string; leaseUntil: number }): Steps<void> {
      yield* extend.run(leaseUntil, instanceId)
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

/** What a file asks for. A folder is stored with its members from now on, of which those that were sent for it are stored already. */
function askedFor(sizeBytes: number, folder: AgreedFolder | undefined): QuotaRequest['asked'] {
  if (folder === undefined) return { bytes: sizeBytes, files: 1 }
  const { stored, chargedBytes, takenBytes } = folder
  const storedBytes = Math.max(0, sizeBytes + stored.memberBytes - takenBytes)
  return { bytes: sizeBytes + chargedBytes, files: 1, storedBytes }
}

/** True for bytes that were put into a blob store where every put has a place of its own. */
function hasNamedPut(commit: FileCommit): commit is FileCommit & { readonly put: string } {
  return commit.put !== undefined && commit.put !== ''
}

/** What the object of these bytes can be called. */
function handlesOf({ file, content }: FileCommit): readonly [digest: string, unread: string] {
  return [file.sha256, pieceHandle({ pieceRoot: content.pieceRoot, sizeBytes: file.sizeBytes })]
}
