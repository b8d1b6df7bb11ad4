import type { ContentDigests, ContentId, Verified } from '@lade/core/content'
import type { ContentFacts } from '../records/record-store.ts'

/** Content that has its id, and how that was found out. */
export interface CheckedContent {
  readonly digests: Pick<ContentDigests, 'pieceRoot' | 'pieceSubtreeRoots'>
  readonly verified: Verified
}

/**
 * What is kept of a check: the names that it established beside the sha2-256, and the blocks that lie in the bytes.
 *
 * A name that follows from the sha2-256 or from the piece commitment needs no keeping, nor does an opaque one, which the
 * file itself carries.
 */
export function contentFactsOf(id: ContentId, { digests, verified }: CheckedContent): ContentFacts {
  const { pieceRoot, pieceSubtreeRoots } = digests
  const facts = { pieceRoot, pieceSubtreeRoots, aliases: [], dags: [] }
  const { as, dag, car } = verified
  if (dag !== undefined) {
    const { profile } = dag
    return {
      ...facts,
      aliases: [{ key: id.key, view: 'bytes' }],
      dags: [{ kind: 'import', profile, digests: dag.digests }],
    }
  }
  if (car !== undefined) {
    const view = car.root === 'unixfs-file' ? 'unixfs' : 'car'
    const { multihashes, multihashEnds, offsetBytes, sizeBytes } = car
    const blocks = { multihashes, multihashEnds, offsetBytes, sizeBytes }
    return { ...facts, aliases: [{ key: id.key, view }], dags: [{ kind: 'car', ...blocks }] }
  }
  const isNamedByBlake = id.sha256 === undefined && (id.form === 'cid-raw' || id.form === 'cid-block')
  return as === 'bytes' || as === 'block'
    ? { ...facts, aliases: isNamedByBlake ? [{ key: id.key, view: 'bytes' }] : [] }
    : facts
}
