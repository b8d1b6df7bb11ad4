import { paddedSizeBytes } from '@lade/core/piece'
import { LevelHasher } from '../pieces/level-hasher.ts'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'

/** The held piece that a deal is about; undefined when there is none of that root and size. */
export function pieceOfDeal(
  store: PieceStore,
  { root, paddedSizeBytes: dealtBytes }: { readonly root: Uint8Array; readonly paddedSizeBytes: bigint },
): HeldPiece | undefined {
  const piece = store.getByRoot(root)
  return piece !== undefined && BigInt(paddedSizeBytes(piece.rawSizeBytes)) === dealtBytes ? piece : undefined
}

/** Reads all bytes of a piece from the disk and says whether they lead to its root. */
export async function isIntact(store: PieceStore, piece: HeldPiece): Promise<boolean> {
  const reader = await store.read(piece)
  if (reader === undefined) return false
  try {
    const hasher = new LevelHasher()
    for await (const block of reader.blocks(0, piece.rawSizeBytes)) hasher.update(block)
    return Buffer.from(piece.root).equals(hasher.finish().root)
  } finally {
    await reader.close()
  }
}
