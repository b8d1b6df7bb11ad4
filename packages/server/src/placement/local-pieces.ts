import type { BlobStore } from '../blobs/blob-store.ts'
import { pieceNamed } from '../proving/piece-name.ts'
import type { PieceBytes } from '../proving/prove-bytes.ts'
import type { RecordStore } from '../records/record-store.ts'
import { pieceBytes } from './piece-bytes.ts'

export interface LocalPiecesDeps {
  readonly records: RecordStore
  /** Undefined when no storage is bound: then there are no pieces. */
  readonly blobs: BlobStore | undefined
}

/** Finds the bytes of pieces that this service has placed with itself. */
export function localPieces({ records, blobs }: LocalPiecesDeps) {
  return async ({ pieceCid }: { readonly pieceCid: string }): Promise<PieceBytes | undefined> => {
    const { root, rawSizeBytes: sizeBytes } = pieceNamed(pieceCid)
    const found = await records.placements.recorded({ pieceRoot: Buffer.from(root).toString('hex'), sizeBytes })
    if (found === undefined || blobs === undefined) return undefined
    const { piece, objectBytes, pieceSubtreeRoots } = found
    const { read } = pieceBytes({ records, blobs }, piece)
    const isWhole = objectBytes === sizeBytes && pieceSubtreeRoots.length > 0
    return { sizeBytes, read, ...(isWhole && { subtreeRoots: pieceSubtreeRoots }) }
  }
}
