import type { QuotaRequest } from '../../quota-rule/decide-quota.ts'
import { pieceHandle } from '../object-handle.ts'
import type { CommitOutcome, DayLeft, FileCommit, ReserveOutcome } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DealWrites } from './deal-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { prepareFileInserts } from './file-inserts.ts'
import { type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import { type AgreedFolder, prepareMemberWrites } from './member-writes.ts'
import { type Sql, type Steps, together } from './sql.ts'
import type { Charge } from './usage-writes.ts'

/** A commit's outcome on its way back: the caller, who has the file, needs only its sequence. */
export type CommitReply =
  | Exclude<CommitOutcome, { outcome: 'recorded' }>
  | { readonly outcome: 'recorded'; readonly sequence: number; readonly usedBytes: number; readonly day?: DayLeft }

export type AtOnceReply = CommitReply | Exclude<ReserveOutcome, { outcome: 'reserved' }>

/** What the records know of the bytes of a commit before it. `open` has not been ended; its term may be over. */
export interface KnownBefore {
  readonly object: number | undefined
  readonly open: FileRow | undefined
}

export type FileRecording = ReturnType<typeof prepareFileRecording>

/** Records files whose bytes are in place. Each function runs inside the caller's transaction, which has seen to the quota. */
export function prepareFileRecording(
  db: Sql,
  contents: ContentWrites,
  discards: DiscardWrites,
  { placeFile }: Pick<DealWrites, 'placeFile'>,
) {
  const content = prepareContentReads(db)
  const { endAsExpired, insertFile } = prepareFileInserts(db)
  const { agree, endTaken, keepMembers } = prepareMemberWrites(db)

  function* knownOf(commit: FileCommit): Steps<KnownBefore> {
    const { file } = commit
    const [digest, unread] = handlesOf(commit)
    const [byDigest, byPiece] = yield* together(content.objectOfHandle(digest), content.objectOfHandle(unread))
    const object = byDigest ?? byPiece
    const open = object === undefined ? undefined : yield* content.openFile(file.principal, object, file.key)
    return { object, open }
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

  /** Records a file whose bytes are in place, and charges it; the caller has seen to the quota. */
  function* record(
    commit: FileCommit,
    { object: known, open }: KnownBefore,
    charge: Omit<Charge, 'bytes'>,
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
    const filed = { object, isNew: known === undefined }
    const sequence = yield* insertFile(filed, file, { ...charge, bytes }, folder?.stored)
    if (folder !== undefined) {
      yield* keepMembers(object, folder)
      yield* endTaken(folder, sequence, file.principal, commit.now)
    }
    if (commit.placement !== undefined) yield* placeFile(sequence, commit.placement, commit.now)
    return sequence
  }

  return { agree, knownOf, keepRetry, record, replacePut }
}

/** What a file asks for. A folder is stored with its members from now on, of which those that were sent for it are stored already. */
export function askedFor(sizeBytes: number, folder: AgreedFolder | undefined): QuotaRequest['asked'] {
  if (folder === undefined) return { bytes: sizeBytes, files: 1 }
  const { stored, chargedBytes, takenBytes } = folder
  const storedBytes = Math.max(0, sizeBytes + stored.memberBytes - takenBytes)
  return { bytes: sizeBytes + chargedBytes, files: 1, storedBytes }
}

/** True for bytes that were put into a blob store where every put has a place of its own. */
export function hasNamedPut(commit: FileCommit): commit is FileCommit & { readonly put: string } {
  return commit.put !== undefined && commit.put !== ''
}

/** What the object of these bytes can be called. */
export function handlesOf({ file, content }: FileCommit): readonly [digest: string, unread: string] {
  return [file.sha256, pieceHandle({ pieceRoot: content.pieceRoot, sizeBytes: file.sizeBytes })]
}
