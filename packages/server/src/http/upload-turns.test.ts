import { setImmediate as nextRound } from 'node:timers/promises'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { beforeEach, expect, test } from 'vitest'
import { UploadTurns } from './upload-turns.ts'

const maxCount = 96

/** Begins each request at once. */
const rounds = { begin: (task: () => void) => task() }

let budget: WorkBudget
let turns: UploadTurns
let begun: string[]
let recorded: PromiseWithResolvers<void>[]

beforeEach(() => {
  budget = new WorkBudget({ log: { warn() {} }, networkOf: () => undefined })
  turns = new UploadTurns({ budget, maxCount })
  begun = []
  recorded = []
})

function begin(principal: string, task: () => void = () => void turns.take(record).catch(() => {})): void {
  const request = (): void => {
    begun.push(principal)
    task()
  }
  turns.begin(request, rounds, () => principal)
}

function record(): Promise<void> {
  const promise = Promise.withResolvers<void>()
  recorded.push(promise)
  return promise.promise
}

async function settle(count: number): Promise<void> {
  for (const promise of recorded.splice(0, count)) promise.resolve()
  await nextRound()
  await nextRound()
}

test('uploads begin at once while few are recorded, and as many as are recorded after that', async () => {
  for (let index = 0; index < 200; index += 1) begin('a')
  expect(begun).toHaveLength(maxCount)
  await settle(30)
  expect(begun).toHaveLength(maxCount + 30)
  await settle(maxCount)
  expect(begun).toHaveLength(200)
  await settle(200)
  begin('a')
  expect(begun).toHaveLength(201)
})

test('the upload of another caller begins before those of one who has many', async () => {
  for (let index = 0; index < 200; index += 1) begin('a')
  budget.spend({ principal: 'a', work: 'hash', processorMs: 100 })
  begin('b')
  await settle(1)
  expect(begun.at(-1)).toBe('b')
})

test('an upload that fails gives its turn to the next', async () => {
  for (let index = 0; index < maxCount + 1; index += 1) begin('a')
  const [first] = recorded
  first?.reject(new Error('broken'))
  await nextRound()
  await nextRound()
  expect(begun).toHaveLength(maxCount + 1)
})

test('uploads that are refused before they are recorded do not keep the others waiting', async () => {
  const refused = (): void => {}
  for (let index = 0; index < maxCount; index += 1) begin('a')
  for (let index = 0; index < 300; index += 1) begin('a', refused)
  begin('a')
  await settle(1)
  for (let round = 0; round < 400 && begun.length < maxCount + 301; round += 1) await nextRound()
  expect(begun).toHaveLength(maxCount + 301)
})

test('requests that wait for one of the rounds are counted', () => {
  const tasks: (() => void)[] = []
  for (let index = 0; index < 200; index += 1) {
    turns.begin(
      () => {},
      { begin: (task) => tasks.push(task) },
      () => 'a',
    )
  }
  expect(tasks).toHaveLength(maxCount)
})
