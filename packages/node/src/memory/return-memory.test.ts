import { expect, test } from 'vitest'
import { loadAddon } from '../hashing/addon.ts'
import { returnMemory } from './return-memory.ts'

test.runIf(loadAddon() !== undefined)('memory that was freed goes back to the system', () => {
  returnMemory()
  const startBytes = process.memoryUsage.rss()
  // Each is below the size from which memory is mapped alone, so that all of them come from the heap of the C library.
  const buffers = Array.from({ length: 400 }, () => new Uint8Array(512 * 1024).fill(1))
  const fullBytes = process.memoryUsage.rss()
  for (const { buffer } of buffers) buffer.transfer(0)
  const freedBytes = fullBytes - process.memoryUsage.rss()
  expect(fullBytes - startBytes).toBeGreaterThan(150 * 1024 * 1024)
  expect(freedBytes).toBeGreaterThan(150 * 1024 * 1024)
})
