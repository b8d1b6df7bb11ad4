import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { padFr32 } from './fr32.ts'
import { hashPieceLevel, makeLeafProof, type ReadRaw, verifyLeafProof } from './leaf-proof.ts'
import { hashPiece, PieceHasher } from './piece-hasher.ts'
import { pieceHeight, rawCapacityBytes } from './piece-size.ts'
import { foldSubtreeRoots } from './piece-subtrees.ts'
import { bytesOfVector, type PieceVector, scatteredBytes } from './testing-pieces.ts'
import { zeroCommitment } from './zero-commitments.ts'

interface ProofVector {
  readonly pieces: readonly { readonly pieceCid: string; readonly rawSize: number; readonly root: string }[]
  readonly proofs: readonly {
    readonly piece: number
    readonly leafIndex: number
    readonly leaf: string
    readonly proof: readonly string[]
  }[]
}

const readVector = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../../vectors/piece/${name}`, import.meta.url), 'utf8'))
const PIECES: readonly PieceVector[] = readVector('commp.json')
const CHALLENGE: ProofVector = readVector('pdp-challenge.json')
const unhex = (text: string) => base16.baseDecode(text.slice(2))

/** Reads from bytes in memory, and remembers how much was asked for. */
function readerOf(bytes: Uint8Array) {
  const reads: number[] = []
  const readRaw: ReadRaw = (offset, length) => {
    reads.push(length)
    expect(offset + length).toBeLessThanOrEqual(bytes.length)
    expect(length).toBeGreaterThan(0)
    return bytes.subarray(offset, offset + length)
  }
  return { reads, readRaw }
}

const flipped = (bytes: Uint8Array, bit: number) =>
  bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))

describe('makeLeafProof', () => {
  test.each(CHALLENGE.proofs)('makes the proof of the vector for leaf $leafIndex of piece $piece', async (vector) => {
    const piece = CHALLENGE.pieces[vector.piece]
    const gen = PIECES.find(({ pieceCidV2 }) => pieceCidV2 === piece?.pieceCid)?.gen
    if (piece === undefined || gen === undefined) throw new Error('the vector names no piece')
    const { leafIndex } = vector
    const { readRaw } = readerOf(bytesOfVector(gen))
    const made = await makeLeafProof({ rawSizeBytes: piece.rawSize, leafIndex, readRaw })
    const expected = { leaf: unhex(vector.leaf), proof: vector.proof.map(unhex) }
    expect(made).toEqual({ ...expected, root: unhex(piece.root) })
    const height = pieceHeight(piece.rawSize)
    expect(verifyLeafProof({ root: unhex(piece.root), height, leafIndex, ...expected })).toBe(true)
  })

  test('makes a proof that verifies for every leaf, padding included, from any level or none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat({ max: 4000 }), fc.integer({ min: 64_900, max: 300_000 })),
        fc.nat({ max: 2 ** 31 }),
        fc.option(fc.integer({ min: 2, max: 13 })),
        async (rawSizeBytes, someIndex, levelHeight) => {
          const bytes = scatteredBytes(rawSizeBytes, rawSizeBytes)
          const { root } = hashPiece(bytes)
          const height = pieceHeight(rawSizeBytes)
          const leafIndex = someIndex % 2 ** height
          const { readRaw } = readerOf(bytes)
          const level =
            levelHeight === null ? {} : { level: await hashPieceLevel({ rawSizeBytes, readRaw, height: levelHeight }) }
          const made = await makeLeafProof({ rawSizeBytes, leafIndex, readRaw, ...level })
          expect(made.root).toEqual(root)
          expect(made.proof.length).toBe(height)
          expect(verifyLeafProof({ root, height, leafIndex, leaf: made.leaf, proof: made.proof })).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('gives the 32 padded bytes at the index as the leaf', async () => {
    const quads = scatteredBytes(1016, 4)
    const padded = padFr32(quads)
    for (let leafIndex = 0; leafIndex < 32; leafIndex += 1) {
      const { leaf } = await makeLeafProof({ rawSizeBytes: 1016, leafIndex, ...readerOf(quads) })
      expect(leaf).toEqual(padded.subarray(32 * leafIndex, 32 * leafIndex + 32))
    }
  })

  test('reads one slice of a piece of 32 GiB when its level was kept', async () => {
    const rawSizeBytes = rawCapacityBytes(30)
    const slice = scatteredBytes(65_024, 8)
    const section = 300_000
    const nodes = new Uint8Array(32 * 2 ** 19)
    for (let at = 0; at < nodes.length; at += 32) nodes.set(zeroCommitment(11), at)
    nodes.set(hashPiece(slice).root, 32 * section)
    const root = foldSubtreeRoots(nodes, rawSizeBytes, { subtreeHeight: 11 })

    const reads: [number, number][] = []
    const readRaw: ReadRaw = (...range) => {
      reads.push(range)
      return slice
    }
    const leafIndex = section * 2048 + 777
    const made = await makeLeafProof({ rawSizeBytes, leafIndex, readRaw, level: { height: 11, nodes } })
    expect(reads).toEqual([[section * 65_024, 65_024]])
    expect(made.root).toEqual(root)
    expect(verifyLeafProof({ root, height: 30, leafIndex, leaf: made.leaf, proof: made.proof })).toBe(true)
    expect(nodes.subarray(32 * section, 32 * section + 32)).toEqual(hashPiece(slice).root)
  })

  test('leads to another root when the bytes have rotted, with and without a level', async () => {
    const bytes = scatteredBytes(200_000, 6)
    const { root } = hashPiece(bytes)
    const level = await hashPieceLevel({ rawSizeBytes: bytes.length, ...readerOf(bytes) })
    const intact = level.nodes.slice()
    const rotten = flipped(bytes, 8 * 150_000)
    const leafIndex = Math.floor((150_000 * 4) / 127)
    for (const kept of [{}, { level }]) {
      const made = await makeLeafProof({ rawSizeBytes: bytes.length, leafIndex, ...readerOf(rotten), ...kept })
      expect(made.root).not.toEqual(root)
      expect(level.nodes).toEqual(intact)
      expect(verifyLeafProof({ root, height: 13, leafIndex, leaf: made.leaf, proof: made.proof })).toBe(false)
    }
  })

  test('refuses a leaf that the tree does not have', async () => {
    for (const leafIndex of [-1, 4, 0.5, Number.NaN]) {
      const made = makeLeafProof({ rawSizeBytes: 100, leafIndex, ...readerOf(new Uint8Array(100)) })
      await expect(made).rejects.toThrow(TypeError)
    }
  })

  test('refuses a level of another piece and bytes that were not asked for', async () => {
    const bytes = scatteredBytes(200_000, 6)
    const level = await hashPieceLevel({ rawSizeBytes: 100_000, ...readerOf(bytes) })
    const ask = { rawSizeBytes: 200_000, leafIndex: 0 }
    await expect(makeLeafProof({ ...ask, ...readerOf(bytes), level })).rejects.toThrow(TypeError)
    await expect(makeLeafProof({ ...ask, readRaw: () => bytes })).rejects.toThrow(TypeError)
  })
})

describe('hashPieceLevel', () => {
  test('gives the subtree roots of a hasher of that height, and reads each byte once', async () => {
    const bytes = scatteredBytes(2_500_000, 2)
    const { reads, readRaw } = readerOf(bytes)
    const hasher = new PieceHasher({ subtreeHeight: 11 })
    hasher.update(bytes)
    const level = await hashPieceLevel({ rawSizeBytes: bytes.length, readRaw })
    expect(level).toEqual({ height: 11, nodes: hasher.finish().subtreeRoots })
    expect(reads.reduce((sum, length) => sum + length, 0)).toBe(bytes.length)
    expect(Math.max(...reads)).toBeLessThanOrEqual(2 ** 20)
  })
})

describe('verifyLeafProof', () => {
  const bytes = scatteredBytes(3000, 7)
  const { root } = hashPiece(bytes)
  const height = pieceHeight(bytes.length)
  const leafIndex = 45

  test('refuses a proof with any bit changed', async () => {
    const { leaf, proof } = await makeLeafProof({ rawSizeBytes: bytes.length, leafIndex, ...readerOf(bytes) })
    const good = { root, height, leafIndex, leaf, proof }
    expect(verifyLeafProof(good)).toBe(true)
    for (let bit = 0; bit < 256; bit += 1) {
      expect(verifyLeafProof({ ...good, leaf: flipped(leaf, bit) })).toBe(false)
      expect(verifyLeafProof({ ...good, root: flipped(root, bit) })).toBe(false)
      for (const at of proof.keys()) {
        const changed = proof.map((sibling, index) => (index === at ? flipped(sibling, bit) : sibling))
        expect(verifyLeafProof({ ...good, proof: changed })).toBe(false)
      }
    }
  })

  test('refuses the proof for any other leaf, height or length', async () => {
    const { leaf, proof } = await makeLeafProof({ rawSizeBytes: bytes.length, leafIndex, ...readerOf(bytes) })
    const good = { root, height, leafIndex, leaf, proof }
    const wrong: Partial<typeof good>[] = [
      ...Array.from({ length: 2 ** height }, (_, index) => ({ leafIndex: index })).filter((_, index) => index !== 45),
      { leafIndex: leafIndex + 2 ** height },
      { leafIndex: -1 },
      { leafIndex: 45.5 },
      { leafIndex: Number.NaN },
      { height: height - 1 },
      { height: height + 1 },
      { height: 51 },
      { height: Number.NaN },
      { proof: proof.slice(0, -1) },
      { proof: proof.slice(1) },
      { proof: [...proof, new Uint8Array(32)] },
      { proof: proof.map((sibling) => sibling.subarray(0, 31)) },
      { proof: proof.map((sibling) => Uint8Array.from([...sibling, 0])) },
      { proof: proof.map((sibling, at) => (at === 0 ? Uint8Array.from([...sibling, 0]) : sibling)) },
      { proof: [] },
      { leaf: leaf.subarray(0, 31) },
      { leaf: new Uint8Array(64) },
      { root: root.subarray(0, 31) },
      { root: new Uint8Array(0) },
      { root: Uint8Array.from([...root, 0]) },
    ]
    for (const change of wrong) expect(verifyLeafProof({ ...good, ...change })).toBe(false)
  })

  test('refuses trees higher than the contract reads', () => {
    const zeros = (height: number) => ({
      root: zeroCommitment(height),
      height,
      leafIndex: 0,
      leaf: zeroCommitment(0),
      proof: Array.from({ length: height }, (_, at) => zeroCommitment(at)),
    })
    expect([2, 49, 50, 51].map((height) => verifyLeafProof(zeros(height)))).toEqual([true, true, true, false])
  })

  test('refuses an inner node as a leaf of a lower tree', async () => {
    const { proof } = await makeLeafProof({ rawSizeBytes: bytes.length, leafIndex, ...readerOf(bytes) })
    const inner = hashPiece(bytes, { subtreeHeight: 2 }).subtreeRoots.slice(32 * 11, 32 * 12)
    const shorter = { root, leafIndex: 11, leaf: inner, proof: proof.slice(2) }
    // It is a node of the tree, which a verifier that took the height from the proof would believe to be data.
    expect(verifyLeafProof({ ...shorter, height: height - 2 })).toBe(true)
    expect(verifyLeafProof({ ...shorter, height })).toBe(false)
  })
})
