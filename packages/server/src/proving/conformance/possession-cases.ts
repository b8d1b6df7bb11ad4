import { randomBytes } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'
import { pieceNamed } from '../piece-name.ts'
import { testPiece } from '../testing-pieces.ts'
import { possessionFlaw } from '../verify-possession.ts'
import { failureOf, type ProverBench } from './bench.ts'
import type { ProverCase } from './case.ts'

/** Why the prover's answer does not show that it has the piece; undefined when it does. */
async function flawOf({ prover }: ProverBench, pieceCid: string): Promise<string | undefined> {
  const piece = pieceNamed(pieceCid)
  const question = { pieceCid, sizeBytes: piece.rawSizeBytes, seed: randomBytes(32), count: 5 }
  try {
    return possessionFlaw({ piece, ...question }, await prover.prove(question))
  } catch (error) {
    if (LadeError.has(error, 'stage_failed')) return error.evidence.reason
    throw error
  }
}

export const POSSESSION_CASES: readonly ProverCase[] = [
  {
    title: 'possession is proven for the leaves that the seed chooses, as often as was asked',
    isAboutProofs: true,
    async run(bench) {
      for (const sizeBytes of [127, 65_024, 65_025, 1_000_000]) {
        const [pieceCid = ''] = await bench.park(testPiece(sizeBytes, sizeBytes))
        expect(await flawOf(bench, pieceCid)).toBeUndefined()
        const piece = pieceNamed(pieceCid)
        const seed = randomBytes(32)
        const proofs = await bench.prover.prove({ pieceCid, sizeBytes, seed, count: 2 })
        expect(possessionFlaw({ piece, seed, count: 2 }, proofs)).toBeUndefined()
      }
    },
  },
  {
    title: 'error: a proof that nobody waits for any more ends with the reason of its signal',
    isAboutProofs: true,
    async run(bench) {
      const [pieceCid = ''] = await bench.park(testPiece(65_025, 3))
      const question = { pieceCid, sizeBytes: 65_025, seed: randomBytes(32), count: 2 }
      const reason = new Error('nobody waits')
      await expect(bench.prover.prove(question, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    },
  },
  ...(['lost', 'rotten'] as const).map(
    (how): ProverCase => ({
      title: `error: possession of a piece that is ${how} is not proven`,
      needs: ['spoil'],
      isAboutProofs: true,
      async run(bench) {
        const [pieceCid = ''] = await bench.park(testPiece(60_000, 7))
        bench.opened.spoil?.(pieceCid, how)
        expect(await flawOf(bench, pieceCid)).toBeDefined()
      },
    }),
  ),
  {
    title: 'error: a lost piece is not given back, for good',
    needs: ['spoil'],
    async run(bench) {
      const [pieceCid = ''] = await bench.park(testPiece(60_000, 7))
      bench.opened.spoil?.(pieceCid, 'lost')
      const failure = await failureOf(bench.prover.read({ pieceCid, offset: 0, length: 60_000 }))
      expect(failure.retryAfterSeconds).toBeUndefined()
    },
  },
  {
    title: 'a rotten piece is given back as it is, for whoever reads it to see',
    needs: ['spoil'],
    async run(bench) {
      const piece = testPiece(60_000, 7)
      const [pieceCid = ''] = await bench.park(piece)
      bench.opened.spoil?.(pieceCid, 'rotten')
      const bytes = await bench.prover.read({ pieceCid, offset: 0, length: 60_000 })
      expect(Buffer.compare(bytes, piece.bytes)).not.toBe(0)
    },
  },
  {
    title: 'error: a piece that was never there is not given back',
    async run({ prover }) {
      await failureOf(prover.read({ pieceCid: testPiece(300, 1).pieceCid, offset: 0, length: 1 }))
    },
  },
  {
    title: 'error: possession of a piece that was never there is not proven',
    isAboutProofs: true,
    async run(bench) {
      expect(await flawOf(bench, testPiece(300, 1).pieceCid)).toBeDefined()
    },
  },
]
