import { type DirectoryEntry, resolvePath, walkDirectory } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { ListedEntry } from '@lade/core/wire'
import type { CID } from 'multiformats/cid'
import type { FileRecord } from '../records/record-store.ts'
import type { DagReader } from '../retrieval/dag-reader.ts'
import { type ReadingDeps, readingDirectory } from './directory-reading.ts'

const RAW = 0x55

export interface ListEntriesInput {
  readonly file: FileRecord
  readonly root: CID
  readonly principal: string
  /** The names that lead to the folder; none for the root. */
  readonly segments: readonly string[]
  /** The name that the page before ended with. */
  readonly after: string | undefined
  readonly limit: number
}

/** A page of a folder. */
export interface EntriesOfFolder {
  readonly cid: CID
  readonly entries: readonly ListedEntry[]
  /** The name that the next page begins behind; undefined on the last. */
  readonly next: string | undefined
}

/**
 * Lists a folder, a page at a time, in the order of its directory: what each entry is, and how big a file is. Of each entry but raw blocks, the
 * root block is read.
 *
 * @throws {LadeError} `not_found` for a path that leads nowhere, and for one that leads to no folder; `blocked`, `over_budget`,
 *   `storage_failed`, `storage_offline`.
 */
export function listEntries(deps: ReadingDeps, input: ListEntriesInput): Promise<EntriesOfFolder> {
  const { file, root, principal, segments, after, limit } = input
  return readingDirectory(deps, { file, principal }, async (reader) => {
    const { terminal, missingSegment } = await resolvePath(root, segments, reader)
    if (terminal === undefined) {
      throw new LadeError('not_found', { reason: `There is no ${JSON.stringify(missingSegment)} in the folder.` })
    }
    await requireFolder(terminal, segments, reader)
    const entries: ListedEntry[] = []
    let last: string | undefined
    for await (const entry of walkDirectory({ root: terminal, getBlock: reader, after })) {
      if (entries.length === limit) return { cid: terminal, entries, next: last }
      entries.push(await listedEntry(entry, reader))
      last = entry.name
    }
    return { cid: terminal, entries, next: undefined }
  })
}

async function requireFolder(cid: CID, segments: readonly string[], reader: DagReader): Promise<void> {
  const { answer: node } = await reader.read(cid, { ask: 'node' })
  if (node.kind === 'directory' || node.kind === 'hamt') return
  const reason =
    segments.length === 0
      ? 'This is a file. Only folders have entries.'
      : `${JSON.stringify(segments.join('/'))} is a file. Only folders have entries.`
  throw new LadeError('not_found', { reason })
}

async function listedEntry({ name, cid, dagBytes }: DirectoryEntry, reader: DagReader): Promise<ListedEntry> {
  const entry = { name, cid: cid.toString() }
  if (cid.code === RAW) return { ...entry, kind: 'file', size: dagBytes ?? null }
  const { answer: node } = await reader.read(cid, { ask: 'node' })
  switch (node.kind) {
    case 'directory':
    case 'hamt':
      return { ...entry, kind: 'folder', size: null }
    case 'symlink':
      return { ...entry, kind: 'symlink', size: null, target: node.target }
    case 'file':
      return { ...entry, kind: 'file', size: node.sizeBytes }
    default:
      return { ...entry, kind: 'file', size: null }
  }
}
