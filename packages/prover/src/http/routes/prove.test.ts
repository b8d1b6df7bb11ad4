import { readFileSync } from 'node:fs'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  challengeIndex,
  findChallengedLeaf,
  hashPiece,
  leafCount,
  pieceHeight,
  verifyLeafProof,
} from '@lade/core/piece'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pieceOf, pieceOfBytes, startTestProver, type TestPiece } from '../../testing/harness.ts'
import { synapseClient } from '../../testing/synapse-client.ts'

interface VectorProof {
  readonly i: number
  readonly challengeIdx: number
  readonly piece: number
  readonly leafIndex: number
  readonly leaf: string
  readonly proof: readonly string[]
}
interface Vector {
  readonly seed: string
  readonly dataSetId: number
  readonly challengeCount: number
  readonly challengeRange: number
  readonly pieces: readonly { readonly pieceCid: string; readonly rawSize: number }[]
  readonly proofs: readonly VectorProof[]
}

const VECTOR: Vector = JSON.parse(
  readFileSync(new URL('../../../../../vectors/piece/pdp-challenge.json', import.meta.url), 'utf8'),
)
/** Entries 16 and 18 of `commp.json`. */
const VECTOR_PIECES = [
  pieceOfBytes(new Uint8Array(1017).fill(0xcc)),
  pieceOfBytes(new Uint8Array(2048).map((_, index) => 7 * index + 13)),
]
const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'

interface Answer {
  readonly challengeRange: number
  readonly proofs: readonly {
    readonly pieceId: number
    readonly pieceCid: string
    readonly challengeIndex: number
    readonly leafIndex: number
    readonly leaf: string
    readonly proof: readonly string[]
  }[]
}

