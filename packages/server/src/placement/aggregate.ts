import {
  Aggregate,
  aggregateHeightOf,
  indexEntryCount,
  indexOffsetBytes,
  type PieceCommitment,
  paddedSizeBytes,
  rawCapacityBytes,
} from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { WaitingFile } from '../records/record-store.ts'
import { commitmentOf } from './commitment-of.ts'
import { networkOf, type PlacementContext } from './placement-context.ts'

const MIN_HEIGHT = 4
const LEAF_BYTES = 32
/** Rows that are looked at for each place of an index: many callers may have staged the same bytes. */
const FILES_PER_PLACE = 4
const ATTEMPTS = 3

export type AggregateContext = Pick<
  PlacementContext,
  'records' | 'provers' | 'now' | 'aggregateTargetBytes' | 'aggregateSeconds' | 'counters'
>

/** True when a file of this size fits an aggregate of the size that is aimed for. */
export function fitsAggregate(
  context: Pick<PlacementContext, 'provers' | 'aggregateTargetBytes'>,
  sizeBytes: number,
): boolean {
  return paddedSizeBytes(sizeBytes) <= indexOffsetBytes(heightsOf(context).target)
}

/**
 * Puts waiting files together to one piece (FRC-0058), when they fill an aggregate or the oldest has waited long enough.
 *
 * Files of the same bytes have one place. The places fall in size, so that there are no gaps, and the tree is as small as it can be. No
 * byte is read: the aggregate's commitment follows from those of its members, and its bytes are made when somebody reads them.
 *
 * @returns false when there is nothing to be done yet.
 */
export async function aggregateWaiting(context: AggregateContext): Promise<boolean> {
  const { placements } = context.records
  const heights = heightsOf(context)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const limit = FILES_PER_PLACE * indexEntryCount(heights.target)
    const waiting = await placements.waiting({ limit })
    const [oldest] = waiting
    if (oldest === undefined) return false
    // One that began to wait under other settings may need more room.
    const chosen = choose(waiting, Math.max(heights.target, aggregateHeightOf([commitmentOf(oldest)])))
    const isDue = oldest.since + 1000 * context.aggregateSeconds <= context.now()
    const isFull = chosen.isFull || waiting.length === limit
    if (!isFull && !isDue) return false
    // One of them may have ended since it was read; the next attempt goes without it.
    if (await record(context, chosen.places, heights.least)) return true
  }
  return true
}

/** Files of the same bytes. */
interface Place {
  readonly commitment: PieceCommitment
  readonly files: number[]
}

/** The oldest files that fit together, and whether there were more. */
function choose(waiting: readonly WaitingFile[], height: number): { places: readonly Place[]; isFull: boolean } {
  const places = new Map<string, Place>()
  const capacityBytes = indexOffsetBytes(height)
  const maxPlaces = indexEntryCount(height)
  let takenBytes = 0
  let isFull = false
  for (const waitingFile of waiting) {
    const { file, pieceRoot, sizeBytes } = waitingFile
    const key = `${pieceRoot}:${sizeBytes}`
    const known = places.get(key)
    if (known !== undefined) {
      known.files.push(file)
      continue
    }
    const paddedBytes = paddedSizeBytes(sizeBytes)
    if (places.size === maxPlaces || takenBytes + paddedBytes > capacityBytes) {
      isFull = true
      continue
    }
    takenBytes += paddedBytes
    places.set(key, { commitment: commitmentOf(waitingFile), files: [file] })
  }
  return { places: [...places.values()], isFull }
}

async function record(context: AggregateContext, places: readonly Place[], leastHeight: number): Promise<boolean> {
  const sorted = places.toSorted((a, b) => b.commitment.rawSizeBytes - a.commitment.rawSizeBytes)
  const pieces = sorted.map(({ commitment }) => commitment)
  const height = Math.max(aggregateHeightOf(pieces), leastHeight)
  const { commitment, segments } = new Aggregate(pieces, { height, hashPairs: pieceHashing.hashPairs })
  const members = sorted.flatMap(({ files }, at) =>
    files.map((file) => ({ file, paddedOffsetBytes: segments[at]?.paddedOffsetBytes ?? 0 })),
  )
  const isRecorded = await context.records.placements.aggregate({
    now: context.now(),
    pieceRoot: hexOf(commitment.root),
    sizeBytes: commitment.rawSizeBytes,
    members,
  })
  if (isRecorded) context.counters.aggregatesMade += 1
  return isRecorded
}

/** How high the trees of aggregates are. */
export interface AggregateHeights {
  readonly least: number
  readonly target: number
}

/** How high an aggregate is at least, so that every prover takes it, and at most. */
export function heightsOf(context: Pick<PlacementContext, 'provers' | 'aggregateTargetBytes'>): AggregateHeights {
  const limits = networkOf(context).map((prover) => prover.limits)
  const maximumBytes = Math.min(Number.MAX_SAFE_INTEGER, ...limits.map((limit) => limit.maximumBytes))
  const minimumBytes = Math.max(0, ...limits.map((limit) => limit.minimumBytes))
  let target = MIN_HEIGHT
  while (
    LEAF_BYTES * 2 ** (target + 1) <= context.aggregateTargetBytes &&
    rawCapacityBytes(target + 1) <= maximumBytes
  ) {
    target += 1
  }
  let least = MIN_HEIGHT
  while (rawCapacityBytes(least) < minimumBytes) least += 1
  return { least, target: Math.max(least, target) }
}
