import type { ContentId } from '@lade/core/content'
import { type TreeEntry, walkTree } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { CID } from 'multiformats/cid'
import type { BlobStore } from '../blobs/blob-store.ts'
import { readRefusal } from '../gateway/read-refusal.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { BlockReadings } from '../retrieval/block-readings.ts'
import { BlockSource } from '../retrieval/block-source.ts'
import { cidOf } from '../retrieval/content-cid.ts'
import { DagReader } from '../retrieval/dag-reader.ts'

const DAG_PB = 0x70

export interface ReadingDeps {
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly moderation: Pick<Moderation, 'content'>
  readonly blockReadings: BlockReadings
  readonly budget: WorkBudget
  readonly now: () => number
}

export interface ReadingInput {
  readonly file: FileRecord
  /** Who reads, and pays. */
  readonly principal: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `read` on the blocks of a file that the caller may see; of a private one, on no others.
 *
 * @throws {LadeError} `storage_offline`, `over_budget`, `storage_failed`, and what `read` throws.
 */
export async function readingDirectory<Result>(
  deps: ReadingDeps,
  { file, principal, signal }: ReadingInput,
  read: (reader: DagReader, source: BlockSource) => Promise<Result>,
): Promise<Result> {
  const { blobs, blockReadings: readings, budget } = deps
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  budget.require(principal, 'links')
  const isPrivate = file.visibility === 'private'
  const source = new BlockSource({
    ...deps,
    within: isPrivate ? file.object : undefined,
    hasMembers: isPrivate && file.folder !== undefined,
  })
  const reader = new DagReader({ source, readings, budget, principal, signal })
  try {
    return await read(reader, source)
  } catch (error) {
    throw readRefusal(error)
  } finally {
    reader.settle()
    await source.close()
  }
}

/** The root of a directory as a CID. @throws {LadeError} `bad_request` for an id of another kind. */
export function directoryRootOf(id: ContentId): CID {
  const cid = id.cid === undefined ? undefined : cidOf(id.cid)
  if (cid?.code === DAG_PB) return cid
  throw new LadeError('bad_request', {
    reason: `${id.text.slice(0, 80)} is not the CID of a UnixFS directory (dag-pb).`,
  })
}

/** A file in a tree of directories. */
export interface TreeFile {
  readonly cid: CID
  readonly sizeBytes: number
}

/**
 * The files at or below a CID of UnixFS, as often as they are there. Of a file the root block is read, and no bytes.
 *
 * @throws {DagReadError} at the first block that is missing or cannot be read.
 */
export async function* filesBelow(cid: CID, reader: DagReader): AsyncGenerator<TreeFile, void, undefined> {
  for await (const entry of walkTree(cid, reader)) {
    const file = fileOf(entry)
    if (file !== undefined) yield file
  }
}

function fileOf({ cid, node }: TreeEntry): TreeFile | undefined {
  return node.kind === 'file' ? { cid, sizeBytes: node.sizeBytes } : undefined
}
