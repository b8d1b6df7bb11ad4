import { type Block, carHeader, carSection, type DagWalk, resolvePath, walkDag } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { DagReader } from '../retrieval/dag-reader.ts'
import { inBatches } from './in-batches.ts'

export interface OpenCarInput extends Pick<DagWalk, 'scope' | 'entityBytes' | 'dups'> {
  readonly root: CID
  /** The names that lead from the root to what is wanted; none for the root itself. */
  readonly segments: readonly string[]
}

/**
 * A CAR of version 1, made as it is read: the blocks that prove the path, then those of the walk from its end, which is the
 * one root of the header.
 *
 * The path is followed and the first block read before this resolves, so that what cannot begin is refused. Memory is two
 * blocks, and what `walkDag` needs. The source of the reader must stay open while the CAR is read.
 *
 * @returns the bytes, to be read once; they end by a `DagReadError` when a block turns out to be missing or no good, and by a `LadeError` of
 *   the reader, after all that could be read before it.
 * @throws {LadeError} `not_found` when the path leads nowhere, `not_acceptable`, `over_budget`, `storage_failed`, `storage_offline`.
 * @throws {DagReadError} for a block of the path, or the first one of the walk.
 */
export async function openCar(
  reader: DagReader,
  { root, segments, ...how }: OpenCarInput,
): Promise<AsyncIterable<Uint8Array>> {
  const { path, terminal } = await resolvePath(root, segments, reader)
  if (terminal === undefined) throw new LadeError('not_found', {})
  const walk = walkDag({ root: terminal, getBlock: reader, ...how })
  const first = await walk.next()
  return inBatches(sections(terminal, blocksOf(path, reader), first, walk), reader, { isRestGiven: true })
}

async function* blocksOf(path: readonly CID[], reader: DagReader): AsyncGenerator<Block> {
  for (const cid of path) yield reader.load(cid)
}

async function* sections(
  root: CID,
  path: AsyncIterable<Block>,
  first: IteratorResult<Block, void>,
  walk: AsyncGenerator<Block, void>,
): AsyncGenerator<Uint8Array> {
  yield carHeader([root])
  for await (const block of path) yield* section(block)
  if (first.done === true) return
  yield* section(first.value)
  for await (const block of walk) yield* section(block)
}

function* section({ cid, bytes }: Block): Generator<Uint8Array> {
  yield carSection(cid, bytes.length)
  yield bytes
}
