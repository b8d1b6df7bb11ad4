import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { resolvePath } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockSource, FoundBlock } from '../retrieval/block-source.ts'
import type { DagReader } from '../retrieval/dag-reader.ts'
import { type FindRootInput, findRoot } from './find-root.ts'
import { readRefusal } from './read-refusal.ts'
import { refuseBlockedPaths } from './refuse-blocked-paths.ts'

const RAW = 0x55

export interface FollowPathDeps {
  readonly records: RecordStore
  readonly moderation: Pick<Moderation, 'content'>
  readonly source: BlockSource
  readonly reader: DagReader
}

export interface FollowPathInput extends FindRootInput {
  /** The names that lead from the root to what is wanted; none for the root itself. */
  readonly segments: readonly string[]
}

/** Where a content path leads. */
export interface FollowedPath {
  readonly root: FoundBlock
  /** The root, and what each name leads to, as far as there is something. */
  readonly roots: readonly CID[]
  /** The block at the end of the path; undefined where a name leads nowhere. */
  readonly end: FoundBlock | undefined
  /** The first name that leads nowhere. */
  readonly missingSegment: string | undefined
}

/**
 * Follows a content path from its root: names of UnixFS directories, also sharded ones, and links of dag-cbor and dag-json. Symbolic links are
 * not followed.
 *
 * @throws {LadeError} `not_found` for a root or a block that is not here, `gone`, `only_if_cached`; `blocked` for a block, an object, or a
 *   path below any of the directories that a denylist names; `not_implemented` for a path to a value inside of a block; `not_acceptable`,
 *   `over_budget`, `storage_failed`, `storage_offline`.
 */
export async function followPath(deps: FollowPathDeps, input: FollowPathInput): Promise<FollowedPath> {
  const { records, source, reader } = deps
  const { segments } = input
  const root = await findRoot(records, source, input)
  if (segments.length === 0) return { root, roots: [input.cid], end: root, missingSegment: undefined }
  const path = await resolvePath(input.cid, segments, reader).catch((error: unknown) => {
    throw readRefusal(error)
  })
  const { roots, terminal, missingSegment } = path
  // With links of dag-cbor, which may take several names, it is not known which names are below which block.
  if (missingSegment !== undefined || roots.length === segments.length + 1) refuseBlockedPaths(deps, roots, segments)
  if (path.remainder.length > 0) {
    const reason = `The path ends inside of a block, at ${JSON.stringify(path.remainder.join('/'))}. Request the block itself, and read the value there.`
    throw new LadeError('not_implemented', { reason })
  }
  if (terminal === undefined) return { root, roots, end: undefined, missingSegment }
  const end = await source.find(terminal)
  const isBlock = end !== undefined && (end.sizeBytes <= MAX_BLOCK_BYTES || end.cid.code === RAW)
  if (!isBlock) throw new LadeError('not_found', { reason: `The block ${terminal} is not stored here.` })
  return { root, roots, end, missingSegment: undefined }
}
