import { expect, test } from 'vitest'
import { loadAddon } from '../addon/addon.ts'
import { discardPages } from './discard-pages.ts'

const MIB = 1024 * 1024
const SIZE_BYTES = 64 * MIB

test.runIf(loadAddon() !== undefined)(
  'bytes that are not needed give their memory back, and can be written again',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(SIZE_BYTES)).fill(1)
    const fullBytes = process.memoryUsage.rss()
    discardPages(bytes.subarray(MIB, 33 * MIB))
    expect(fullBytes - process.memoryUsage.rss()).toBeGreaterThan(24 * MIB)
    const isIntact = (part: Uint8Array): boolean => part.every((byte) => byte === 1)
    expect([isIntact(bytes.subarray(0, MIB)), isIntact(bytes.subarray(33 * MIB))]).toEqual([true, true])
    bytes.fill(2)
    expect(bytes[20 * MIB]).toBe(2)
  },
)
