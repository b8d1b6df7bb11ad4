import { type Amount, type Caps, decideQuota, type QuotaState } from '../../quota-rule/decide-quota.ts'
import type { AdmitAll, AdmitRequest, FileCommit } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { type AtOnceReply, askedFor, type FileRecording, handlesOf, type KnownBefore } from './file-recording.ts'
import { dayLeft, prepareQuotaReads } from './quota-reads.ts'
import { mapEach, type Sql, type Steps, together } from './sql.ts'
import { haveTakedownsChanged, prepareTakedownReads } from './takedown-reads.ts'
import { type AddedFiles, prepareUsageWrites } from './usage-writes.ts'

/** An upload whose bytes are all here, and what it asks of the quota. */
export interface AtOnceRequest {
  readonly admit: AdmitRequest
  readonly commit: FileCommit
}

/** What uploads of one principal have in common while they are decided about. */
interface Shared {
  readonly caps: Caps
  /** As quotas are now; undefined where the records have to be asked. */
  state: QuotaState | undefined
  /** What was charged and is not written yet; undefined where each charge is written with its file. */
  unwritten: AddedFiles | undefined
}

/** Uploads that are admitted and recorded in one step. Each function runs inside the caller's transaction. */
export function prepareAtOnceWrites(db: Sql, { agree, knownOf, keepRetry, record }: FileRecording) {
  const content = prepareContentReads(db)
  const { capsOf, stateFor } = prepareQuotaReads(db)
  const { filesAdded } = prepareUsageWrites(db)
  const takedowns = prepareTakedownReads(db)

  function* writeCharges(shared: Shared, { principal, day, token }: AdmitRequest): Steps<void> {
    const added = shared.unwritten
    if (added === undefined || added.files === 0) return
    shared.unwritten = NO_FILES
    yield* filesAdded(principal, { day, token: token?.id }, added)
  }

  /** Admits and records one upload, and leaves in `shared` what is true after it. */
  function* commitOne({ admit, commit }: AtOnceRequest, known: KnownBefore, shared: Shared): Steps<AtOnceReply> {
    const { principal, day, key, token, maxInFlight, now } = admit
    const { caps } = shared
    const { sizeBytes } = commit.file
    const retried = known.open !== undefined && known.open.expires_at > now ? known.open : undefined
    const folder =
      retried === undefined && commit.folder !== undefined
        ? yield* agree({ ...commit, folder: commit.folder })
        : undefined
    if (folder !== undefined && 'outcome' in folder) return folder
    const asked = retried === undefined ? askedFor(sizeBytes, folder) : { bytes: 0, files: 0 }
    let { state } = shared
    // A refusal is decided by what the records say, and not by what was added up.
    if (state === undefined || decideQuota(state, { ...caps, asked, maxInFlight }).outcome !== 'fits') {
      yield* writeCharges(shared, admit)
      state = yield* stateFor({ principal, day, token, ...caps }, caps, { asked, now })
    }
    shared.state = undefined
    const decision = decideQuota(state, { ...caps, asked, maxInFlight })
    if (decision.outcome === 'too_many_in_flight') return decision
    // A file under this key would have let the upload in; only then is it of interest whether the key is bound.
    const isLetIn = decision.outcome === 'fits' || (yield* content.liveFile(principal, key, now)) !== undefined
    const left = dayLeft(state, caps, admit.capBytes, decision.outcome === 'fits' ? asked.bytes : 0)
    if (!isLetIn) return { ...decision, ...left }
    const bound = yield* content.boundElsewhere(key, handlesOf(commit))
    if (bound !== undefined || retried !== undefined) shared.state = state
    if (bound !== undefined) return { outcome: 'conflict', object: bound }
    if (decision.outcome === 'over_quota') return { ...decision, ...left }
    const { usedBytes } = decision
    if (retried !== undefined) return { ...(yield* keepRetry(retried, commit, usedBytes)), ...left }
    // A file whose term was over, and the members of a folder, change more than this file adds.
    const isPlain = known.open === undefined && folder === undefined
    if (!isPlain) yield* writeCharges(shared, admit)
    const { unwritten } = shared
    const sum = (added: AddedFiles): void => {
      shared.unwritten = sumOf(unwritten ?? NO_FILES, added)
    }
    const isSummed = isPlain && unwritten !== undefined
    const sequence = yield* record(commit, known, { day, token: token?.id, ...(isSummed && { sum }) }, folder)
    if (isPlain) shared.state = withFile(state, sizeBytes)
    return { outcome: 'recorded', sequence, usedBytes: usedBytes + asked.bytes, ...left }
  }

  /** Uploads of one principal, under the same limits. */
  function* commitSharing(requests: readonly AtOnceRequest[]): Steps<AtOnceReply[]> {
    const [first] = requests
    if (first === undefined) return []
    const [revision, caps, firstKnown] = yield* together(
      takedowns.revision(),
      capsOf(first.admit),
      knownOf(first.commit),
    )
    // The charge of one is written at the same time as its file, which is a round trip less.
    const shared: Shared = { caps, state: undefined, unwritten: requests.length === 1 ? undefined : NO_FILES }
    const replies = yield* mapEach(requests, function* (request): Steps<AtOnceReply> {
      if (haveTakedownsChanged(request.commit, revision)) return { outcome: 'takedowns_changed' }
      const known = request === first ? firstKnown : yield* knownOf(request.commit)
      return yield* commitOne(request, known, shared)
    })
    yield* writeCharges(shared, first.admit)
    return replies
  }

  return {
    /** Uploads of anybody, each recorded or refused by itself. What those of one principal share is read once. */
    *commitEach(requests: readonly AtOnceRequest[]): Steps<AtOnceReply[]> {
      const replies: AtOnceReply[] = []
      const places = Map.groupBy(requests.keys(), (place) => sharedBy(requests[place]?.admit))
      for (const sharing of places.values()) {
        const made = yield* commitSharing(sharing.map((place) => requests[place] as AtOnceRequest))
        for (const [index, place] of sharing.entries()) replies[place] = made[index] as AtOnceReply
      }
      return replies
    },

    *commitAtOnce(request: AtOnceRequest): Steps<AtOnceReply> {
      const [reply] = yield* commitSharing([request])
      return reply as AtOnceReply
    },

    *commitTogether({ admit, commits }: { admit: AdmitAll; commits: readonly FileCommit[] }): Steps<AtOnceReply[]> {
      return yield* commitSharing(
        commits.map((commit) => {
          const { key, sizeBytes } = commit.file
          return { admit: { ...admit, key, sizeBytes }, commit }
        }),
      )
    },
  }
}

