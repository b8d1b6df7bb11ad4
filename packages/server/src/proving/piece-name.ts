import { tryParseContentId } from '@lade/core/content'
import { type PieceCommitment, readPieceCid } from '@lade/core/piece'
import { sha256Hex } from '@lade/node/hashing/sha256'

/**
 * What a piece CID of version 2 says: root and raw size.
 *
 * @throws {TypeError} for every other text: piece CIDs that come this far were made here.
 */
export function pieceNamed(pieceCid: string): PieceCommitment {
  const cid = tryParseContentId(pieceCid, sha256Hex)?.cid
  const piece = cid && readPieceCid(cid)
  if (piece === undefined || 'fault' in piece || piece.version !== 2) {
    throw new TypeError(`${pieceCid} is not a piece CID of version 2`)
  }
  return { root: piece.root, rawSizeBytes: piece.rawSizeBytes }
}
