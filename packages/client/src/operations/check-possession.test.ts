import { createHash } from 'node:crypto'
import { parseContentId } from '@lade/core/content'
import { carHeader, carSection } from '@lade/core/dag'
import {
  challengeIndex,
  leafCount,
  makeLeafProof,
  pieceCidV1,
  pieceCidV2,
  pieceHeight,
  zeroCommitment,
} from '@lade/core/piece'
import type { ChallengeResult } from '@lade/core/wire'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { describe, expect, it } from 'vitest'
import { aggregateAnswerFor, answerFor, heldPiece } from '../testing/challenge-answer.ts'
import { noise } from '../testing/noise.ts'
import { checkPossession } from './check-possession.ts'

const NONCE = 'chosen by me'
const sha256 = {
  create: () => createHash('sha256'),
  of: (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()),
}
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const check = (answer: unknown, cid: string, nonce = NONCE) => {
  const id = parseContentId(cid, (bytes) => Buffer.from(sha256.of(bytes)).toString('hex'))
  return checkPossession(answer, { id, nonce, sha256 })
}
const refusal = (reason: string) =>
  expect.objectContaining({
    code: 'unexpected_answer',
    evidence: { httpStatus: 200, reason: `The proof is invalid. ${reason}` },
  })

const file = heldPiece(noise(70_000, 1))
const pieces = [heldPiece(noise(3000, 2)), heldPiece(noise(900, 3))]
const plain = await answerFor(file, NONCE)
const aggregated = await aggregateAnswerFor(pieces, 1, NONCE)

type Path = readonly (string | number)[]
/** Where there is a text or a number in an answer. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))
}
/** The same answer with something else at one place. */
function withChange(answer: unknown, [key = '', ...rest]: Path, change: (old: unknown) => unknown): unknown {
  const copy = structuredClone(answer) as Record<string | number, unknown>
  copy[key] = rest.length === 0 ? change(copy[key]) : withChange(copy[key], rest, change)
  return copy
}
/** Another digit or letter at a place of a text, another number. */
const flip = (place: number) => (old: unknown) => {
  if (typeof old !== 'string') return Number(old) + 1 + place
  const at = place % old.length
  return `${old.slice(0, at)}${old[at] === 'a' ? 'b' : 'a'}${old.slice(at + 1)}`
}

