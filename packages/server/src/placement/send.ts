import { pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { Prover } from '../proving/prover.ts'
import type { CopyOfPiece } from '../records/record-store.ts'
import { askProver, retryAt } from './ask-prover.ts'
import { isAnotherThere } from './give-up.ts'
import { isIncomplete } from './is-incomplete.ts'
import { pieceBytes } from './piece-bytes.ts'
import type { PlacementContext } from './placement-context.ts'

/** Beside the time that its bytes take. */
const PARK_MS = 600_000

/**
 * Hands a chosen copy to its prover and records that it has it.
 *
 * A refusal for good ends the copy, so that its piece is moved. Without an answer it is sent again later, and given up after enough
 * failures where another prover could have it. When this process ends between sending and recording, it is sent again, which provers take
 * for what it is.
 *
 * @throws the reason of the context's signal; what is no failure of a prover or of the storage.
 */
export async function sendCopy(context: PlacementContext, prover: Prover, { copy, piece }: CopyOfPiece): Promise<void> {
  const { records, now, schedule } = context
  const pieceCid = pieceCidOf(piece)
  const bytes = pieceBytes(context, piece)
  const sourceUrl = context.sourceUrl(pieceCid)
  const toPark = { pieceCid, sizeBytes: piece.sizeBytes, chunks: () => bytes.chunks(), sourceUrl }
  const deadlineMs = PARK_MS + (1000 * piece.sizeBytes) / schedule.parkBytesPerSecond
  const later = (retryAfterMs: number): Promise<void> => {
    const nextAt = retryAt(context, { failuresBefore: copy.attempts, retryAfterMs })
    return records.placements.retryLater({ copy: copy.id, nextAt })
  }
  // Whoever removed the files ended the aggregate; the prover lost nothing.
  const giveUp = async (): Promise<void> => {
    await records.placements.fail({ copy: copy.id, cause: GONE, now: now() })
  }
  try {
    const answer = await askProver(context, prover, deadlineMs, (signal) => prover.park(toPark, signal))
    if (answer.outcome === 'answered') {
      await records.placements.parked({ copy: copy.id, now: now() })
    } else if (await isIncomplete(context, piece)) {
      await giveUp()
    } else if (answer.outcome === 'refused') {
      await fail(context, copy.id, answer.reason)
    } else if (copy.attempts + 1 >= schedule.attempts && isAnotherThere(context, prover)) {
      await fail(
        context,
        copy.id,
        `The prover did not accept the piece in ${copy.attempts + 1} attempts: ${answer.reason}`,
      )
    } else {
      await later(answer.retryAfterMs)
    }
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    // No other prover could be given these bytes either.
    context.log.error({ err: error, pieceCid }, 'the bytes of a piece cannot be read')
    if (await isIncomplete(context, piece)) await giveUp()
    else await later(0)
  }
}

const GONE = 'Files of the aggregate are gone.'

async function fail({ records, now, counters }: PlacementContext, copy: number, cause: string): Promise<void> {
  if (await records.placements.fail({ copy, cause, now: now() })) counters.copiesFailed += 1
}
