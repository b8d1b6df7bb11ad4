import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { afterEach, expect, test } from 'vitest'
import { collectSoon, collectWhenQuiet, freeWhenQuiet } from './collect-when-quiet.ts'

const MIB = 1024 * 1024
const LOOK_MS = 20
const GARBAGE_BYTES = 64 * MIB

let stop = (): void => {}
afterEach(() => stop())

/** Numbers that stay in the old part of the heap, so that only a full collection frees them. */
function makeGarbage(): number {
  const garbage = Array.from({ length: GARBAGE_BYTES / 8 / 1024 }, () => new Array<number>(1024).fill(0.5))
  return garbage.length
}

/** What was asked for is not handed on, since that would keep it. */
const isCollected = (reference: WeakRef<object>): boolean => reference.deref() === undefined

async function work(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) await nextTurn()
}

const usedBytes = (): number => getHeapStatistics().used_heap_size

test('a thread that has nothing to do collects its garbage', async () => {
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  makeGarbage()
  const fullBytes = usedBytes()
  await expect.poll(() => fullBytes - usedBytes(), { timeout: 5000 }).toBeGreaterThan(GARBAGE_BYTES / 2)
})

test('what is kept for speed is freed when the thread has become quiet, as long as it is wanted', async () => {
  let freed = 0
  const stopFreeing = freeWhenQuiet(() => {
    freed += 1
  })
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  await expect.poll(() => freed, { timeout: 5000 }).toBeGreaterThan(0)
  stopFreeing()
  const freedBefore = freed
  await work(5 * LOOK_MS)
  await wait(10 * LOOK_MS)
  expect(freed).toBe(freedBefore)
})

test('a thread that is busy is left alone until it is quiet', async () => {
  let freed = 0
  const stopFreeing = freeWhenQuiet(() => {
    freed += 1
  })
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  makeGarbage()
  await work(15 * LOOK_MS)
  expect(freed).toBe(0)
  await expect.poll(() => freed, { timeout: 5000 }).toBeGreaterThan(0)
  stopFreeing()
})

test('a heap that has hardly grown is collected when it is asked for, and not before', async () => {
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  const ofStart = new WeakRef({})
  await expect.poll(() => isCollected(ofStart), { timeout: 5000 }).toBe(true)
  const later = new WeakRef({})
  await wait(10 * LOOK_MS)
  expect(isCollected(later)).toBe(false)
  collectSoon()
  await expect.poll(() => isCollected(later), { timeout: 5000 }).toBe(true)
})