async function startWith(pieces: readonly TestPiece[], options: Parameters<typeof startTestProver>[0] = {}) {
  const prover = await startTestProver(options)
  const client = synapseClient(prover.url)
  for (const { pieceCid, bytes } of pieces) await client.uploadPiece(pieceCid, bytes)
  const prove = async (body: unknown, path = '/pdp/prove') => {
    const answer = await fetch(`${prover.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const text = await answer.text()
    return { status: answer.status, text, answer: (): Answer => JSON.parse(text) }
  }
  return { ...prover, client, prove }
}

const unhex = (text: string) => Buffer.from(text.slice(2), 'hex')

/** Checks what a prover answered as the contract would, from the bytes that it was given. */
function expectProven(answer: Answer, seed: string, dataSetId: bigint, pieces: readonly TestPiece[]): void {
  const leafCounts = pieces.map(({ bytes }) => leafCount(bytes.length))
  const challengeRange = leafCounts.reduce((sum, leaves) => sum + leaves, 0)
  expect(answer.challengeRange).toBe(challengeRange)
  for (const [proofIndex, proof] of answer.proofs.entries()) {
    const index = challengeIndex({ seed: unhex(seed), dataSetId, proofIndex, challengeRange: BigInt(challengeRange) })
    expect(proof.challengeIndex).toBe(Number(index))
    expect({ pieceIndex: proof.pieceId, leafIndex: proof.leafIndex }).toEqual(findChallengedLeaf(leafCounts, index))
    const { bytes = new Uint8Array() } = pieces[proof.pieceId] ?? {}
    const { root, rawSizeBytes } = hashPiece(bytes)
    const isProven = verifyLeafProof({
      root,
      height: pieceHeight(rawSizeBytes),
      leafIndex: proof.leafIndex,
      leaf: unhex(proof.leaf),
      proof: proof.proof.map(unhex),
    })
    expect(isProven).toBe(true)
  }
}

function expectVector(answer: Answer): void {
  const expected = VECTOR.proofs.map(({ piece, challengeIdx, leafIndex, leaf, proof }) => ({
    pieceId: piece,
    pieceCid: VECTOR.pieces[piece]?.pieceCid,
    challengeIndex: challengeIdx,
    leafIndex,
    leaf,
    proof,
  }))
  expect(answer).toEqual({ challengeRange: VECTOR.challengeRange, proofs: expected })
  expectProven(answer, VECTOR.seed, BigInt(VECTOR.dataSetId), VECTOR_PIECES)
}

describe('POST /pdp/prove', () => {
  test('makes the five proofs of the vector', async () => {
    const { prove } = await startWith(VECTOR_PIECES)
    const { seed, dataSetId, challengeCount: count } = VECTOR
    const pieceCids = VECTOR.pieces.map(({ pieceCid }) => pieceCid)
    expectVector((await prove({ seed, dataSetId, count, pieceCids })).answer())
    expectVector((await prove({ seed, dataSetId: String(dataSetId), pieceCids })).answer())
  })

  test('proves any leaf of pieces of any size', async () => {
    const sizes = [127, 65_023, 65_024, 65_025, 130_048, 300_000]
    const pieces = sizes.map((size) => pieceOf(size, size))
    const { prove } = await startWith(pieces)
    const seeds = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((seed) => `0x${Buffer.from(seed).toString('hex')}`)
    await fc.assert(
      fc.asyncProperty(seeds, fc.constantFrom(...pieces), async (seed, piece) => {
        const proven = await prove({ seed, count: 3, pieceCid: piece.pieceCid })
        expectProven(proven.answer(), seed, 0n, [piece])
      }),
      { numRuns: 30 },
    )
  })

  test('makes the kept level again where it is missing or wrong', async () => {
    const piece = pieceOf(300_000)
    const { dir, prove } = await startWith([piece])
    const path = join(dir, 'levels', piece.pieceCid)
    const level = await readFile(path)
    expect(level.length).toBe(5 * 32)
    const damages = [
      () => rm(path),
      () => truncate(path, 100),
      () =>
        writeFile(
          path,
          level.map((byte) => byte ^ 1),
        ),
      () => writeFile(path, ''),
    ]
    for (const damage of damages) {
      await damage()
      expectProven(
        (await prove({ seed: VECTOR.seed, count: 20, pieceCid: piece.pieceCid })).answer(),
        VECTOR.seed,
        0n,
        [piece],
      )
      expect(await readFile(path)).toEqual(level)
    }
  })

  test('gives no proof of a piece that has rotted, nor of one that is gone', async () => {
    for (const size of [1000, 300_000]) {
      const piece = pieceOf(size)
      const { dir, prove } = await startWith([piece])
      const path = join(dir, 'pieces', piece.pieceCid)
      await writeFile(
        path,
        piece.bytes.map((byte) => byte ^ 1),
      )
      const rotten = await prove({ seed: VECTOR.seed, pieceCid: piece.pieceCid })
      expect(rotten).toMatchObject({ status: 410, text: expect.stringMatching(/has other bytes than it should have/) })
      await rm(path)
      expect((await prove({ seed: VECTOR.seed, pieceCid: piece.pieceCid })).status).toBe(410)
      expect((await prove({ seed: VECTOR.seed, pieceCid: piece.pieceCid })).status).toBe(404)
    }
  })

  test('refuses what is no challenge', async () => {
    const piece = pieceOf(127)
    const { prove } = await startWith([piece])
    const { pieceCid } = piece
    const { seed } = VECTOR
    for (const [body, status] of [
      [{ seed: '0x00', pieceCid }, 400],
      [{ seed, pieceCid, count: 0 }, 400],
      [{ seed, pieceCid, count: 101 }, 400],
      [{ seed, pieceCid, dataSetId: -1 }, 400],
      [{ seed, pieceCid, dataSetId: String(2n ** 256n) }, 400],
      [{ seed, pieceCid: 'x' }, 400],
      [{ seed }, 400],
      [{ seed, pieceCid: pieceOf(128).pieceCid }, 404],
    ] as const) {
      expect((await prove(body)).status).toBe(status)
    }
  })
})

describe('POST /pdp/data-sets/{id}/prove', () => {
  test('makes the five proofs of the vector for the data set that has its pieces', async () => {
    const { client, prove } = await startWith(VECTOR_PIECES)
    for (let id = 1; id < VECTOR.dataSetId; id += 1) await client.createDataSet(RECORD_KEEPER, `0x0${id}`)
    const pieceCids = VECTOR.pieces.map(({ pieceCid }) => pieceCid)
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0xff', pieceCids)
    expectVector((await prove({ seed: VECTOR.seed }, `/pdp/data-sets/${VECTOR.dataSetId}/prove`)).answer())
  })

  test('leaves removed pieces out, and has nothing to prove without any', async () => {
    const { client, prove } = await startWith(VECTOR_PIECES)
    const pieceCids = VECTOR.pieces.map(({ pieceCid }) => pieceCid)
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0xff', pieceCids)
    await client.deletePieces(1, '0x01', [0])
    const { challengeRange, proofs } = (await prove({ seed: VECTOR.seed }, '/pdp/data-sets/1/prove')).answer()
    expect(challengeRange).toBe(65)
    expect(new Set(proofs.map(({ pieceId }) => pieceId))).toEqual(new Set([1]))
    await client.deletePieces(1, '0x02', [1])
    expect((await prove({ seed: VECTOR.seed }, '/pdp/data-sets/1/prove')).status).toBe(400)
  })
})
