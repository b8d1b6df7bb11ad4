import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { afterEach, expect, test } from 'vitest'
import { collectWhenQuiet } from './collect-when-quiet.ts'

const MIB = 1024 * 1024
const LOOK_MS = 20
const GARBAGE_BYTES = 64 * MIB

/** The types of Node.js leave `detail` to entries of every kind. */
interface CollectionEntry {
  readonly detail?: NodeGCPerformanceDetail
}

let stop = (): void => {}
afterEach(() => stop())

/** Numbers that stay in the old part of the heap, so that only a full collection frees them. */
function makeGarbage(): number {
  const garbage = Array.from({ length: GARBAGE_BYTES / 8 / 1024 }, () => new Array<number>(1024).fill(0.5))
  return garbage.length
}

const usedBytes = (): number => getHeapStatistics().used_heap_size

test('a thread that has nothing to do collects its garbage', async () => {
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  makeGarbage()
  const fullBytes = usedBytes()
  await expect.poll(() => fullBytes - usedBytes(), { timeout: 5000 }).toBeGreaterThan(GARBAGE_BYTES / 2)
})

test('a thread that is busy is left alone until it is quiet', async () => {
  let forced = 0
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as readonly CollectionEntry[]) {
      const flags = detail?.flags ?? 0
      if ((flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) forced += 1
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  makeGarbage()
  for (const end = performance.now() + 15 * LOOK_MS; performance.now() < end; ) await nextTurn()
  expect(forced).toBe(0)
  makeGarbage()
  await expect.poll(() => forced, { timeout: 5000 }).toBeGreaterThan(0)
  observer.disconnect()
})
