import { expect } from 'vitest'
import { testPiece, toPark } from '../testing-pieces.ts'
import { failureOf, NEVER } from './bench.ts'
import type { ProverCase } from './case.ts'

export const PARKING_CASES: readonly ProverCase[] = [
  {
    title: 'takes pieces of every size, and gives any range of them back',
    async run(bench) {
      for (const sizeBytes of [127, 128, 40_000, 300_001]) {
        const piece = testPiece(sizeBytes, sizeBytes)
        const [pieceCid = ''] = await bench.park(piece)
        const ranges = [
          [0, sizeBytes],
          [0, 1],
          [sizeBytes - 1, 1],
          [63, 64],
        ] as const
        for (const [offset, length] of ranges) {
          const bytes = await bench.prover.read({ pieceCid, offset, length })
          expect(Buffer.compare(bytes, piece.bytes.subarray(offset, offset + length))).toBe(0)
        }
      }
    },
  },
  {
    title: 'takes a piece twice, and asks for its bytes no more than once',
    async run(bench) {
      const piece = testPiece(1000)
      await bench.park(piece)
      const chunks = () => {
        throw new Error('the bytes are there already')
      }
      await bench.prover.park({ ...toPark(piece, { sourceUrl: bench.opened.offer(piece) }), chunks }, NEVER)
    },
  },
  {
    title: 'takes the same piece from several at once',
    async run({ prover, opened }) {
      const piece = testPiece(200_000, 9)
      const sourceUrl = opened.offer(piece)
      await Promise.all([1, 2, 3].map(() => prover.park(toPark(piece, { sourceUrl }), NEVER)))
      const { pieceCid, bytes } = piece
      const read = await prover.read({ pieceCid, offset: 100_000, length: 10 })
      expect([...read]).toEqual([...bytes.subarray(100_000, 100_010)])
    },
  },
  {
    title: 'error: bytes that are not the piece are never held',
    suits: ({ wrongBytes }) => wrongBytes !== 'unseen',
    async run(bench) {
      const { prover, opened, subject } = bench
      const { pieceCid, bytes } = testPiece(5000, 3)
      const wrong = { pieceCid, bytes: bytes.map((byte, at) => (at === 4999 ? byte ^ 1 : byte)) }
      const failure = await failureOf(prover.park(toPark(wrong, { sourceUrl: opened.offer(wrong) }), NEVER))
      expect(failure.retryAfterSeconds === undefined).toBe(subject.wrongBytes === 'refused')
      await failureOf(prover.read({ pieceCid, offset: 0, length: 1 }))
      await bench.park({ pieceCid, bytes })
    },
  },
  {
    title: 'error: an abort before the transfer rejects with its reason',
    async run({ prover, opened }) {
      const piece = testPiece(500_000, 4)
      const early = AbortSignal.abort(new Error('not now'))
      await expect(prover.park(toPark(piece, { sourceUrl: opened.offer(piece) }), early)).rejects.toThrow('not now')
    },
  },
  {
    title: 'error: an abort during the transfer rejects with its reason, and the piece can be parked again',
    suits: ({ isPulling, wrongBytes }) => !isPulling && wrongBytes !== 'unseen',
    async run(bench) {
      const piece = testPiece(500_000, 4)
      const whole = toPark(piece)
      const controller = new AbortController()
      async function* chunks() {
        for await (const chunk of whole.chunks()) {
          yield chunk
          controller.abort(new Error('enough'))
        }
      }
      await expect(bench.prover.park({ ...whole, chunks }, controller.signal)).rejects.toThrow('enough')
      await bench.park(piece)
    },
  },
  {
    title: 'error: what chunks throws comes back',
    suits: ({ isPulling, wrongBytes }) => !isPulling && wrongBytes !== 'unseen',
    async run({ prover }) {
      const piece = toPark(testPiece(500_000, 5))
      async function* chunks() {
        for await (const chunk of piece.chunks()) {
          yield chunk
          throw new Error('the disk is gone')
        }
      }
      await expect(prover.park({ ...piece, chunks }, NEVER)).rejects.toThrow('the disk is gone')
    },
  },
]
