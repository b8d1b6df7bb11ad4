import type { PieceRecord } from '../records/record-store.ts'
import type { PlacementContext } from './placement-context.ts'

/** True for an aggregate that cannot be made any more: files in it were removed. */
export async function isIncomplete(
  { records }: Pick<PlacementContext, 'records'>,
  piece: PieceRecord,
): Promise<boolean> {
  if (piece.source.kind !== 'aggregate') return false
  return (await records.placements.membersOf(piece.id)).some(({ isKept }) => !isKept)
}
