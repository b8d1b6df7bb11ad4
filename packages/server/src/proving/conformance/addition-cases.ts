import { expect } from 'vitest'
import type { Addition } from '../prover.ts'
import { testPiece } from '../testing-pieces.ts'
import { failureOf, newNonce } from './bench.ts'
import type { ProverCase } from './case.ts'

export const ADDITION_CASES: readonly ProverCase[] = [
  {
    title: 'an addition makes a data set, and gives the ids in the order of the pieces',
    async run(bench) {
      const pieceCids = await bench.park(testPiece(300, 1), testPiece(301, 2), testPiece(302, 3))
      const first = await bench.add({ nonce: newNonce(), dataSetId: null, pieceCids: pieceCids.toReversed() })
      expect(new Set(first.pieceIds).size).toBe(3)
      const more = await bench.park(testPiece(303, 4))
      const second = await bench.add({ nonce: newNonce(), dataSetId: first.dataSetId, pieceCids: more })
      expect(second.dataSetId).toBe(first.dataSetId)
      expect(first.pieceIds).not.toContain(second.pieceIds[0])
      await bench.expectStored(4)
    },
  },
  {
    title: 'an addition makes another data set where none is named',
    async run(bench) {
      const pieceCids = await bench.park(testPiece(300, 1))
      const one = await bench.add({ nonce: newNonce(), dataSetId: null, pieceCids })
      const other = await bench.add({ nonce: newNonce(), dataSetId: null, pieceCids })
      expect(one.dataSetId).not.toBe(other.dataSetId)
    },
  },
  {
    title: 'an addition happens once for one nonce, however often it is asked for',
    async run(bench) {
      const pieceCids = await bench.park(testPiece(300, 1), testPiece(301, 2))
      const made = { nonce: newNonce(), dataSetId: null, pieceCids }
      const first = await bench.add(made)
      expect(await bench.add(made)).toEqual(first)
      const added = { nonce: newNonce(), dataSetId: first.dataSetId, pieceCids: await bench.park(testPiece(302, 3)) }
      const second = await bench.add(added)
      expect(await bench.add(added)).toEqual(second)
      await bench.expectStored(3)
    },
  },
  {
    title: 'an addition happens once when the answer is lost, also when the prover ends in between',
    needs: ['loseNextAnswer'],
    async run(bench) {
      const pieceCids = await bench.park(testPiece(300, 1), testPiece(301, 2))
      let dataSetId: string | null = null
      for (const pieceCid of pieceCids) {
        const addition: Addition = { nonce: newNonce(), dataSetId, pieceCids: [pieceCid] }
        bench.opened.loseNextAnswer?.()
        const failure = await failureOf(bench.prover.add(addition))
        expect(failure.retryAfterSeconds).toBeGreaterThan(0)
        await bench.opened.restart?.()
        const progress = await bench.add(addition)
        dataSetId = progress.dataSetId
      }
      await bench.expectStored(2)
    },
  },
  {
    title: 'an addition happens once when it is asked for side by side',
    async run(bench) {
      const made = { nonce: newNonce(), dataSetId: null, pieceCids: await bench.park(testPiece(300, 1)) }
      const creations = await Promise.all([bench.add(made), bench.add(made), bench.add(made)])
      expect(new Set(creations.map(({ dataSetId }) => dataSetId)).size).toBe(1)
      const { dataSetId } = await bench.add(made)
      const addition = { nonce: newNonce(), dataSetId, pieceCids: await bench.park(testPiece(301, 2)) }
      const additions = await Promise.all([bench.add(addition), bench.add(addition), bench.add(addition)])
      expect(new Set(additions.map(({ pieceIds }) => pieceIds[0])).size).toBe(1)
      await bench.expectStored(2)
    },
  },
  {
    title: 'error: an addition of a piece that is not parked is refused',
    suits: ({ wrongBytes }) => wrongBytes !== 'unseen',
    async run({ prover }) {
      const { pieceCid } = testPiece(300, 1)
      await failureOf(prover.add({ nonce: newNonce(), dataSetId: null, pieceCids: [pieceCid] }))
    },
  },
  {
    title: 'an addition is undone by removal, twice as well as once',
    async run(bench) {
      const pieceCids = await bench.park(testPiece(300, 1), testPiece(301, 2))
      const { dataSetId, pieceIds } = await bench.add({ nonce: newNonce(), dataSetId: null, pieceCids })
      const [pieceCid = ''] = pieceCids
      const piece = { dataSetId, pieceId: pieceIds[0] ?? '', pieceCid, nonce: newNonce() }
      await bench.prover.remove(piece)
      const { countStored } = bench.opened
      if (countStored !== undefined) await expect.poll(() => countStored()).toBe(1)
      await bench.prover.remove(piece)
      await bench.prover.remove({ ...piece, nonce: newNonce() })
      expect(await bench.prover.remove({ ...piece, pieceId: '4000', nonce: newNonce() })).toBe('gone')
      await bench.expectStored(1)
    },
  },
  ...(['confirmed', 'rejected'] as const).map(
    (state): ProverCase => ({
      title: `an addition is pending until it is ${state}`,
      needs: ['settleAdditions'],
      additions: 'when settled',
      async run(bench) {
        const addition = { nonce: newNonce(), dataSetId: null, pieceCids: await bench.park(testPiece(300, 1)) }
        const transaction = await bench.prover.add(addition)
        for (let turn = 0; turn < 3; turn += 1) {
          expect(await bench.prover.progress({ ...addition, transaction })).toEqual({ state: 'pending' })
        }
        bench.opened.settleAdditions?.(state)
        const progress = await bench.settled({ ...addition, transaction })
        expect(progress.state).toBe(state)
        if (progress.state === 'rejected') expect(progress.reason).not.toBe('')
      },
    }),
  ),
]
