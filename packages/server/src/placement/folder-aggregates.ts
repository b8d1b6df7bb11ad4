import { Aggregate, aggregateHeightOf, indexEntryCount, indexOffsetBytes, paddedSizeBytes } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { NewAggregate } from '../records/record-store.ts'
import type { AggregateHeights } from './aggregate.ts'
import { commitmentOf } from './commitment-of.ts'
import type { CuttableObject } from './cut-pieces.ts'

/**
 * Puts the small files of one folder together to pieces (FRC-0058), each as big as is aimed for but the last. No byte is read: the
 * commitment of an aggregate follows from those of its members.
 *
 * @example
 * folderAggregates(tenThousandFilesOf4KiB, { least: 4, target: 21 }).length // 1
 */
export function folderAggregates(
  objects: readonly CuttableObject[],
  { least, target }: AggregateHeights,
): NewAggregate[] {
  const sorted = objects.toSorted((one, other) => other.sizeBytes - one.sizeBytes)
  const aggregates: NewAggregate[] = []
  let open: CuttableObject[] = []
  let takenBytes = 0
  for (const object of sorted) {
    const paddedBytes = paddedSizeBytes(object.sizeBytes)
    if (open.length === indexEntryCount(target) || takenBytes + paddedBytes > indexOffsetBytes(target)) {
      aggregates.push(aggregateOf(open, least))
      open = []
      takenBytes = 0
    }
    open.push(object)
    takenBytes += paddedBytes
  }
  return open.length === 0 ? aggregates : [...aggregates, aggregateOf(open, least)]
}

function aggregateOf(objects: readonly CuttableObject[], leastHeight: number): NewAggregate {
  const pieces = objects.map(commitmentOf)
  const height = Math.max(aggregateHeightOf(pieces), leastHeight)
  const { commitment, segments } = new Aggregate(pieces, { height, hashPairs: pieceHashing.hashPairs })
  return {
    pieceRoot: hexOf(commitment.root),
    sizeBytes: commitment.rawSizeBytes,
    members: objects.map(({ object }, at) => ({ object, paddedOffsetBytes: segments[at]?.paddedOffsetBytes ?? 0 })),
  }
}
