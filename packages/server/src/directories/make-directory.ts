import { Readable } from 'node:stream'
import { type ContentId, parseContentId } from '@lade/core/content'
import { type Block, buildDirectory } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE } from '@lade/core/wire'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { sha256, sha256Hex } from '@lade/node/hashing/sha256'
import type { CID } from 'multiformats/cid'
import type { FileRecord, FolderCommit, FolderMember, ObjectHandle } from '../records/record-store.ts'
import { type AdmitDeps, admitUpload, type UploadHead } from '../uploads/admit-upload.ts'
import { applyHead } from '../uploads/apply-head.ts'
import { refuseBlockedHead } from '../uploads/refuse-blocked.ts'
import { spending } from '../uploads/spending.ts'
import { type StageDeps, stageUpload } from '../uploads/stage-upload.ts'
import type { UploadTier } from '../uploads/upload-tier.ts'
import { type AskedEntry, askedLinks } from './asked-links.ts'
import { directoryCar } from './directory-car.ts'
import { type FindFilesDeps, findFiles, membersOf, type StoredFile, takenOf } from './find-files.ts'

export interface DirectoryDeps extends Omit<StageDeps, 'blobs'>, AdmitDeps, FindFilesDeps {
  readonly records: StageDeps['records']
  /** Undefined when no storage backend is bound. */
  readonly blobs: StageDeps['blobs'] | undefined
  readonly budget: WorkBudget
}

/** What a request says of a folder, beside what is in it. */
export interface DirectoryHead extends Pick<UploadHead, 'filename' | 'visibility' | 'termDays' | 'claimDigest'> {
  /** The root that it must have; undefined where the answer tells. */
  readonly cid: ContentId | undefined
}

export interface MakeDirectoryInput {
  readonly tier: UploadTier
  readonly head: DirectoryHead
  readonly entries: readonly AskedEntry[]
  readonly signal: AbortSignal
}

/** A directory whose blocks are made, and what is in it. */
export interface MadeDirectory {
  readonly root: CID
  /** Those that it does not have from its members. */
  readonly blocks: readonly Block[]
  readonly files: number
  readonly bytes: number
  readonly members: ReadonlyMap<
    ObjectHandle,
    { readonly uses: number; readonly sizeBytes: number; readonly isOwn: boolean }
  >
  /** The objects of the files that were sent for it. */
  readonly taken: readonly ObjectHandle[]
}

/**
 * Makes a folder of files that are stored here: no byte of theirs is moved. What is charged is its directories, and public files of
 * others as if they were sent; its files are kept as long as it.
 *
 * However it ends otherwise, nothing has changed. When the caller has this folder already, that is the answer, with the name, visibility and
 * longer term that are asked for.
 *
 * @throws {LadeError} `bad_request` for entries that make no directory; `missing_entries`, `private_entries`; `cid_mismatch`; and as an upload of
 *   its directories.
 */
export async function makeDirectory(deps: DirectoryDeps, input: MakeDirectoryInput): Promise<FileRecord> {
  const { tier, head, entries } = input
  const { principal } = tier
  deps.budget.require(principal, 'links')
  const asked = entries.filter((entry) => entry.kind === 'file')
  const visibility = head.visibility ?? 'public'
  const stored = await findFiles(deps, { principal, files: asked, visibility, now: deps.now() })
  const made = spending({ budget: deps.budget, principal, work: 'links' }, () => build(entries, stored))
  const members = membersOf(asked, stored)
  return stageDirectory(deps, input, { ...made, members, taken: takenOf(asked, stored) })
}

function build(
  entries: readonly AskedEntry[],
  stored: ReadonlyMap<string, StoredFile>,
): Omit<MadeDirectory, 'members' | 'taken'> {
  const { links, emptyBlocks } = askedLinks(entries, stored)
  const { root, blocks, fileCount, sizeBytes } = buildDirectory({ sha256, entries: links })
  return { root, blocks: [...emptyBlocks, ...blocks], files: fileCount, bytes: sizeBytes }
}

/**
 * Records a directory as a folder of the caller, through the door of every upload.
 *
 * @throws {LadeError} as `makeDirectory`.
 */
export async function stageDirectory(
  deps: DirectoryDeps,
  { tier, head, signal }: Omit<MakeDirectoryInput, 'entries'>,
  { root, blocks, files, bytes, members, taken }: MadeDirectory,
): Promise<FileRecord> {
  const { principal } = tier
  const cid = rootId(root, head.cid)
  const own = await ownFolder(deps, principal, cid)
  const wanted = { ...head, cid, contentType: CAR_MEDIA_TYPE }
  await refuseBlockedHead(deps, { principal, cid }, { parts: [...members.keys()] })
  if (own !== undefined) return applyHead(deps, { tier, head: wanted, file: own })

  const car = spending({ budget: deps.budget, principal, work: 'links' }, () =>
    directoryCar(root, blocks, { files, bytes }),
  )
  const commit: FolderCommit = {
    files,
    bytes,
    members: Array.from(members, ([object, { uses }]): FolderMember => ({ object, uses })),
    memberBytes: sumOf(members.values(), () => true),
    taken,
  }
  // What others have is charged as if it were sent.
  const chargedBytes = car.bytes.length + sumOf(members.values(), ({ isOwn }) => !isOwn)
  const admission = await admitUpload(deps, {
    tier,
    head: { ...wanted, sizeBytes: chargedBytes },
    isStorageBound: deps.blobs !== undefined,
  })
  if (deps.blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  const { file, isNew } = await stageUpload(
    { ...deps, blobs: deps.blobs },
    {
      admission,
      body: Readable.from([car.bytes]),
      ownsChunks: true,
      signal,
      onProgress: () => {},
      onReady: () => {},
      folder: {
        id: parseContentId(sha256Hex(car.bytes), sha256Hex),
        sizeBytes: car.bytes.length,
        index: car.index,
        commit,
      },
    },
  )
  return isNew ? file : applyHead(deps, { tier, head: wanted, file })
}

/** The live folder of the caller that has this root; one that was uploaded as a CAR among them. */
async function ownFolder({ records, now }: DirectoryDeps, principal: string, { key }: ContentId) {
  const file = await records.files.latest({ principal, key, now: now() })
  return file !== undefined && file.end === null && file.expiresAt > now() ? file : undefined
}

/** @throws {LadeError} `cid_mismatch`. */
function rootId(root: CID, asked: ContentId | undefined): ContentId {
  const made = parseContentId(root.toString(), sha256Hex)
  if (asked === undefined) return made
  if (asked.key !== made.key) throw new LadeError('cid_mismatch', { expected: asked.text, actual: made.text })
  return asked
}

function sumOf<Member extends { readonly sizeBytes: number }>(
  members: Iterable<Member>,
  isCounted: (member: Member) => boolean,
): number {
  let bytes = 0
  for (const member of members) if (isCounted(member)) bytes += member.sizeBytes
  return bytes
}
