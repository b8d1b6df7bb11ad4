import { getHeapStatistics } from 'node:v8'
import { afterEach, expect, test } from 'vitest'
import { collectWhenQuiet } from './collect-when-quiet.ts'

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

const usedBytes = (): number => getHeapStatistics().used_heap_size

test('a thread that has nothing to do collects its garbage', async () => {
  stop = collectWhenQuiet({ lookMs: LOOK_MS })
  makeGarbage()
  const fullBytes = usedBytes()
  await expect.poll(() => fullBytes - usedBytes(), { timeout: 5000 }).toBeGreaterThan(GARBAGE_BYTES / 2)
})
