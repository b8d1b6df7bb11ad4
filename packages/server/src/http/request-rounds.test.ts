import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RequestRounds } from './request-rounds.ts'

function workFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('requests that take little begin at once', () => {
  const rounds = new RequestRounds()
  let begun = 0
  for (let index = 0; index < 100; index += 1) {
    rounds.begin(() => {
      begun += 1
    })
  }
  expect(begun).toBe(100)
})

test('requests that take long begin in order, one in a round', async () => {
  const rounds = new RequestRounds()
  const begun: number[] = []
  for (let index = 0; index < 12; index += 1) {
    rounds.begin(() => {
      workFor(4)
      begun.push(index)
    })
  }
  expect(begun).toEqual([0])
  rounds.begin(() => void begun.push(12))
  for (let round = 0; round < 20 && begun.length < 13; round += 1) {
    const before = begun.length
    await nextRound()
    expect(begun.length - before).toBeLessThanOrEqual(2)
  }
  expect(begun).toEqual(Array.from({ length: 13 }, (_, index) => index))
})

test('what a request does in promises counts as its time', async () => {
  const rounds = new RequestRounds()
  let begun = 0
  rounds.begin(() => workFor(4))
  for (let index = 0; index < 5; index += 1) {
    rounds.begin(() => {
      begun += 1
      void Promise.resolve()
        .then(() => {})
        .then(() => workFor(4))
    })
  }
  expect(begun).toBe(0)
  for (let round = 1; round <= 5; round += 1) {
    await nextRound()
    await nextRound()
    expect(begun).toBeLessThanOrEqual(2 * round)
  }
  expect(begun).toBe(5)
})

test('error: a request that throws does not keep the others waiting', async () => {
  const rounds = new RequestRounds()
  rounds.begin(() => workFor(4))
  let isBegun = false
  rounds.begin(() => {
    isBegun = true
  })
  await nextRound()
  await nextRound()
  expect(isBegun).toBe(true)
  expect(() =>
    rounds.begin(() => {
      throw new Error('broken')
    }),
  ).toThrow('broken')
})
