import type { PieceCommitment } from '@lade/core/piece'
import { base16 } from 'multiformats/bases/base16'

/** A piece of the records as core takes it. @param piece.pieceRoot - 64 lower-case hex digits. */
export function commitmentOf(piece: { readonly pieceRoot: string; readonly sizeBytes: number }): PieceCommitment {
  return { root: base16.baseDecode(piece.pieceRoot), rawSizeBytes: piece.sizeBytes }
}
