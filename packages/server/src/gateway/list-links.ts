import { linkAt } from '@lade/core/dag'
import type { CID } from 'multiformats/cid'
import type { DagReader } from '../retrieval/dag-reader.ts'
import { readRefusal } from './read-refusal.ts'

/**
 * The first links of a block, in their order; none of one that cannot be decoded.
 *
 * @throws {LadeError} `not_found`, `not_acceptable` for a link that is too long, `over_budget`, `storage_failed`.
 */
export async function listLinks(reader: DagReader, cid: CID, maxCount: number): Promise<CID[]> {
  try {
    const { answer } = await reader.read(cid, { ask: 'links' })
    if ('fault' in answer) return []
    return Array.from({ length: Math.min(answer.ends.length, maxCount) }, (_, place) => linkAt(answer, place))
  } catch (error) {
    throw readRefusal(error)
  }
}
