import { setImmediate as nextRound } from 'node:timers/promises'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { expect, test } from 'vitest'
import { RequestRounds } from './request-rounds.ts'

function newRounds() {
  const budget = new WorkBudget({ log: { warn() {} }, networkOf: () => undefined })
  return { budget, rounds: new RequestRounds(budget) }
}

const me = () => 'ip:192.0.2.1'

function workFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('requests that take little begin at once', () => {
  const begunAtOnce = (): number => {
    const { rounds } = newRounds()
    let begun = 0
    for (let index = 0; index < 100; index += 1) {
      rounds.begin(() => {
        begun += 1
      }, me)
    }
    return begun
  }
  // The best of ten, since time counts that the machine spends on something else meanwhile.
  expect(Math.max(...Array.from({ length: 10 }, begunAtOnce))).toBe(100)
})

test('requests that take long begin in order, one in a round', async () => {
  const { rounds } = newRounds()
  const begun: number[] = []
  for (let index = 0; index < 12; index += 1) {
    rounds.begin(() => {
      workFor(4)
      begun.push(index)
    }, me)
  }
  expect(begun).toEqual([0])
  rounds.begin(() => void begun.push(12), me)
  for (let round = 0; round < 200 && begun.length < 13; round += 1) {
    const before = begun.length
    await nextRound()
    expect(begun.length - before).toBeLessThanOrEqual(2)
  }
  expect(begun).toEqual(Array.from({ length: 13 }, (_, index) => index))
})

test('a request waits behind none of a principal with more unpaid time, however much its own has paid for', async () => {
  const { budget, rounds } = newRounds()
  budget.spend({ principal: 'ip:192.0.2.66', work: 'hash', processorMs: 100 })
  budget.spend({ principal: me(), work: 'hash', processorMs: 10_000, movedBytes: 2 ** 30 })
  const begun: string[] = []
  rounds.begin(() => workFor(4), me)
  for (const name of ['6', '6', '6'])
    rounds.begin(
      () => void begun.push(name),
      () => 'ip:192.0.2.66',
    )
  rounds.begin(() => void begun.push('1'), me)
  for (let round = 0; round < 100 && begun.length < 4; round += 1) await nextRound()
  expect(begun).toEqual(['1', '6', '6', '6'])
})

test('requests that wait are begun in one of 32 rounds while connections arrive, and in the next round otherwise', async () => {
  const { rounds } = newRounds()
  const roundsUntilBegun = async (hasConnections: boolean): Promise<number> => {
    let isBegun = false
    rounds.begin(() => workFor(4), me)
    rounds.begin(() => {
      isBegun = true
    }, me)
    for (let count = 0; ; count += 1) {
      if (isBegun) return count
      if (hasConnections) rounds.noteConnection()
      await nextRound()
    }
  }
  // One or two on a machine that does nothing else.
  expect(await roundsUntilBegun(false)).toBeLessThan(12)
  expect(await roundsUntilBegun(true)).toBeGreaterThan(25)
  for (let round = 0; round < 4; round += 1) await nextRound()
  expect(await roundsUntilBegun(false)).toBeLessThan(12)
})

test('principals that begin many requests take turns', async () => {
  const { rounds } = newRounds()
  const begun: string[] = []
  rounds.begin(() => workFor(4), me)
  for (const name of ['a', 'a', 'a', 'b', 'b', 'b']) {
    const task = (): void => {
      workFor(1)
      begun.push(name)
    }
    rounds.begin(task, () => name)
  }
  for (let round = 0; round < 100 && begun.length < 6; round += 1) await nextRound()
  expect(begun.slice(0, 4).sort()).toEqual(['a', 'a', 'b', 'b'])
})

test('what a request does in promises counts as its time', async () => {
  const { rounds } = newRounds()
  let begun = 0
  rounds.begin(() => workFor(4), me)
  for (let index = 0; index < 5; index += 1) {
    rounds.begin(() => {
      begun += 1
      void Promise.resolve()
        .then(() => {})
        .then(() => workFor(4))
    }, me)
  }
  expect(begun).toBe(0)
  for (let round = 1; round <= 100 && begun < 5; round += 1) {
    const before = begun
    await nextRound()
    expect(begun - before).toBeLessThanOrEqual(2)
  }
  expect(begun).toBe(5)
})

test('a request that takes long is followed by rounds in which none begins', async () => {
  const { rounds } = newRounds()
  let begun = 0
  rounds.begin(() => workFor(20), me)
  rounds.begin(() => {
    begun += 1
  }, me)
  for (let round = 1; round <= 4; round += 1) {
    await nextRound()
    expect(begun).toBe(0)
  }
  for (let round = 5; round <= 100 && begun === 0; round += 1) await nextRound()
  expect(begun).toBe(1)
})

test('error: a request that throws does not keep the others waiting', async () => {
  const { rounds } = newRounds()
  rounds.begin(() => workFor(4), me)
  let isBegun = false
  rounds.begin(() => {
    isBegun = true
  }, me)
  for (let round = 0; round < 100 && !isBegun; round += 1) await nextRound()
  expect(isBegun).toBe(true)
  expect(() =>
    rounds.begin(() => {
      throw new Error('broken')
    }, me),
  ).toThrow('broken')
})
