import { pieceCidOf } from '@lade/core/content'
import { hexOf } from '@lade/node/hashing/hex'
import type { Addition, AdditionProgress, Prover } from '../proving/prover.ts'
import type { AdditionRecord, CopyOfPiece, DataSetContent, PieceRecord } from '../records/record-store.ts'
import { askProver, type ProverAnswer, retryAt } from './ask-prover.ts'
import { isLive } from './choose-copies.ts'
import { isAnotherThere } from './give-up.ts'
import type { PlacementContext } from './placement-context.ts'
import { doubledMs } from './placement-schedule.ts'

const NONCE_BYTES = 32
/** Additions to one prover that are under way at once. */
const MAX_OPEN = 4

/**
 * Puts parked copies of a prover into one addition, and records it with its nonce; nobody is asked yet.
 *
 * The addition that makes a prover's data set is the only one under way there, so that there are not two. A copy of a rejected addition
 * goes alone, so that it takes no other with it again. Copies that were parked too long ago are sent again first.
 *
 * @param open - the additions that are under way at this prover.
 * @param holds - the kind of the pieces, each of which has data sets of its own.
 */
export async function openAddition(
  { records, now, randomBytes, schedule }: PlacementContext,
  prover: Prover,
  open: readonly AdditionRecord[],
  holds: DataSetContent,
): Promise<AdditionRecord | undefined> {
  if (open.length >= MAX_OPEN || open.some(({ dataSetId }) => dataSetId === null)) return undefined
  const { placements } = records
  const dataSetId = (await placements.dataSetOf({ prover: prover.name, holds })) ?? null
  if (dataSetId === null && open.length > 0) return undefined
  const limit = prover.limits.piecesPerAddition
  const due = await placements.due({ state: 'parked', prover: prover.name, holds, now: now(), limit })
  const isDropped = ({ copy }: CopyOfPiece): boolean => (copy.parkedAt ?? 0) + schedule.unclaimedMs < now()
  const dropped = due.filter(isDropped).map(({ copy }) => copy.id)
  if (dropped.length > 0) await placements.parkAgain({ copies: dropped, now: now() })
  const copies = together(due.filter((copy) => !isDropped(copy))).map(({ copy }) => copy.id)
  if (copies.length === 0) return undefined
  const nonce = hexOf(randomBytes(NONCE_BYTES))
  return placements.openAddition({ prover: prover.name, nonce, dataSetId, holds, copies, now: now() })
}

function together(due: readonly CopyOfPiece[]): readonly CopyOfPiece[] {
  const [first] = due
  return first === undefined || first.copy.rejections > 0
    ? due.slice(0, 1)
    : due.filter(({ copy }) => copy.rejections === 0)
}

/**
 * Asks for an addition that was recorded, or how it is getting on, and records the answer. Asking again has no second effect, since the
 * nonce is the same; so nothing is lost or doubled when this process ends in between.
 *
 * Copies whose prover does not answer are given up after enough failures where another prover could have them. The addition is followed
 * all the same, so that what it turns out to have added is removed again.
 *
 * @throws the reason of the context's signal; what is no failure of the prover.
 */
export async function followAddition(
  context: PlacementContext,
  prover: Prover,
  addition: AdditionRecord,
): Promise<void> {
  const { records, now, schedule } = context
  const { placements } = records
  const { nonce, dataSetId, holds, copies } = addition
  const asked: Addition = {
    nonce,
    dataSetId,
    pieceCids: copies.map(({ piece }) => pieceCidOf(piece)),
    ...(holds === 'cars' && { ipfsRootCids: copies.map(({ piece }) => rootCidOf(piece)) }),
  }

  let { transaction } = addition
  if (transaction === null) {
    const answer = await askProver(context, prover, schedule.callDeadlineMs, () => prover.add(asked))
    if (answer.outcome === 'refused') return reject(context, addition, answer.reason)
    if (answer.outcome === 'silent') return later(context, prover, addition, answer)
    transaction = answer.result
    await placements.additionSent({ addition: addition.id, transaction, nextAt: now() + schedule.followMs })
  }

  const question = { ...asked, transaction }
  const answer = await askProver(context, prover, schedule.callDeadlineMs, () => prover.progress(question))
  if (answer.outcome !== 'answered') return later(context, prover, addition, answer)
  const progress = answer.result
  if (progress.state === 'pending') {
    const next = { addition: addition.id, nextAt: now() + schedule.followMs }
    if (progress.transaction === undefined) await placements.additionLater({ ...next, isFailure: false })
    else await placements.additionSent({ ...next, transaction: progress.transaction })
  } else if (progress.state === 'rejected') {
    await reject(context, addition, progress.reason)
  } else if (progress.pieceIds.length !== copies.length) {
    const reason = `The prover confirmed ${progress.pieceIds.length} of ${copies.length} pieces.`
    await later(context, prover, addition, { outcome: 'silent', reason, retryAfterMs: 0 })
  } else {
    await confirm(context, addition, progress)
  }
}

/** Empty for a piece that was a CAR, and of which only bytes are known now. */
function rootCidOf({ source }: PieceRecord): string {
  return source.kind === 'car' ? source.rootCid : ''
}

async function confirm(
  { records, now }: PlacementContext,
  { id }: AdditionRecord,
  { dataSetId, pieceIds }: Extract<AdditionProgress, { state: 'confirmed' }>,
): Promise<void> {
  await records.placements.additionConfirmed({ addition: id, dataSetId, pieceIds, now: now() })
}

async function reject(context: PlacementContext, { id, copies }: AdditionRecord, reason: string): Promise<void> {
  const { records, now, schedule, counters, log } = context
  const before = Math.max(0, ...copies.map(({ copy }) => copy.rejections))
  const isFinal = before + 1 >= schedule.rejections
  const nextAt = now() + doubledMs(schedule.firstRetryMs, before, schedule.maxRetryMs)
  log.warn({ addition: id, reason, isFinal }, 'a prover rejected adding pieces to a data set')
  const cause = isFinal ? reason : null
  counters.copiesFailed += await records.placements.additionRejected({ addition: id, now: now(), nextAt, cause })
}

async function later(
  context: PlacementContext,
  prover: Prover,
  addition: AdditionRecord,
  answer: Exclude<ProverAnswer<unknown>, { outcome: 'answered' }>,
): Promise<void> {
  const { records, now, schedule, counters } = context
  const { placements } = records
  const attempts = addition.attempts + 1
  const retryAfterMs = answer.outcome === 'silent' ? answer.retryAfterMs : 0
  const nextAt = retryAt(context, { failuresBefore: addition.attempts, retryAfterMs })
  await placements.additionLater({ addition: addition.id, nextAt, isFailure: true })
  if (attempts < schedule.attempts || !isAnotherThere(context, prover)) return
  for (const { copy } of addition.copies.filter((one) => isLive(one.copy))) {
    const cause = `The prover did not confirm the piece in ${attempts} attempts: ${answer.reason}`
    if (await placements.fail({ copy: copy.id, cause, now: now() })) counters.copiesFailed += 1
  }
}
