import { DAY_MS, HOUR_MS } from '@lade/core/time'
import type { Prover } from '../proving/prover.ts'
import type { CopyRecord, UnreconciledPiece } from '../records/record-store.ts'
import { doubledMs, type PlacementSchedule } from './placement-schedule.ts'

/** What is known of the provers while copies are chosen. */
export interface ProverView {
  readonly provers: readonly Prover[]
  readonly isHere: (prover: string) => boolean
  /** Live copies of any piece. */
  readonly loadOf: (prover: string) => number
  readonly schedule: Pick<PlacementSchedule, 'coolDownMs' | 'reconcileAgainMs'>
  readonly now: number
}

/** What a piece needs. */
export interface ChosenCopies {
  readonly add: readonly string[]
  readonly release: readonly number[]
  /** When to look again although nothing has changed; null when everything is as it is wanted, or will be. */
  readonly nextAt: number | null
  readonly failure: string | null
}

/**
 * Compares the copies that a piece has with those that are wanted of it.
 *
 * Too many: those that come least far go, and a proved copy goes only when there are enough other proved ones. Too few: provers without
 * one are asked, first those of the network, then those that answer, then those with the fewest copies. A prover that failed the piece is
 * asked again only where no other is left, after a time that doubles with every failure.
 */
export function chooseCopies(unreconciled: UnreconciledPiece, view: ProverView): ChosenCopies {
  const live = unreconciled.copies.filter(isLive)
  const missing = unreconciled.copiesWanted - live.length
  if (missing <= 0)
    return { add: [], release: releasedOf(live, unreconciled.copiesWanted), nextAt: null, failure: null }

  const candidates = candidatesFor(unreconciled, view)
  const free = candidates.filter(({ freeAt }) => freeAt <= view.now)
  const add = free.slice(0, missing).map(({ prover }) => prover.name)
  if (add.length === missing) return { add, release: [], nextAt: null, failure: null }

  const failures = unreconciled.copies.filter(({ state }) => state === 'failed').length
  const again = view.now + doubledMs(view.schedule.reconcileAgainMs, failures, HOUR_MS)
  const nextAt = Math.min(again, ...candidates.filter((one) => !free.includes(one)).map(({ freeAt }) => freeAt))
  const isLost = live.length + add.length === 0
  return { add, release: [], nextAt, failure: isLost ? sentenceOf(unreconciled, candidates.length > 0) : null }
}

export function isLive({ endedAt }: CopyRecord): boolean {
  return endedAt === null
}

const PROGRESS = ['pending', 'parked', 'adding', 'stored']

function releasedOf(live: readonly CopyRecord[], wanted: number): number[] {
  const progressOf = ({ provedAt, state }: CopyRecord): number =>
    provedAt === null ? PROGRESS.indexOf(state) : PROGRESS.length
  return live
    .toSorted((a, b) => progressOf(b) - progressOf(a) || a.id - b.id)
    .slice(wanted)
    .map(({ id }) => id)
}

interface Candidate {
  readonly prover: Prover
  /** 0 for a prover that never failed the piece. */
  readonly freeAt: number
}

/** Provers without a live copy that take pieces of this size and kind, the best first. */
function candidatesFor({ piece, copies }: UnreconciledPiece, view: ProverView): Candidate[] {
  const { provers, isHere, loadOf, schedule } = view
  const holders = new Set(copies.filter(isLive).map(({ prover }) => prover))
  const candidates = provers
    .filter(({ name, limits, announcesBlocks }) => {
      const isOfSize = piece.sizeBytes >= limits.minimumBytes && piece.sizeBytes <= limits.maximumBytes
      const isTaken = isOfSize && (announcesBlocks || piece.source.kind !== 'car')
      return isTaken && !holders.has(name)
    })
    .map((prover): Candidate => ({ prover, freeAt: freeAt(copies, prover.name, schedule.coolDownMs) }))
  const rankOf = ({ prover, freeAt }: Candidate): number[] => [
    freeAt > 0 ? 1 : 0,
    prover.isLocal ? 1 : 0,
    isHere(prover.name) ? 0 : 1,
    loadOf(prover.name),
  ]
  return candidates.toSorted((a, b) => compareRanks(rankOf(a), rankOf(b)))
}

function freeAt(copies: readonly CopyRecord[], prover: string, coolDownMs: number): number {
  const failed = copies.filter((copy) => copy.prover === prover && copy.state === 'failed')
  if (failed.length === 0) return 0
  const lastAt = Math.max(...failed.map(({ endedAt }) => endedAt ?? 0))
  return lastAt + doubledMs(coolDownMs, failed.length - 1, DAY_MS)
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((rank, index) => rank !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

function sentenceOf({ piece, copies }: UnreconciledPiece, isAnyLeft: boolean): string {
  if (!isAnyLeft) return `No prover accepts pieces of ${piece.sizeBytes} bytes.`
  const last = copies.filter(({ state }) => state === 'failed').at(-1)
  return `Every prover failed. The last one, ${last?.prover ?? 'unknown'}: ${last?.cause ?? 'no reason given.'}`
}
