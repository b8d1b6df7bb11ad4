import { type ContentId, parseContentId } from '@lade/core/content'
import { changeDirectory, type DirectoryChange } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { sha256, sha256Hex } from '@lade/node/hashing/sha256'
import type { CID } from 'multiformats/cid'
import type { FileRecord, ObjectHandle } from '../records/record-store.ts'
import type { DagReader } from '../retrieval/dag-reader.ts'
import { findFile } from '../retrieval/find-file.ts'
import { type AskedEntry, askedLinks } from './asked-links.ts'
import { directoryRootOf, filesBelow, type ReadingDeps, readingDirectory, type TreeFile } from './directory-reading.ts'
import { findFiles, membersOf, takenOf } from './find-files.ts'
import { type DirectoryDeps, type MadeDirectory, type MakeDirectoryInput, stageDirectory } from './make-directory.ts'

export type ChangeDirectoryDeps = DirectoryDeps & ReadingDeps

export interface ChangeDirectoryInput extends Omit<MakeDirectoryInput, 'entries'> {
  readonly from: ContentId
  /** Paths that go, with all that is below them, before anything is put. */
  readonly remove: readonly string[]
  readonly put: readonly AskedEntry[]
}

const RAW = 0x55

type RemovedRoot = Awaited<ReturnType<typeof changeDirectory>>['removed'][number]

interface Changed {
  readonly root: CID
  readonly blocks: MadeDirectory['blocks']
  /** Files that were there, and are not any more. */
  readonly removed: readonly TreeFile[]
  readonly before: { readonly files: number; readonly bytes: number }
}

/**
 * Makes a folder of another one, with changes. Blocks of directories are read and made on the paths that change only; the others are shared
 * with the folder that it is made of, which stays as it is.
 *
 * @throws {LadeError} `not_found` for a folder that the caller may not see, and for a path to remove that is not there; and as
 *   `makeDirectory`.
 */
export async function changeFolder(deps: ChangeDirectoryDeps, input: ChangeDirectoryInput): Promise<FileRecord> {
  const { tier, from, put, signal } = input
  const { principal } = tier
  checkChanges(input)
  const root = directoryRootOf(from)
  const { file } = await findFile(deps.records, { cid: from, now: deps.now(), principal })
  const isOwn = file.principal === principal
  const visibility = input.head.visibility ?? (isOwn ? file.visibility : 'public')
  const asked = put.filter((entry) => entry.kind === 'file')
  const stored = await findFiles(deps, { principal, files: asked, visibility, now: deps.now() })
  const { links, emptyBlocks } = askedLinks(put, stored)
  const changes = [
    ...outermost(input.remove).map((path): DirectoryChange => ({ remove: path })),
    ...links.map((link): DirectoryChange => ({ put: link })),
  ]
  const changed = await readingDirectory(deps, { file, principal, signal }, async (reader): Promise<Changed> => {
    const { root: after, blocks, removed: roots } = await changeDirectory({ root, changes, getBlock: reader, sha256 })
    const removed = await filesOf(roots, reader)
    const before = file.folder ?? (await measured(root, reader))
    return { root: after, blocks, removed, before }
  })
  const members = await membersAfter(deps, { file, principal, isOwn }, changed.removed)
  for (const [object, member] of membersOf(asked, stored)) {
    const known = members.get(object)
    members.set(object, known === undefined ? { ...member } : { ...known, uses: known.uses + member.uses })
  }
  const putFiles = asked.map(({ id }) => stored.get(id.key)?.sizeBytes ?? 0)
  return stageDirectory(
    deps,
    { ...input, head: { ...input.head, visibility } },
    {
      root: changed.root,
      blocks: [...emptyBlocks, ...changed.blocks],
      files: changed.before.files - changed.removed.length + putFiles.length,
      bytes: changed.before.bytes - sumOf(changed.removed.map(({ sizeBytes }) => sizeBytes)) + sumOf(putFiles),
      members,
      taken: takenOf(asked, stored),
    },
  )
}

/** The files at and below what changes take away. */
async function filesOf(removed: readonly RemovedRoot[], reader: DagReader): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = []
  for (const { cid, dagBytes } of removed) {
    if (cid.code === RAW) files.push({ cid, sizeBytes: dagBytes })
    else for await (const file of filesBelow(cid, reader)) files.push(file)
  }
  return files
}

/** The paths, without those below another one. */
function outermost(paths: readonly string[]): string[] {
  const all = new Set(paths)
  return [...all].filter((path) => !isBelow(path, all))
}

/** True where a folder on the way to the path is among them. */
function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    if (folders.has(path.slice(0, slash))) return true
  }
  return false
}

/** What is in a folder of which nobody has counted it. */
async function measured(root: CID, reader: DagReader): Promise<{ readonly files: number; readonly bytes: number }> {
  let [files, bytes] = [0, 0]
  for await (const { sizeBytes } of filesBelow(root, reader)) {
    files += 1
    bytes += sizeBytes
  }
  return { files, bytes }
}

/** What a folder shares with the one that it is made of: all its members but those that only removed files used, and its directories. */
async function membersAfter(
  { records, now }: ChangeDirectoryDeps,
  { file, principal, isOwn }: { readonly file: FileRecord; readonly principal: string; readonly isOwn: boolean },
  removed: readonly TreeFile[],
) {
  const members = new Map<ObjectHandle, { uses: number; readonly sizeBytes: number; readonly isOwn: boolean }>()
  for (const { object, uses, sizeBytes } of await records.folders.membersOf(file.object)) {
    members.set(object, { uses, sizeBytes, isOwn })
  }
  const keys = removed.map(({ cid }) => parseContentId(cid.toString(), sha256Hex).key)
  const found = keys.length === 0 ? [] : await records.folders.find({ principal, keys, now: now() })
  for (const member of found) {
    const known = member.outcome === 'found' ? members.get(member.object) : undefined
    if (member.outcome !== 'found' || known === undefined) continue
    if (known.uses === 1) members.delete(member.object)
    else known.uses -= 1
  }
  members.set(file.object, { uses: 1, sizeBytes: file.sizeBytes, isOwn })
  return members
}

function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** @throws {LadeError} `bad_request` for a request that asks for nothing, or puts two entries at one path. */
function checkChanges({ remove, put }: ChangeDirectoryInput): void {
  if (remove.length + put.length === 0) {
    throw new LadeError('bad_request', { reason: 'The request changes nothing. Send put or remove with from.' })
  }
  const paths = new Set<string>()
  for (const { path } of put) {
    if (paths.has(path)) {
      throw new LadeError('bad_request', {
        reason: `Two entries have the path ${JSON.stringify(path.slice(0, 80))}. Send one.`,
      })
    }
    paths.add(path)
  }
}
