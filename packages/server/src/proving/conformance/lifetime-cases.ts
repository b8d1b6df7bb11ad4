import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { testPiece, toPark } from '../testing-pieces.ts'
import { failureOf, NEVER, newNonce } from './bench.ts'
import type { ProverCase } from './case.ts'

const SUBTREE_BYTES = 127 * 1024 * 1024

export const LIFETIME_CASES: readonly ProverCase[] = [
  {
    title: 'has a name, limits and a way to be audited',
    async run({ prover }) {
      const { name, isLocal, limits, account, auditedBy } = prover
      expect(name).toMatch(isLocal ? /^local$/ : /^\w/)
      expect(limits.minimumBytes).toBeGreaterThan(0)
      const isUnlimited = limits.maximumBytes === Number.MAX_SAFE_INTEGER
      expect(isUnlimited || limits.maximumBytes % SUBTREE_BYTES === 0).toBe(true)
      expect(limits.piecesPerAddition).toBeGreaterThan(0)
      expect(['proof', 'retrieval']).toContain(auditedBy)
      if (account !== null) expect(account).toMatch(/^0x[0-9a-fA-F]{40}$/)
    },
  },
  {
    title: 'says that it can be reached, and can be closed twice',
    async run({ prover }) {
      await expect(prover.check()).resolves.toBeUndefined()
      await prover.close()
      await expect(prover.close()).resolves.toBeUndefined()
    },
  },
  {
    title: 'error: one that cannot be reached may be asked again later, whatever it was asked',
    needs: ['vanish'],
    async run(bench) {
      const { prover, opened } = bench
      const piece = testPiece(300, 1)
      const [pieceCid = ''] = await bench.park(piece)
      const addition = { nonce: newNonce(), dataSetId: null, pieceCids: [pieceCid] }
      const { dataSetId, pieceIds } = await bench.add(addition)
      await opened.vanish?.()
      const stored = { dataSetId, pieceId: pieceIds[0] ?? '', pieceCid, nonce: newNonce() }
      const asked: (() => Promise<unknown>)[] = [
        () => prover.park(toPark(piece), NEVER),
        () => prover.add({ ...addition, nonce: newNonce() }),
        () => prover.progress({ ...addition, transaction: `0x${'1'.repeat(64)}` }),
        () => prover.remove(stored),
        () => prover.read({ pieceCid, offset: 0, length: 1 }),
        () => prover.check(),
      ]
      if (prover.auditedBy === 'proof') {
        asked.push(() => prover.prove({ pieceCid, sizeBytes: 300, seed: randomBytes(32), count: 1 }))
      }
      for (const ask of asked) expect((await failureOf(ask())).retryAfterSeconds).toBeGreaterThan(0)
    },
  },
]
