import { rawCapacityBytes } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import type { BlobStore } from '../blobs/blob-store.ts'
import { pieceNamed } from '../proving/piece-name.ts'
import type { PieceBytes } from '../proving/piece-source.ts'
import type { PieceRecord, RecordStore } from '../records/record-store.ts'
import { pieceBytes } from './piece-bytes.ts'

const NODE_BYTES = 32
/** What each recorded subtree root stands for: 127 MiB. */
const SUBTREE_BYTES = rawCapacityBytes(22)

export interface LocalPiecesDeps {
  readonly records: RecordStore
  /** Undefined when no storage is bound: then there are no pieces. */
  readonly blobs: BlobStore | undefined
}

/** Finds the bytes of pieces that this service has placed with itself. */
export function localPieces({ records, blobs }: LocalPiecesDeps) {
  return async ({ pieceCid }: { readonly pieceCid: string }): Promise<PieceBytes | undefined> => {
    const { root, rawSizeBytes: sizeBytes } = pieceNamed(pieceCid)
    const found = await records.placements.recorded({ pieceRoot: hexOf(root), sizeBytes })
    if (found === undefined || blobs === undefined) return undefined
    const { piece, pieceSubtreeRoots } = found
    const { read, chunks } = pieceBytes({ records, blobs }, piece)
    return { sizeBytes, read, chunks, subtreeRoots: subtreeRootsOf(piece, pieceSubtreeRoots) }
  }
}

/** Those of the object that the piece has: all of them, or where it is a slice of the object, those of the slice. Nobody has checked them. */
function subtreeRootsOf({ source, sizeBytes }: PieceRecord, ofObject: Uint8Array): Uint8Array {
  if (source.kind !== 'object' || source.offsetBytes % SUBTREE_BYTES !== 0) return new Uint8Array()
  const first = source.offsetBytes / SUBTREE_BYTES
  return ofObject.subarray(first * NODE_BYTES, (first + Math.ceil(sizeBytes / SUBTREE_BYTES)) * NODE_BYTES)
}