describe('checkPossession', () => {
  it('takes what an honest service answers', async () => {
    expect(check(plain, plain.cid)).toEqual({ pieceCid: pieceCidV2(file), isPieceOfCid: true })
    expect(check(aggregated, aggregated.cid)).toEqual({ pieceCid: aggregated.cid, isPieceOfCid: true })
    const smallest = heldPiece(noise(1, 4))
    expect(check(await answerFor(smallest, 'n'), pieceCidV2(smallest), 'n').isPieceOfCid).toBe(true)
  })

  it('says that ids which are made otherwise do not name the piece, nor does a piece CID of version 1', () => {
    for (const cid of [
      'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
      'myfile01',
      pieceCidV1(file.root),
    ]) {
      expect(check(plain, cid)).toEqual({ pieceCid: pieceCidV2(file), isPieceOfCid: false })
    }
  })

  it('believes nothing of an answer that is changed anywhere', () => {
    for (const answer of [plain, aggregated]) {
      // What is left is what the service says of itself, and the id as asked.
      const paths = pathsOf(answer).filter(([key]) => key !== 'cid' && key !== 'prover')
      fc.assert(
        fc.property(fc.constantFrom(...paths), fc.nat(), (path, place) => {
          expect(() => check(withChange(answer, path, flip(place)), answer.cid)).toThrow('The proof is invalid.')
        }),
        { numRuns: 400 },
      )
    }
  })

  it('takes answers of any other form for none, and fails in no other way', () => {
    for (const answer of [null, undefined, 7, 'yes', [], {}])
      expect(() => check(answer, plain.cid)).toThrow('The proof is invalid.')
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(aggregated)), fc.jsonValue(), (path, value) => {
        fc.pre(path[0] !== 'cid' && path[0] !== 'prover')
        for (let length = 1; length <= path.length; length += 1) {
          const answer = withChange(aggregated, path.slice(0, length), () => value)
          expect(() => check(answer, aggregated.cid)).toThrow('The proof is invalid.')
        }
      }),
    )
  })

  it('refuses the proof of another piece, and of another nonce', async () => {
    const other = await answerFor(pieces[0] ?? file, NONCE)
    expect(() => check(other, plain.cid)).toThrow(refusal('It is for another piece.'))
    expect(() => check(plain, plain.cid, 'another')).toThrow(refusal('It is for another nonce.'))
    // An aggregate is not the file, though it holds it.
    expect(() => check({ ...aggregated, inclusion: null }, aggregated.cid)).toThrow(refusal('It is for another piece.'))
  })

  it('refuses an aggregate that claims fewer bytes than its tree takes, and so challenges its first leaves alone', async () => {
    // Two pieces of 4096 and 1024 padded bytes, and the index, in a tree of 8192.
    for (const claimedBytes of [8127, 4065]) {
      const answer = await aggregateAnswerFor(pieces, 1, NONCE, claimedBytes)
      expect(answer.height).toBe(aggregated.height)
      expect(() => check(answer, answer.cid)).toThrow(
        refusal('Its aggregate has an impossible size, so the proof may leave out the file.'),
      )
    }
  })

  it('does not take the CAR of a file for the file', async () => {
    const root = CID.createV1(0x55, create(0x12, sha256.of(file.bytes)))
    const section = Buffer.concat([carSection(root, file.bytes.length), file.bytes])
    const car = await answerFor(heldPiece(Buffer.concat([carHeader([root]), section])), NONCE)
    expect(() => check(car, pieceCidV2(file))).toThrow(refusal('It is for another piece.'))
    expect(check(car, root.toString())).toEqual({ pieceCid: car.pieceCid, isPieceOfCid: false })
  })

  it('lets a big file be proved by a piece of it, and says so', () => {
    const whole = (rawSizeBytes: number) => pieceCidV2({ root: zeroCommitment(40), rawSizeBytes })
    expect(check(plain, whole(2 ** 30)).isPieceOfCid).toBe(false)
    expect(() => check(plain, whole(254 * 1024 * 1024))).toThrow(refusal('It is for another piece.'))
    expect(() => check(aggregated, whole(2 ** 30))).toThrow(refusal('It is for another piece.'))
  })

  it('does not call the piece of a version 1 proved when nodes of its tree pass for its leaves', async () => {
    const answer = await answerByInnerNodes()
    // All that it takes is half of the piece, in hashes: the id says nothing about the size.
    expect(check(answer, pieceCidV1(file.root)).isPieceOfCid).toBe(false)
    expect(() => check(answer, plain.cid)).toThrow(refusal('It is for another piece.'))
  })
})

/** A proof that holds for the file's root and half of its size. */
async function answerByInnerNodes(): Promise<ChallengeResult> {
  const claimed = { root: file.root, rawSizeBytes: file.rawSizeBytes / 2 }
  const seed = sha256.of(Buffer.from(`lade possession\0${NONCE}`))
  const challengeRange = BigInt(leafCount(claimed.rawSizeBytes))
  const readRaw = (offset: number, length: number) => file.bytes.slice(offset, offset + length)
  const proofs = [0, 1, 2, 3, 4].map(async (proofIndex) => {
    const leafIndex = Number(challengeIndex({ seed, dataSetId: 0n, proofIndex, challengeRange }))
    const below = await makeLeafProof({ rawSizeBytes: file.rawSizeBytes, leafIndex: 2 * leafIndex, readRaw })
    const [sibling = new Uint8Array(), ...proof] = below.proof
    const node = sha256.of(Buffer.concat([below.leaf, sibling]))
    node[31] = (node[31] ?? 0) & 0x3f
    return { leafIndex, leaf: hex(node), proof: proof.map(hex) }
  })
  const height = pieceHeight(claimed.rawSizeBytes)
  return { ...plain, pieceCid: pieceCidV2(claimed), height, proofs: await Promise.all(proofs) }
}
