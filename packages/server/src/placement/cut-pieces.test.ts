import { createCipheriv } from 'node:crypto'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { describe, expect, it } from 'vitest'
import { type CuttableObject, cutPieces, SUBTREE_RAW_BYTES } from './cut-pieces.ts'

const MIB = 1024 * 1024
const noise = createCipheriv('chacha20', Buffer.alloc(32, 7), Buffer.alloc(16)).update(Buffer.alloc(MIB))

/** The piece of `sizeBytes` of noise, from an offset in MiB on: every MiB of it begins with its own number. */
function pieceOf(offsetMib: number, sizeBytes: number) {
  const running = pieceHashing.create()
  for (let at = 0; at < sizeBytes; at += MIB) {
    const block = Buffer.from(noise)
    block.writeUInt32BE(offsetMib + at / MIB)
    running.update(block.subarray(0, Math.min(MIB, sizeBytes - at)))
  }
  return running.finish()
}

function objectOf(sizeBytes: number): CuttableObject {
  const { root, subtreeRoots } = pieceOf(0, sizeBytes)
  return {
    object: 'ab'.repeat(32),
    sizeBytes,
    pieceRoot: Buffer.from(root).toString('hex'),
    pieceSubtreeRoots: subtreeRoots,
  }
}

describe('cutPieces', () => {
  it('leaves alone what one piece can hold', () => {
    const whole = objectOf(3 * MIB)
    const { object, sizeBytes, pieceRoot } = whole
    expect(cutPieces(whole, 3 * MIB)).toEqual([{ object, sizeBytes, pieceRoot, offsetBytes: 0 }])
  })

  it.each([
    ['whole subtrees', 3 * SUBTREE_RAW_BYTES, [0, 1]],
    ['a started one at the end', 3 * SUBTREE_RAW_BYTES + MIB + 5, [0, 2]],
    ['a started one that would stand alone', 2 * SUBTREE_RAW_BYTES + 5, [0, 1]],
  ])('finds the commitments of slices without reading them, with %s', (_title, sizeBytes, firstSubtrees) => {
    const pieces = cutPieces(objectOf(sizeBytes), 2 * SUBTREE_RAW_BYTES)
    expect(pieces.map(({ offsetBytes }) => offsetBytes / SUBTREE_RAW_BYTES)).toEqual(firstSubtrees)
    let end = 0
    for (const { offsetBytes, sizeBytes: sliceBytes, pieceRoot } of pieces) {
      expect(offsetBytes).toBe(end)
      expect(sliceBytes).toBeLessThanOrEqual(2 * SUBTREE_RAW_BYTES)
      expect(Buffer.from(pieceOf(offsetBytes / MIB, sliceBytes).root).toString('hex')).toBe(pieceRoot)
      end += sliceBytes
    }
    expect(end).toBe(sizeBytes)
  })

  it('cuts at the maximum of the network into as few pieces as can be', () => {
    const sizeBytes = 5 * 1024 * MIB
    const roots = new Uint8Array(Math.ceil(sizeBytes / SUBTREE_RAW_BYTES) * 32)
    const pieces = cutPieces({ object: '00', sizeBytes, pieceRoot: '00', pieceSubtreeRoots: roots }, 1_065_353_216)
    expect(pieces.map(({ offsetBytes }) => offsetBytes / SUBTREE_RAW_BYTES)).toEqual([0, 8, 16, 24, 32, 39])
  })

  it('refuses an object without the roots of its subtrees, and pieces that are too small', () => {
    const whole = { ...objectOf(MIB), sizeBytes: 3 * SUBTREE_RAW_BYTES }
    expect(() => cutPieces(whole, 2 * SUBTREE_RAW_BYTES)).toThrow(TypeError)
    const roots = { ...whole, pieceSubtreeRoots: new Uint8Array(96) }
    expect(() => cutPieces(roots, SUBTREE_RAW_BYTES)).toThrow('too small')
  })
})
