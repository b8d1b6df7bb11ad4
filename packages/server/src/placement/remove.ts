import { pieceCidOf } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Prover } from '../proving/prover.ts'
import type { CopyOfPiece } from '../records/record-store.ts'
import { askProver, retryAt } from './ask-prover.ts'
import type { PlacementContext } from './placement-context.ts'

/**
 * Has a piece taken out of its prover's data set, and asks until it is. A prover that refuses for good, or is not configured any more, is not asked again; one
 * that does not answer is asked until it does.
 *
 * @param prover - undefined when none of that name is configured.
 */
export async function removeCopy(
  context: PlacementContext,
  prover: Prover | undefined,
  { copy, piece }: CopyOfPiece,
): Promise<void> {
  const { records, now, schedule, log } = context
  const { dataSetId, pieceId } = copy
  if (prover !== undefined && dataSetId !== null && pieceId !== null) {
    const pieceCid = pieceCidOf(piece)
    // The same for every repetition, and for no other piece of any data set there.
    const nonce = sha256Hex(Buffer.from(JSON.stringify(['remove', prover.name, dataSetId, pieceId])))
    const question = { dataSetId, pieceId, pieceCid, nonce }
    const answer = await askProver(context, prover, schedule.callDeadlineMs, () => prover.remove(question))
    if (answer.outcome === 'silent') {
      const nextAt = retryAt(context, { failuresBefore: copy.attempts, retryAfterMs: answer.retryAfterMs })
      return records.placements.retryLater({ copy: copy.id, nextAt })
    }
    if (answer.outcome === 'refused') {
      log.warn({ prover: prover.name, pieceCid, reason: answer.reason }, 'a prover did not remove a piece')
    }
    if (answer.outcome === 'answered' && answer.result === 'asked') {
      return records.placements.retryLater({ copy: copy.id, nextAt: now() + schedule.removalCheckMs })
    }
  }
  await records.placements.removed({ copy: copy.id, now: now() })
}
