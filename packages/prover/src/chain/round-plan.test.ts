import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Deal } from './deal.ts'
import { type PlannedTask, planRound, ROUND_CALLS } from './round-plan.ts'

const PACE = { number: 1000n, time: 50_000, secondsPerBlock: 10, secondsPerTransaction: 10 }
const task = (kind: PlannedTask['kind'], id: number, until: number, challengeBlock = 0): PlannedTask => ({
  kind,
  until,
  lastBlock: kind === 'prove' ? BigInt(challengeBlock + 256) : undefined,
  share: 1,
  drawBlocks: 0n,
  answerShare: kind === 'open' || kind === 'reopen' ? 1 : 0,
  deal: { dealId: BigInt(id) } as Deal,
})
const planOf = (tasks: readonly PlannedTask[], pace = PACE) =>
  planRound(tasks, pace).map(({ kind, deal }) => `${kind} ${deal.dealId}`)

describe('planRound', () => {
  test('proves before it opens, and opens before it accepts and settles, by what is too late first', () => {
    expect(
      planOf([
        task('settle', 1, Number.POSITIVE_INFINITY),
        task('accept', 2, 60_000),
        task('accept', 3, 55_000),
        task('open', 4, 90_000),
        task('open', 5, 80_000),
        // Lapses at block 1006, or 60 seconds from now.
        task('prove', 6, 90_000, 750),
        task('prove', 7, 50_100, 990),
        task('prove', 8, 50_050, 990),
      ]),
    ).toEqual(['prove 8', 'prove 6', 'prove 7', 'open 5', 'open 4', 'accept 3', 'accept 2', 'settle 1'])
  })

  test('opens a round full of challenges, those whose periods end first', () => {
    const opens = Array.from({ length: 600 }, (_, id) => task('open', id, 1_000_000 - id))
    const plan = planOf([...opens, task('accept', 1000, 60_000)])
    expect(plan).toEqual(Array.from({ length: ROUND_CALLS }, (_, index) => `open ${599 - index}`))
  })

  test('opens only what can be proved in time, and passes over what is too late already', () => {
    const until = (transactions: number) => PACE.time + 10 * transactions
    const late = task('open', 1, until(1))
    const soon = task('open', 2, until(3))
    const sooner = task('open', 3, until(3))
    expect(planOf([late, soon, sooner])).toEqual(['open 2'])
    expect(planOf([late, task('open', 4, until(5)), task('open', 5, until(5))])).toEqual(['open 4', 'open 5'])
    // Whoever is accepted meanwhile would be in the way.
    expect(planOf([soon, task('accept', 6, 1_000_000)])).toEqual(['open 2', 'accept 6'])
    expect(planOf([task('open', 4, until(2)), task('accept', 6, 1_000_000)])).toEqual(['open 4'])
    // A guess that leaves nothing to do is not believed.
    expect(planOf([late, task('accept', 6, 1_000_000)])).toEqual(['open 1', 'accept 6'])
  })

  test('opens as many as the transactions of a round answer, where one transaction serves many', () => {
    const shared = (count: number, until: number) =>
      Array.from({ length: count }, (_, id) => ({ ...task('open', id, until), share: 0.01, answerShare: 0.05 }))
    expect(planOf(shared(1000, 1_000_000))).toHaveLength(1000)
    expect(planOf(shared(3000, 1_000_000))).toHaveLength(20 * ROUND_CALLS)
    // A guess that leaves nothing to do is tried out with one transaction.
    expect(planOf(shared(300, PACE.time))).toHaveLength(100)
    // Time for a transaction that opens and three that prove.
    const until = PACE.time + 4 * PACE.secondsPerTransaction
    expect(planOf(shared(100, until))).toHaveLength(60)
    expect(
      planOf([...shared(40, until), task('accept', 1000, 1_000_000), task('accept', 1001, 1_000_000)]),
    ).toHaveLength(41)
  })

  test('opens no more while the answers to those before are still to be drawn', () => {
    const opens = Array.from({ length: 100 }, (_, id) => task('open', id, 1_000_000))
    expect(planRound(opens, PACE, 40)).toHaveLength(ROUND_CALLS - 40)
    expect(planRound(opens, PACE, ROUND_CALLS)).toEqual([])
    // A challenge that is drawn six blocks later is proved seven later at the earliest.
    const late = { ...task('open', 1, PACE.time + 7 * 10), drawBlocks: 6n }
    const soon = { ...task('open', 2, PACE.time + 8 * 10), drawBlocks: 6n }
    expect(planOf([late, soon])).toEqual(['open 2'])
  })

  test('never sends more than a round besides proofs, and never leaves out a proof or everything', () => {
    const tasks = fc.array(
      fc.record({
        kind: fc.constantFrom('accept', 'open', 'reopen', 'prove', 'settle' as const),
        until: fc.integer({ min: 50_000, max: 60_000 }),
        block: fc.integer({ min: 700, max: 999 }),
      }),
      { minLength: 1, maxLength: 200 },
    )
    fc.assert(
      fc.property(tasks, fc.double({ min: 0.001, max: 100, noNaN: true }), (given, secondsPerTransaction) => {
        const all = given.map(({ kind, until, block }, id) => task(kind, id, until, block))
        const plan = planRound(all, { ...PACE, secondsPerTransaction })
        const proofs = (some: readonly PlannedTask[]) => some.filter(({ kind }) => kind === 'prove').length
        expect(proofs(plan)).toBe(proofs(all))
        expect(plan.length - proofs(plan)).toBeLessThanOrEqual(ROUND_CALLS)
        expect(plan.length).toBeGreaterThan(0)
        expect(new Set(plan).size).toBe(plan.length)
      }),
    )
  })
})
