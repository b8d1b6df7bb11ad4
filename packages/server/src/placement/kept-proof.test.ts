import { createHash } from 'node:crypto'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { expect, test } from 'vitest'
import { proveBytes } from '../proving/prove-bytes.ts'
import { testPiece } from '../proving/testing-pieces.ts'
import { decodeProofs, encodeProofs } from './kept-proof.ts'

const hexes = (proofs: ReturnType<typeof decodeProofs>) =>
  proofs?.map(({ leafIndex, leaf, proof }) => [
    leafIndex,
    ...[leaf, ...proof].map((node) => Buffer.from(node).toString('hex')),
  ])

async function proofsOf(sizeBytes: number, count = 5) {
  const { bytes } = testPiece(sizeBytes)
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length)
  const seed = createHash('sha256').update('seed').digest()
  return proveBytes({ sizeBytes, read }, { piece: pieceHashing.whole(bytes), seed, count })
}

test.each([1, 127, 4096, 200_000])('the proofs of a piece of %i bytes come back as they were', async (sizeBytes) => {
  const proofs = await proofsOf(sizeBytes)
  expect(hexes(decodeProofs(encodeProofs(proofs)))).toEqual(hexes(proofs))
})

test('a node that several proofs have is kept once', async () => {
  const proofs = await proofsOf(4096)
  expect(proofs[0]?.proof).toHaveLength(8)
  expect(encodeProofs(proofs).length).toBeLessThan(1300)
  const same = encodeProofs([...proofs, ...proofs])
  expect(same.length - encodeProofs(proofs).length).toBe(5 * 11)
})

test('proofs that contradict each other come back as they were', async () => {
  const [proof] = await proofsOf(4096)
  if (proof === undefined) throw new Error('no proof')
  const other = { ...proof, leaf: Buffer.alloc(32, 7), proof: proof.proof.toReversed() }
  const short = { leafIndex: Number.MAX_SAFE_INTEGER, leaf: proof.leaf, proof: [] }
  const proofs = [proof, other, short, proof]
  expect(hexes(decodeProofs(encodeProofs(proofs)))).toEqual(hexes(proofs))
})

test('what an older version kept is no such proof', () => {
  expect(decodeProofs(Buffer.from('{"proofs":[]}'))).toBeUndefined()
  expect(decodeProofs(new Uint8Array())).toBeUndefined()
})
