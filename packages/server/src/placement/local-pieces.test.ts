import { pieceCidV2 } from '@lade/core/piece'
import { expect, test } from 'vitest'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'
import { localPieces } from './local-pieces.ts'

const SUBTREE_BYTES = 127 * 1024 * 1024
const roots = (...bytes: number[]): Uint8Array => Buffer.concat(bytes.map((byte) => new Uint8Array(32).fill(byte)))

/** What is found of a piece at this place of an object with four subtrees. */
async function rootsFound(offsetBytes: number, sizeBytes: number): Promise<Uint8Array | undefined> {
  const piece = { id: 1, pieceRoot: '00'.repeat(32), sizeBytes, source: { kind: 'object', object: 'o', offsetBytes } }
  const recorded = async () => ({ piece, pieceSubtreeRoots: roots(1, 2, 3, 4) })
  const records = { placements: { recorded } } as unknown as RecordStore
  const pieceCid = pieceCidV2({ root: new Uint8Array(32), rawSizeBytes: sizeBytes })
  return (await localPieces({ records, blobs: openMemoryBlobStore() })({ pieceCid }))?.subtreeRoots
}

test('a piece of its own and a slice of an object come with the roots of their subtrees', async () => {
  expect(await rootsFound(0, 4 * SUBTREE_BYTES - 1)).toEqual(roots(1, 2, 3, 4))
  expect(await rootsFound(SUBTREE_BYTES, 2 * SUBTREE_BYTES)).toEqual(roots(2, 3))
  expect(await rootsFound(3 * SUBTREE_BYTES, SUBTREE_BYTES - 1)).toEqual(roots(4))
  expect(await rootsFound(1, SUBTREE_BYTES)).toHaveLength(0)
})
