import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Aggregate } from './aggregate.ts'
import { padFr32, unpadFr32 } from './fr32.ts'
import { portableHashPairs } from './hash-pairs.ts'
import { type InclusionProof, provenRawOffsetBytes, verifyInclusion } from './inclusion-proof.ts'
import { writeIndexEntry } from './index-entry.ts'
import { collectPath, type MerklePath } from './merkle-path.ts'
import { hashPiece } from './piece-hasher.ts'
import { pieceHeight } from './piece-size.ts'
import { scatteredBytes } from './testing-pieces.ts'

const PIECES = [1016, 2000, 100, 127, 5000].map((size, seed) => hashPiece(scatteredBytes(size, seed)))
const AGGREGATE = new Aggregate(PIECES, { height: 15 })
const aggregate = AGGREGATE.commitment

const flipped = (bytes: Uint8Array, bit: number) =>
  bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))

/** The same path with one bit of one sibling changed. */
const tampered = (path: MerklePath, at: number, bit: number): MerklePath => ({
  ...path,
  siblings: path.siblings.map((sibling, index) => (index === at ? flipped(sibling, bit) : sibling)),
})

/** Every piece with its proof. */
const PROVEN = PIECES.map((piece, number) => ({ piece, proof: AGGREGATE.proveInclusion(number) }))

