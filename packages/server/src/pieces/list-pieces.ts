import { type ContentId, pieceCidOf } from '@lade/core/content'
import { paddedSizeBytes, pieceCidV1, pieceCidV2, pieceHeight } from '@lade/core/piece'
import type { PieceCidsItem, PieceCidsResult } from '@lade/core/wire'
import type { ObjectPiece, RecordStore } from '../records/record-store.ts'

export interface ListPiecesInput {
  readonly cids: readonly ContentId[]
  readonly now: number
  /** Whose private files may be answered, beside everybody's public ones. */
  readonly principal: string
}

/**
 * The pieces of what `cids` name, each answered as often as it is asked for.
 *
 * Missing is what the caller may not retrieve, and bytes that were staged before pieces were computed.
 *
 * @throws {LadeError} `storage_failed`.
 */
export async function listPieces(records: RecordStore, input: ListPiecesInput): Promise<PieceCidsResult> {
  const { cids, now, principal } = input
  const pieces = await records.content.pieces({ keys: cids.map(({ key }) => key), now, principal })
  const objects = new Set(pieces.flatMap((piece) => (piece === undefined ? [] : [piece.object])))
  const aggregates = await records.placements.aggregatesOf([...objects])
  const aggregateOf = new Map(aggregates.map((aggregate) => [aggregate.object, pieceCidOf(aggregate)]))
  const items: PieceCidsItem[] = []
  const missing: string[] = []
  for (const [index, { text }] of cids.entries()) {
    const piece = pieces[index]
    if (piece === undefined) missing.push(text)
    else items.push({ ...itemOf(text, piece), aggregate: aggregateOf.get(piece.object) ?? null })
  }
  return { items, missing }
}

function itemOf(cid: string, { sizeBytes, pieceRoot }: ObjectPiece): Omit<PieceCidsItem, 'aggregate'> {
  const root = Buffer.from(pieceRoot, 'hex')
  return {
    cid,
    pieceCid: pieceCidV2({ root, rawSizeBytes: sizeBytes }),
    pieceCidV1: pieceCidV1(root),
    rawSize: sizeBytes,
    paddedSize: paddedSizeBytes(sizeBytes),
    height: pieceHeight(sizeBytes),
  }
}
