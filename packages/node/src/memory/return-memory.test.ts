import { expect, test } from 'vitest'
import { loadAddon } from '../addon/addon.ts'
import { returnMemory } from './return-memory.ts'

const MIB = 1024 * 1024
const BLOCKS = 100

test.runIf(loadAddon() !== undefined)(
  'memory that was freed goes back to the system, also from between what is in use',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    returnMemory()
    // After this glibc alone would map nothing below 20 MiB, and keep what is freed below something in use.
    new Uint8Array(20 * MIB).fill(1).buffer.transfer(0)
    const pairs = Array.from({ length: BLOCKS }, () => ({
      freed: new Uint8Array(2 * MIB).fill(1),
      inUse: new Uint8Array(65_536).fill(1),
    }))
    const fullBytes = process.memoryUsage.rss()
    for (const { freed } of pairs) freed.buffer.transfer(0)
    const givenBackBytes = fullBytes - process.memoryUsage.rss()
    expect(givenBackBytes).toBeGreaterThan(1.5 * BLOCKS * MIB)
    expect(pairs.every(({ inUse }) => inUse[0] === 1)).toBe(true)
  },
)