/** The same for uploads of which one reads what all of them need. */
function sharedBy(admit: AdmitRequest | undefined): string {
  if (admit === undefined) return ''
  const { principal, day, token, capBytes, capFiles, capStoredBytes } = admit
  return JSON.stringify([principal, day, token, capBytes, capFiles, capStoredBytes])
}

/** What quotas are when a file of so many bytes was added. */
function withFile(state: QuotaState, sizeBytes: number): QuotaState {
  const { used, tokenBytes, storedBytes, network } = state
  const add = ({ bytes, files }: Amount): Amount => ({ bytes: bytes + sizeBytes, files: files + 1 })
  return {
    ...state,
    used: add(used),
    tokenBytes: tokenBytes === undefined ? undefined : tokenBytes + sizeBytes,
    storedBytes: storedBytes === undefined ? undefined : storedBytes + sizeBytes,
    network: network && {
      ...network,
      used: add(network.used),
      storedBytes: network.storedBytes === undefined ? undefined : network.storedBytes + sizeBytes,
    },
  }
}

const NO_FILES: AddedFiles = { bytes: 0, storedBytes: 0, files: 0 }

function sumOf(one: AddedFiles, other: AddedFiles): AddedFiles {
  return {
    bytes: one.bytes + other.bytes,
    storedBytes: one.storedBytes + other.storedBytes,
    files: one.files + other.files,
  }
}
