import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import type { Prover } from '../proving/prover.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, timesListed } from './testing-placement.ts'

/** A process that ends at one of its calls to the records, for good. */
interface Life {
  /** Which call is the last one. */
  readonly calls: number
  /** Whether the last call has its effect. */
  readonly isDone: boolean
  /** Answers of the first prover that are lost meanwhile. */
  readonly lostAnswers: number
  readonly isAway: boolean
  readonly isPending: boolean
  /** The second prover proves other bytes than it was given. */
  readonly isLying: boolean
  /** The third prover loses what it has. */
  readonly isLosing: boolean
}

const lives = fc.array(
  fc.record<Life>({
    calls: fc.integer({ min: 1, max: 120 }),
    isDone: fc.boolean(),
    lostAnswers: fc.integer({ min: 0, max: 3 }),
    isAway: fc.boolean(),
    isPending: fc.boolean(),
    isLying: fc.boolean(),
    isLosing: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
)

/** Records and provers of a process that dies: after its last call it neither writes nor asks anything. */
function mortal(records: RecordStore, provers: readonly Prover[], { calls, isDone }: Life) {
  let left = calls
  const dead = (): Promise<never> => Promise.reject(new Error('this process is dead'))
  const counted = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver)
        if (typeof method !== 'function') return method
        return async (...args: unknown[]) => {
          left -= 1
          if (left < 0 || (left === 0 && !isDone)) return dead()
          const result: unknown = await method.apply(target, args)
          return left <= 0 ? dead() : result
        }
      },
    })
  const asked = (prover: Prover): Prover => ({
    ...prover,
    park: (piece, signal) => (left <= 0 ? dead() : prover.park(piece, signal)),
    add: (addition) => (left <= 0 ? dead() : prover.add(addition)),
    progress: (addition) => (left <= 0 ? dead() : prover.progress(addition)),
    remove: (piece) => (left <= 0 ? dead() : prover.remove(piece)),
    prove: (question) => (left <= 0 ? dead() : prover.prove(question)),
    read: (range) => (left <= 0 ? dead() : prover.read(range)),
  })
  return {
    records: { ...records, placements: counted(records.placements), leases: counted(records.leases) },
    provers: provers.map(asked),
    isDead: () => left <= 0,
  }
}

async function live(fixture: PlacementFixture, provers: readonly FakeProver[], life: Life, at: number): Promise<void> {
  const [first, second, third] = provers
  if (first !== undefined) {
    first.script.lostAnswers = life.lostAnswers
    first.script.isUnreachable = life.isAway
    first.script.pendingTurns = life.isPending ? 2 : 0
  }
  if (second !== undefined) second.script.liesAboutBytes = life.isLying
  if (life.isLosing) for (const pieceCid of third?.parked.keys() ?? []) third?.lose(pieceCid)
  const process = mortal(fixture.records, provers, life)
  const job = fixture.job(process.provers, { ...OPTIONS, records: process.records, instanceId: `instance-${at}` })
  for (let round = 0; round < 30 && !process.isDead(); round += 1) {
    await fixture.pass(job, 10_000).catch(() => {})
  }
  await job.stop().catch(() => {})
  if (first !== undefined) Object.assign(first.script, { lostAnswers: 0, isUnreachable: false, pendingTurns: 0 })
  if (second !== undefined) second.script.liesAboutBytes = false
  // Its lease runs out.
  fixture.clock.now += 11_000
}

const OPTIONS = { copies: 2, aggregateBelowBytes: 1000, aggregateSeconds: 30, auditSeconds: 60 }

/** What is wrong with the placement of a file, where it should be as it is wanted. */
async function wrongWith(
  fixture: PlacementFixture,
  provers: readonly FakeProver[],
  file: FileRecord,
  wanted: number,
): Promise<string[]> {
  const { status, pieces } = await fixture.deal(file)
  const wrong: string[] = status === 'active' ? [] : [`file ${file.sequence} is ${status}`]
  if (pieces.length === 0) wrong.push(`file ${file.sequence} has no pieces`)
  for (const piece of pieces) {
    const held = piece.copies.filter(({ endedAt }) => endedAt === null)
    const proved = held.filter(({ state, provedAt }) => state === 'stored' && provedAt !== null)
    if (held.length !== wanted) wrong.push(`piece ${piece.id} has ${held.length} copies`)
    if (proved.length !== wanted) wrong.push(`piece ${piece.id} has ${proved.length} proved copies`)
    const listed = timesListed(provers, piece)
    if (listed !== wanted) wrong.push(`piece ${piece.id} stands in data sets ${listed} times`)
    for (const { prover, dataSetId, pieceId } of proved) {
      const dataSet = provers.find(({ name }) => name === prover)?.dataSets.get(dataSetId ?? '')
      if (dataSet?.[Number(pieceId)] == null) wrong.push(`piece ${piece.id} is not where the records say`)
    }
  }
  return wrong
}

describe('a placement job that dies at any of its calls to the records', () => {
  it('leaves one accepted copy for each that is wanted, whoever comes after it', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (ended) => {
        const fixture = await openPlacementFixture()
        try {
          const provers = fakeProvers(['one', 'two', 'three'])
          const files = [
            await fixture.put(seededBytes(5000, 1)),
            await fixture.put(seededBytes(300, 2)),
            await fixture.put(seededBytes(400, 3)),
          ]
          for (const [at, life] of ended.entries()) await live(fixture, provers, life, at)
          const job = fixture.job(provers, { ...OPTIONS, instanceId: 'the-last' })
          await fixture.pass(job, 1_000_000, 20_000)
          const wrong = await Promise.all(files.map((file) => wrongWith(fixture, provers, file, 2)))
          expect(wrong.flat()).toEqual([])
          for (const file of files) await fixture.remove(file)
          await fixture.pass(job, 40_000)
          expect(
            provers.flatMap(({ dataSets }) => [...dataSets.values()].flat()).filter((listed) => listed !== null),
          ).toEqual([])
        } finally {
          await fixture.close()
        }
      }),
      { numRuns: Number(process.env.LADE_TEST_RUNS ?? 8) },
    )
  })
})
