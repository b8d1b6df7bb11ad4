import { type ContentId, MAX_BLOCK_BYTES } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockSource, FoundBlock } from '../retrieval/block-source.ts'

const RAW = 0x55

export interface FindRootInput {
  readonly id: ContentId
  /** `id` as the CID of a block. */
  readonly cid: CID
  readonly now: number
  /** True when the client wants to hear of a miss by `only_if_cached`. */
  readonly onlyIfCached: boolean
}

/**
 * The block that a gateway request begins with.
 *
 * Bytes of codec raw are found whatever their size, since they are staged under such ids; of other codecs nothing bigger
 * than blocks may be is taken for one.
 *
 * @throws {LadeError} `not_found`; `gone` when the id named a file that is no more; `only_if_cached`.
 */
export async function findRoot(records: RecordStore, source: BlockSource, input: FindRootInput): Promise<FoundBlock> {
  const { id, cid, now, onlyIfCached } = input
  const found = await source.find(cid)
  if (found !== undefined && (found.sizeBytes <= MAX_BLOCK_BYTES || cid.code === RAW)) return found
  if (onlyIfCached) throw new LadeError('only_if_cached', {})
  const serving = await records.files.serving({ key: id.key, now })
  if (serving.outcome === 'gone') throw new LadeError('gone', { reason: serving.end })
  throw new LadeError('not_found', {})
}
