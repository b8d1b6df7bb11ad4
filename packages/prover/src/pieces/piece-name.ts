import { tryParseContentId } from '@lade/core/content'
import { type PieceCid, pieceCidV1, pieceCidV2, readPieceCid } from '@lade/core/piece'
import { sha256Hex } from '@lade/node/hashing/sha256'

/** A piece by its CID of version 2, which names exactly one run of bytes. */
export interface PieceName {
  /** In base32. Two pieces never share one. */
  readonly pieceCid: string
  /** 32 bytes. */
  readonly root: Uint8Array
  readonly rawSizeBytes: number
}

/** A CID of version 1 names every piece that differs only in the zeros at its end. */
export interface RootName {
  readonly pieceCidV1: string
  readonly root: Uint8Array
}

/**
 * Reads a piece CID of version 2 in any multibase.
 *
 * @returns undefined for every other text, version 1 among them.
 */
export function parsePieceName(text: string): PieceName | undefined {
  const piece = parse(text)
  if (piece?.version !== 2) return undefined
  const { root, rawSizeBytes } = piece
  return { pieceCid: pieceCidV2({ root, rawSizeBytes }), root, rawSizeBytes }
}

/** Reads a piece CID of either version; undefined for every other text. */
export function parseAnyPieceName(text: string): PieceName | RootName | undefined {
  const piece = parse(text)
  if (piece?.version === 1) return { pieceCidV1: pieceCidV1(piece.root), root: piece.root }
  return parsePieceName(text)
}

function parse(text: string): PieceCid | undefined {
  const cid = tryParseContentId(text, sha256Hex)?.cid
  const piece = cid && readPieceCid(cid)
  return piece === undefined || 'fault' in piece ? undefined : piece
}
