import type { UnreconciledPiece } from '../records/record-store.ts'
import { type ChosenCopies, chooseCopies, isLive } from './choose-copies.ts'
import { type PlacementContext, proverNamed } from './placement-context.ts'

/** Pieces that are read together, which holds up everybody else for 2 ms, and written side by side, so that they share the wait for the disk. */
const AT_ONCE = 32

export type ReconcileContext = Pick<
  PlacementContext,
  'records' | 'provers' | 'now' | 'schedule' | 'signal' | 'outages' | 'counters'
>

/**
 * Gives pieces the copies that are wanted of them and lets go of those that are not, on paper: sending, adding and removing is for others.
 * At most `limit` pieces.
 *
 * @returns how many were looked at.
 */
export async function reconcilePieces(context: ReconcileContext, limit: number): Promise<number> {
  const { placements } = context.records
  let loads: Map<string, number> | undefined
  let looked = 0
  while (looked < limit) {
    context.signal.throwIfAborted()
    const some = Math.min(AT_ONCE, limit - looked)
    const unreconciled = await placements.unreconciled({ now: context.now(), limit: some })
    if (unreconciled.length === 0) break
    loads ??= await loadsOf(context)
    const known = loads
    await Promise.all(unreconciled.map((piece) => reconcilePiece(context, known, piece)))
    looked += unreconciled.length
    if (unreconciled.length < some) break
  }
  return looked
}

async function reconcilePiece(
  context: ReconcileContext,
  loads: Map<string, number>,
  unreconciled: UnreconciledPiece,
): Promise<void> {
  const { records, now, outages, counters } = context
  const { placements } = records
  const { piece, revision } = unreconciled
  const detached = unreconciled.copies.filter((copy) => isLive(copy) && proverNamed(context, copy.prover) === undefined)
  if (detached.length > 0) {
    for (const { id } of detached) {
      const request = { copy: id, cause: 'The prover is no longer configured.', now: now() }
      if (await placements.fail(request)) counters.copiesFailed += 1
    }
    // The piece is reconciled again for each of them.
    return
  }
  const chosen = chooseCopies(unreconciled, {
    ...context,
    isHere: (prover) => outages.isHere(prover),
    loadOf: (prover) => loads.get(prover) ?? 0,
    now: now(),
  })
  for (const prover of chosen.add) loads.set(prover, (loads.get(prover) ?? 0) + 1)
  if (isToDissolve(unreconciled, chosen)) {
    await placements.dissolve({ piece: piece.id, now: now() })
    counters.aggregatesDissolved += 1
    return
  }
  const isLocal = (prover: string): boolean => proverNamed(context, prover)?.isLocal === true
  // This process has the bytes of every piece, and keeps no data sets.
  const addStored = chosen.add.filter(isLocal)
  const add = chosen.add.filter((prover) => !isLocal(prover))
  await placements.reconcile({ piece: piece.id, revision, ...chosen, add, addStored, now: now() })
  const isMoved = unreconciled.copies.some(({ state }) => state === 'failed')
  if (isMoved) counters.copiesMoved += chosen.add.length
}

/**
 * An aggregate is taken apart when its bytes are needed and not all of them are here. One that is held as often as provers can be had
 * stays as it is.
 */
function isToDissolve(
  { isComplete, copies, copiesWanted }: UnreconciledPiece,
  { add, release }: ChosenCopies,
): boolean {
  if (isComplete || copiesWanted === 0) return false
  const live = copies.filter(isLive)
  const isToBeSent = live.some(({ id, state }) => state === 'pending' && !release.includes(id))
  return add.length > 0 || isToBeSent || live.length === 0
}

async function loadsOf({ records }: ReconcileContext): Promise<Map<string, number>> {
  const loads = new Map<string, number>()
  for (const { prover, state, count } of (await records.placements.counts()).copies) {
    if (state === 'failed' || state === 'released') continue
    loads.set(prover, (loads.get(prover) ?? 0) + count)
  }
  return loads
}

/**
 * Ends the live copies and additions at provers that are not configured any more, so that their pieces are placed elsewhere. Asked once
 * by whoever takes over the work; copies at such provers that are found later are ended when their pieces are reconciled.
 */
export async function detachRemovedProvers(context: ReconcileContext): Promise<void> {
  const { records, now, counters } = context
  const { placements } = records
  const cause = 'The prover is no longer configured.'
  for (const { id, prover } of await placements.additions()) {
    if (proverNamed(context, prover) !== undefined) continue
    await placements.additionRejected({ addition: id, now: now(), nextAt: now(), cause })
  }
  const { copies } = await placements.counts()
  for (const { prover, state } of copies) {
    if (proverNamed(context, prover) !== undefined) continue
    if (state !== 'pending' && state !== 'parked' && state !== 'stored') continue
    const request = { state, prover, now: Number.MAX_SAFE_INTEGER, limit: 500 }
    for (let due = await placements.due(request); due.length > 0; due = await placements.due(request)) {
      context.signal.throwIfAborted()
      const lost = await Promise.all(due.map(({ copy }) => placements.fail({ copy: copy.id, cause, now: now() })))
      counters.copiesFailed += lost.filter(Boolean).length
    }
  }
}
