import { WorkBudget } from '@lade/node/budget/work-budget'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { commitmentOf } from '../placement/commitment-of.ts'
import { localPieces } from '../placement/local-pieces.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture } from '../placement/testing-placement.ts'
import { openLocalProver } from '../proving/drivers/local/local-prover.ts'
import type { Prover } from '../proving/prover.ts'
import { possessionFlaw } from '../proving/verify-possession.ts'
import type { FileRecord } from '../records/record-store.ts'
import { dealProofs } from './deal-proofs.ts'

const DAY_MS = 86_400_000

let fixture: PlacementFixture
let budget: WorkBudget
beforeEach(async () => {
  fixture = await openPlacementFixture()
  budget = new WorkBudget({ log: fixture.log, networkOf: () => undefined, limitMs: 0.01 })
})
afterEach(() => fixture.close())

const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

async function audited(prover: Prover, file: FileRecord) {
  const { audits } = await dealProofs({ records: fixture.records, provers: [prover], budget }, file)
  return audits
}

/** Whether an answer can be checked by the seed that it came with, and holds. */
function holds(file: FileRecord, [audit]: Awaited<ReturnType<typeof audited>>): boolean {
  const piece = commitmentOf({ pieceRoot: file.pieceRoot ?? '', sizeBytes: file.sizeBytes })
  const proofs = audit?.proofs?.map(({ leafIndex, leaf, proof }) => ({
    leafIndex,
    leaf: bytesOf(leaf),
    proof: proof.map(bytesOf),
  }))
  if (proofs === undefined) return false
  return possessionFlaw({ piece, seed: bytesOf(audit?.seed ?? ''), count: 5 }, proofs) === undefined
}

test.each([4096, 200_000])(
  'the last audit of %i bytes has its proof, and others have their results',
  async (sizeBytes) => {
    const [remote] = fakeProvers(['one'])
    const local = openLocalProver({ readPiece: localPieces(fixture) })
    for (const [index, prover] of [remote, local].entries()) {
      if (prover === undefined) continue
      const file = await fixture.put(seededBytes(sizeBytes, index + 1))
      const job = fixture.job([prover])
      await fixture.pass(job, 3 * DAY_MS, 3_600_000)
      budget = new WorkBudget({ log: fixture.log, networkOf: () => undefined })
      const audits = await audited(prover, file)
      expect(holds(file, audits), prover.name).toBe(true)
      expect(audits.slice(1).map(({ passed, seed, proofs }) => [passed, seed, proofs])).toEqual(
        audits.slice(1).map(() => [true, null, null]),
      )
      expect(audits.length).toBeGreaterThan(2)
      await job.stop()
    }
  },
)

test('a proof of small bytes that are here is not kept, and is made again while they are, and as long as there is time for it', async () => {
  const local = openLocalProver({ readPiece: localPieces(fixture) })
  const file = await fixture.put(seededBytes(4096, 1))
  const job = fixture.job([local])
  await fixture.pass(job)
  expect((await fixture.records.placements.audits({ file: file.sequence, limit: 1 }))[0]?.proof).toBeNull()
  expect(holds(file, await audited(local, file))).toBe(true)
  expect(budget.isOver(file.principal)).toBe(true)
  expect((await audited(local, file))[0]).toMatchObject({ passed: true, proofs: null })
  budget = new WorkBudget({ log: fixture.log, networkOf: () => undefined })
  await fixture.remove(file)
  expect((await audited(local, file))[0]).toMatchObject({ passed: true, proofs: null })
})
