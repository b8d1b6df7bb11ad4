import {
  hashPieceLevel,
  type LeafProof,
  makeLeafProof,
  type PieceLevel,
  PROOF_LEVEL_HEIGHT,
  type ReadRaw,
} from '@lade/core/piece'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { SECTION_BYTES } from '../pieces/level-hasher.ts'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'

const NODE_BYTES = 32
const { hashPairs } = pieceHashing

/** Why a piece that should be held cannot be proven: its file is gone, or its bytes lead to another root. */
export type Unprovable = 'lost' | 'rotten'

/**
 * Proves a leaf of a piece from the piece's bytes on the disk.
 *
 * With the kept level this is one read of at most 65,024 bytes. A level that is missing, or with which the proof does not
 * lead to the piece's root, is computed anew from all bytes, about 1 MiB at a time, and kept.
 */
export async function proveLeaf(
  store: PieceStore,
  piece: HeldPiece,
  leafIndex: number,
): Promise<LeafProof | Unprovable> {
  const reader = await store.read(piece)
  if (reader === undefined) return 'lost'
  try {
    const readRaw: ReadRaw = (offsetBytes, lengthBytes) => reader.read(offsetBytes, lengthBytes)
    if (piece.rawSizeBytes <= SECTION_BYTES) return (await makeProof(readRaw, piece, leafIndex)) ?? 'rotten'

    const kept = await keptLevel(store, piece)
    const made = kept && (await makeProof(readRaw, piece, leafIndex, kept))
    if (made !== undefined) return made

    const level = await hashPieceLevel({ rawSizeBytes: piece.rawSizeBytes, readRaw, hashPairs })
    const remade = await makeProof(readRaw, piece, leafIndex, level)
    if (remade === undefined) return 'rotten'
    await store.levels.write(piece.pieceCid, level)
    return remade
  } finally {
    await reader.close()
  }
}

/** Undefined when bytes and level do not lead to the piece's root. */
async function makeProof(
  readRaw: ReadRaw,
  { root, rawSizeBytes }: HeldPiece,
  leafIndex: number,
  level?: PieceLevel,
): Promise<LeafProof | undefined> {
  const made = await makeLeafProof({ rawSizeBytes, leafIndex, readRaw, hashPairs, ...(level && { level }) })
  return Buffer.from(root).equals(made.root) ? { leaf: made.leaf, proof: made.proof } : undefined
}

async function keptLevel(store: PieceStore, { pieceCid, rawSizeBytes }: HeldPiece): Promise<PieceLevel | undefined> {
  const level = await store.levels.read(pieceCid)
  const isWhole = level?.nodes.length === Math.ceil(rawSizeBytes / SECTION_BYTES) * NODE_BYTES
  return isWhole && level.height === PROOF_LEVEL_HEIGHT ? level : undefined
}
