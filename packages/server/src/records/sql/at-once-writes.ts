import { type Amount, type Caps, decideQuota, type QuotaState } from '../../quota-rule/decide-quota.ts'
import type { AdmitAll, AdmitRequest, FileCommit } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { type AtOnceReply, askedFor, type FileRecording, handlesOf, type KnownBefore } from './file-recording.ts'
import { dayLeft, prepareQuotaReads } from './quota-reads.ts'
import { forEach, type Sql, type Steps, together } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'

/** Uploads that are admitted and recorded in one step. Each function runs inside the caller's transaction. */
export function prepareAtOnceWrites(db: Sql, { agree, knownOf, keepRetry, record }: FileRecording) {
  const content = prepareContentReads(db)
  const { capsOf, stateFor } = prepareQuotaReads(db)
  const takedowns = prepareTakedownReads(db)

  /**
   * Admits and records an upload whose bytes are all here.
   *
   * @param request.state - as quotas are now; read here where it is not known.
   * @returns with what quotas are afterwards, where that is known.
   */
  function* commitOne(request: {
    readonly admit: AdmitRequest
    readonly commit: FileCommit
    readonly caps: Caps
    readonly known: KnownBefore
    readonly state?: QuotaState | undefined
  }): Steps<{ readonly reply: AtOnceReply; readonly after?: QuotaState | undefined }> {
    const { admit, commit, caps, known } = request
    const { principal, day, key, token, maxInFlight, now } = admit
    const { sizeBytes } = commit.file
    const retried = known.open !== undefined && known.open.expires_at > now ? known.open : undefined
    const folder =
      retried === undefined && commit.folder !== undefined
        ? yield* agree({ ...commit, folder: commit.folder })
        : undefined
    if (folder !== undefined && 'outcome' in folder) return { reply: folder }
    const asked = retried === undefined ? askedFor(sizeBytes, folder) : { bytes: 0, files: 0 }
    let state = request.state
    // A refusal is decided by what the records say, and not by what was added up.
    if (state === undefined || decideQuota(state, { ...caps, asked, maxInFlight }).outcome !== 'fits') {
      state = yield* stateFor({ principal, day, token, ...caps }, caps, { asked, now })
    }
    const decision = decideQuota(state, { ...caps, asked, maxInFlight })
    if (decision.outcome === 'too_many_in_flight') return { reply: decision }
    // A file under this key would have let the upload in; only then is it of interest whether the key is bound.
    const isLetIn = decision.outcome === 'fits' || (yield* content.liveFile(principal, key, now)) !== undefined
    const left = dayLeft(state, caps, admit.capBytes, decision.outcome === 'fits' ? asked.bytes : 0)
    if (!isLetIn) return { reply: { ...decision, ...left } }
    const bound = yield* content.boundElsewhere(key, handlesOf(commit))
    if (bound !== undefined) return { reply: { outcome: 'conflict', object: bound }, after: state }
    if (decision.outcome === 'over_quota') return { reply: { ...decision, ...left } }
    const { usedBytes } = decision
    if (retried !== undefined) {
      return { reply: { ...(yield* keepRetry(retried, commit, usedBytes)), ...left }, after: state }
    }
    const sequence = yield* record(commit, known, { day, token: token?.id }, folder)
    const reply: AtOnceReply = { outcome: 'recorded', sequence, usedBytes: usedBytes + asked.bytes, ...left }
    // A file whose term was over, and the members of a folder, have changed more than this file adds.
    const isPlain = known.open === undefined && folder === undefined
    return { reply, after: isPlain ? withFile(state, sizeBytes) : undefined }
  }

  return {
    *commitAtOnce({ admit, commit }: { admit: AdmitRequest; commit: FileCommit }): Steps<AtOnceReply> {
      const [haveChanged, caps, known] = yield* together(takedowns.haveChanged(commit), capsOf(admit), knownOf(commit))
      if (haveChanged) return { outcome: 'takedowns_changed' }
      const { reply } = yield* commitOne({ admit, commit, caps, known })
      return reply
    },

    *commitTogether({ admit, commits }: { admit: AdmitAll; commits: readonly FileCommit[] }): Steps<AtOnceReply[]> {
      const [first] = commits
      if (first !== undefined && (yield* takedowns.haveChanged(first))) {
        return commits.map(() => ({ outcome: 'takedowns_changed' }))
      }
      const caps = yield* capsOf(admit)
      const replies: AtOnceReply[] = []
      let state: QuotaState | undefined
      yield* forEach(commits, function* (commit) {
        const { key, sizeBytes } = commit.file
        const known = yield* knownOf(commit)
        const done = yield* commitOne({ admit: { ...admit, key, sizeBytes }, commit, caps, known, state })
        state = done.after
        replies.push(done.reply)
      })
      return replies
    },
  }
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
