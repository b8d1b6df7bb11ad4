import { hexOf } from '@lade/node/hashing/hex'
import type { BlobStore } from '../blobs/blob-store.ts'
import { blockedError } from '../moderation/content-block.ts'
import type { Moderation } from '../moderation/moderation.ts'
import { pieceNamed } from '../proving/piece-name.ts'
import type { PieceRecord, RecordStore } from '../records/record-store.ts'
import { type PieceContent, pieceBytes } from './piece-bytes.ts'

export interface OfferedPieceDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly now: () => number
  readonly moderation: Pick<Moderation, 'content'>
}

/**
 * A piece that is no file by itself and that provers may fetch: bytes that are being staged at a prover, a slice of a big file, an aggregate of
 * small ones. Private files are in none of them.
 *
 * @param pieceCid - of version 2.
 * @throws {LadeError} `blocked` for a piece with bytes that are taken down.
 */
export async function offeredPiece(deps: OfferedPieceDeps, pieceCid: string): Promise<PieceContent | undefined> {
  const { records, now } = deps
  const { root, rawSizeBytes: sizeBytes } = pieceNamed(pieceCid)
  const asked = { pieceRoot: hexOf(root), sizeBytes }
  const offer = await records.offers.find({ ...asked, now: now() })
  if (offer !== undefined) {
    const { object, offsetBytes } = offer
    return unblocked(deps, { id: 0, ...asked, source: { kind: 'object', object, offsetBytes } })
  }
  const placed = await records.placements.pieceOf(asked)
  return placed && unblocked(deps, placed)
}

async function unblocked(deps: OfferedPieceDeps, piece: PieceRecord): Promise<PieceContent> {
  const { records, moderation } = deps
  if (moderation.content.hasTakenDownObjects) {
    const objects = piece.source.kind === 'aggregate' ? await records.placements.membersOf(piece.id) : [piece.source]
    if (objects.some(({ object }) => moderation.content.ofObject(object) !== undefined)) throw blockedError()
  }
  return pieceBytes(deps, piece)
}
