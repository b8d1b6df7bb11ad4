import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { recentCounts } from './recent-counts.ts'

function counting(takesMs: number) {
  let asked = 0
  return {
    asked: () => asked,
    counts: async () => {
      asked += 1
      await sleep(takesMs)
      return { copies: [], deals: [], waiting: asked }
    },
  }
}

it('counts anew each time while that is cheap', async () => {
  const records = counting(0)
  expect((await recentCounts(records)).waiting).toBe(1)
  expect((await recentCounts(records)).waiting).toBe(2)
})

it('answers what was counted a while ago where counting takes long', async () => {
  const records = counting(80)
  for (let times = 0; times < 5; times += 1) expect((await recentCounts(records)).waiting).toBe(1)
  expect(records.asked()).toBe(1)
})
