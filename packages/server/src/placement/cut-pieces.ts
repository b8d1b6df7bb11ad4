import { foldSubtreeRoots } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { NewPiece, ObjectHandle } from '../records/record-store.ts'

/** 127 MiB: the raw bytes of one subtree of which the roots are kept. */
export const SUBTREE_RAW_BYTES = 127 * 1024 * 1024
const NODE_BYTES = 32

/** An object, by what was kept of its piece tree. */
export interface CuttableObject {
  readonly object: ObjectHandle
  readonly sizeBytes: number
  /** 64 hex digits. */
  readonly pieceRoot: string
  /** 32 bytes for each started 127 MiB; empty when there is only one. */
  readonly pieceSubtreeRoots: Uint8Array
}

/**
 * The pieces that an object is handed to provers as: itself, or, when it is bigger than they take, slices at multiples of 127 MiB. No byte is
 * read: the commitments of the slices are folded from what was kept of the whole.
 *
 * No slice but a whole object ends within its first 127 MiB, since the root that is kept of such an end is one of a higher tree.
 *
 * @param maximumBytes - the biggest piece, at least 254 MiB.
 * @throws {TypeError} when a bigger object comes without the roots of its subtrees.
 *
 * @example
 * cutPieces(objectOf5GiB, 1_065_353_216).map(({ offsetBytes }) => offsetBytes / SUBTREE_RAW_BYTES) // [0, 8, 16, 24, 32, 40]
 */
export function cutPieces(whole: CuttableObject, maximumBytes: number): NewPiece[] {
  const { object, sizeBytes, pieceRoot, pieceSubtreeRoots } = whole
  if (sizeBytes <= maximumBytes) return [{ pieceRoot, sizeBytes, object, offsetBytes: 0 }]
  const count = Math.ceil(sizeBytes / SUBTREE_RAW_BYTES)
  if (pieceSubtreeRoots.length !== count * NODE_BYTES)
    throw new TypeError(`an object of ${count} subtrees has no roots of them`)
  const perSlice = Math.floor(maximumBytes / SUBTREE_RAW_BYTES)
  if (perSlice < 2) throw new TypeError(`pieces of ${maximumBytes} bytes are too small to be cut`)

  return sliceEnds(count, perSlice).map(([first, end]) => {
    const offsetBytes = first * SUBTREE_RAW_BYTES
    const sliceBytes = Math.min(end * SUBTREE_RAW_BYTES, sizeBytes) - offsetBytes
    const roots = pieceSubtreeRoots.subarray(first * NODE_BYTES, end * NODE_BYTES)
    const root = foldSubtreeRoots(roots, sliceBytes, { hashPairs: pieceHashing.hashPairs })
    return { pieceRoot: hexOf(root), sizeBytes: sliceBytes, object, offsetBytes }
  })
}

/** From which subtree to before which one each slice goes. */
function sliceEnds(count: number, perSlice: number): [first: number, end: number][] {
  const slices: [number, number][] = []
  for (let first = 0; first < count; first += perSlice) slices.push([first, Math.min(first + perSlice, count)])
  const last = slices.at(-1)
  const before = slices.at(-2)
  // One subtree alone may not be full; the slice before gives it one of its own.
  if (last !== undefined && before !== undefined && last[1] - last[0] === 1) {
    before[1] -= 1
    last[0] -= 1
  }
  return slices
}