describe('verifyInclusion', () => {
  test('believes the proof of every piece, and of no other', () => {
    for (const { piece, proof } of PROVEN) {
      for (const other of PIECES) expect(verifyInclusion({ aggregate, piece: other, proof })).toBe(other === piece)
    }
  })

  test('believes no proof with a bit changed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PROVEN),
        fc.boolean(),
        fc.nat(),
        fc.nat({ max: 255 }),
        (proven, inEntry, some, bit) => {
          const { piece, proof } = proven
          const path = inEntry ? proof.entry : proof.segment
          const changed = tampered(path, some % path.siblings.length, bit)
          const forged = inEntry ? { ...proof, entry: changed } : { ...proof, segment: changed }
          expect(verifyInclusion({ aggregate, piece, proof: forged })).toBe(false)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('believes no piece or aggregate with a bit of its root changed', () => {
    for (const { piece, proof } of PROVEN) {
      for (let bit = 0; bit < 256; bit += 1) {
        const otherPiece = { ...piece, root: flipped(piece.root, bit) }
        expect(verifyInclusion({ aggregate, piece: otherPiece, proof })).toBe(false)
        const otherAggregate = { ...aggregate, root: flipped(aggregate.root, bit) }
        expect(verifyInclusion({ aggregate: otherAggregate, piece, proof })).toBe(false)
      }
    }
  })

  test('believes no proof with paths of another shape', () => {
    for (const { piece, proof } of PROVEN) {
      const { segment, entry } = proof
      const wrongPaths = (path: MerklePath): MerklePath[] => [
        { ...path, position: path.position + 1 },
        { ...path, position: path.position + 2 ** path.siblings.length },
        { ...path, position: -1 },
        { ...path, position: path.position + 0.5 },
        { ...path, position: Number.NaN },
        { ...path, siblings: path.siblings.slice(1) },
        { ...path, siblings: path.siblings.slice(0, -1) },
        { ...path, siblings: [...path.siblings, new Uint8Array(32)] },
        { ...path, siblings: path.siblings.map((sibling) => sibling.subarray(1)) },
        { ...path, siblings: path.siblings.map((sibling) => Uint8Array.from([...sibling, 0])) },
        { ...path, siblings: [] },
      ]
      const forgeries: InclusionProof[] = [
        ...wrongPaths(segment).map((wrong) => ({ segment: wrong, entry })),
        ...wrongPaths(entry).map((wrong) => ({ segment, entry: wrong })),
        { segment: entry, entry: segment },
      ]
      for (const forged of forgeries) expect(verifyInclusion({ aggregate, piece, proof: forged })).toBe(false)
    }
  })

  test('believes no proof with the index entry of another piece', () => {
    for (const { piece, proof } of PROVEN) {
      for (const other of PROVEN) {
        const mixed = { segment: proof.segment, entry: other.proof.entry }
        expect(verifyInclusion({ aggregate, piece, proof: mixed })).toBe(other.piece === piece)
      }
    }
  })

  test('takes the sizes of piece and aggregate by their heights', () => {
    const [first] = PROVEN
    if (first === undefined) throw new Error('there are pieces')
    const withSize = (rawSizeBytes: number) => ({ ...first, piece: { ...first.piece, rawSizeBytes } })
    expect(verifyInclusion({ aggregate, ...withSize(1015) })).toBe(true)
    expect(verifyInclusion({ aggregate, ...withSize(1017) })).toBe(false)
    expect(verifyInclusion({ aggregate, ...withSize(508) })).toBe(false)
    const ofSize = (rawSizeBytes: number) => ({ ...aggregate, rawSizeBytes })
    expect(verifyInclusion({ aggregate: ofSize(aggregate.rawSizeBytes - 1), ...first })).toBe(true)
    expect(verifyInclusion({ aggregate: ofSize(aggregate.rawSizeBytes + 1), ...first })).toBe(false)
    expect(verifyInclusion({ aggregate: ofSize(127), ...first })).toBe(false)
  })

  /**
   * An aggregate of 1024 padded bytes, whose index is the last 256, by someone who writes what they like: a payload at 0, and
   * somewhere an entry that calls it a piece of 128 bytes. The path of the segment begins at a node of some height.
   */
  function forge(payload: Uint8Array, entryOffsetBytes: number, segmentHeight: number) {
    const piece = { root: hashPiece(payload).root, rawSizeBytes: 127 }
    const padded = new Uint8Array(1024)
    padded.set(padFr32(payload))
    padded.set(writeIndexEntry({ root: piece.root, paddedOffsetBytes: 0, paddedSizeBytes: 128 }), entryOffsetBytes)
    const { root, rawSizeBytes } = hashPiece(unpadFr32(padded))
    const segment = collectPath(padded, 0, 5, 0, portableHashPairs)
    const entry = collectPath(padded, 0, 5, entryOffsetBytes / 32, portableHashPairs)
    const proof = {
      segment: { position: 0, siblings: segment.siblings.slice(segmentHeight) },
      entry: { position: entryOffsetBytes / 64, siblings: entry.siblings.slice(1) },
    }
    return { aggregate: { root, rawSizeBytes }, piece, proof }
  }

  test('believes no entry that gives a segment another size than its place in the tree', () => {
    expect(verifyInclusion(forge(scatteredBytes(127, 3), 768, 2))).toBe(true)
    expect(verifyInclusion(forge(scatteredBytes(254, 3), 768, 3))).toBe(false)
  })

  test('believes no aggregate that is too small for an index or too big to be counted, and no root that is no node', () => {
    const wholeAggregate = (rawSizeBytes: number, root: Uint8Array) => {
      const piece = { root, rawSizeBytes }
      const siblings = Array.from({ length: pieceHeight(rawSizeBytes) - 1 }, () => new Uint8Array(32))
      const position = 2 ** siblings.length - 1
      return {
        aggregate: piece,
        piece,
        proof: { segment: { position: 0, siblings: [] }, entry: { position, siblings } },
      }
    }
    for (const rawSizeBytes of [127, 254, 508, Number.MAX_SAFE_INTEGER]) {
      expect(verifyInclusion(wholeAggregate(rawSizeBytes, new Uint8Array(32)))).toBe(false)
      expect(verifyInclusion(wholeAggregate(rawSizeBytes, new Uint8Array(32).fill(0xff)))).toBe(false)
      expect(verifyInclusion(wholeAggregate(rawSizeBytes, new Uint8Array(31)))).toBe(false)
    }
  })

  test('believes no entry that stands outside the index', () => {
    const payload = scatteredBytes(127, 3)
    expect([128, 512, 704, 768, 960].map((offset) => verifyInclusion(forge(payload, offset, 2)))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })
})

describe('provenRawOffsetBytes', () => {
  test('is where the piece begins in the raw bytes', () => {
    const payloads = [1016, 2000, 100].map((size, seed) => scatteredBytes(size, seed))
    const pieces = payloads.map((payload) => hashPiece(payload))
    const made = new Aggregate(pieces)
    const offsets = pieces.map((piece, number) => provenRawOffsetBytes(piece, made.proveInclusion(number)))
    expect(offsets).toEqual([0, 2032, 4064])
  })
})
