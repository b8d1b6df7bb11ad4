import { LadeError } from '@lade/core/errors'
import { rawOffsetBytes } from '@lade/core/piece'
import type { ByteRange } from '../blobs/blob-store.ts'
import type { PieceRecord } from '../records/record-store.ts'
import { pieceBytes } from './piece-bytes.ts'
import type { PlacementContext } from './placement-context.ts'

/** Some bytes of a piece, as they are here. */
export interface PieceSample {
  readonly range: ByteRange
  readonly bytes: Uint8Array
}

/**
 * Bytes of a piece from a random place of those that are still here; of an aggregate, from one of its members.
 *
 * @returns undefined when nothing of it is here any more, or the storage does not give it now.
 */
export async function samplePiece(
  context: PlacementContext,
  piece: PieceRecord,
  maxBytes: number,
): Promise<PieceSample | undefined> {
  const place = await randomPlace(context, piece)
  if (place === undefined) return undefined
  const length = Math.min(maxBytes, place.length)
  const range = { offset: place.offset + randomBelow(context, place.length - length + 1), length }
  try {
    return { range, bytes: await pieceBytes(context, piece).read(range.offset, range.length) }
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    return undefined
  }
}

async function randomPlace(context: PlacementContext, piece: PieceRecord): Promise<ByteRange | undefined> {
  if (piece.source.kind !== 'aggregate') return { offset: 0, length: piece.sizeBytes }
  const members = await context.records.placements.membersOf(piece.id)
  const kept = members.filter(({ isKept }) => isKept)
  const member = kept[randomBelow(context, kept.length)]
  return member && { offset: rawOffsetBytes(member.paddedOffsetBytes), length: member.sizeBytes }
}

/** A whole number from 0 to below `end`; 0 for an end of 0. Sizes are far below the 2^48 numbers that it is taken from. */
function randomBelow({ randomBytes }: PlacementContext, end: number): number {
  const bytes = randomBytes(6)
  const number = new DataView(bytes.buffer, bytes.byteOffset, 6)
  return end === 0 ? 0 : (number.getUint16(0) * 2 ** 32 + number.getUint32(2)) % end
}
