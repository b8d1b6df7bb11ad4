import { afterEach, describe, expect, test, vi } from 'vitest'
import { SharedBlocks } from './shared-blocks.ts'

const BLOCK_BYTES = 65_536
const MIB = 1024 * 1024
const IDLE_MS = 10_000

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('SharedBlocks', () => {
  test('gives blocks of shared memory that do not overlap', () => {
    const blocks = new SharedBlocks(BLOCK_BYTES)
    const taken = Array.from({ length: 200 }, () => blocks.take())
    for (const [index, block] of taken.entries()) block.fill(index)
    for (const [index, block] of taken.entries()) {
      expect(block.buffer).toBeInstanceOf(SharedArrayBuffer)
      expect(block.length).toBe(BLOCK_BYTES)
      expect(block.every((byte) => byte === index)).toBe(true)
    }
  })

  test('takes a block back by its beginning, whole, and gives it out first', () => {
    const blocks = new SharedBlocks(BLOCK_BYTES)
    blocks.take()
    const block = blocks.take()
    blocks.give(block.subarray(0, 10))
    const again = blocks.take()
    expect([again.buffer, again.byteOffset, again.length]).toEqual([block.buffer, block.byteOffset, BLOCK_BYTES])
  })

  test('gives the memory of blocks that nobody has taken for a while back to the system, and keeps that of others', async () => {
    vi.useFakeTimers()
    const blocks = new SharedBlocks(MIB)
    const taken = Array.from({ length: 40 }, () => blocks.take().fill(1))
    const fullBytes = process.memoryUsage.rss()
    const discardedBytes = (): number => fullBytes - process.memoryUsage.rss()
    for (const block of taken) blocks.give(block)
    vi.advanceTimersByTime(IDLE_MS)
    const inUse = Array.from({ length: 10 }, () => blocks.take())
    expect(inUse.every((block) => block.every((byte) => byte === 1))).toBe(true)
    expect(discardedBytes()).toBeLessThan(10 * MIB)
    for (const block of inUse) blocks.give(block)
    vi.advanceTimersByTime(IDLE_MS)
    expect(discardedBytes()).toBeGreaterThan(20 * MIB)
    expect(blocks.take().every((byte) => byte === 1)).toBe(true)
    expect(Array.from({ length: 20 }, () => blocks.take().fill(2)).every((block) => block[MIB - 1] === 2)).toBe(true)
  })

  test('goes on with ordinary shared memory where no more can be reserved', () => {
    const Memory = vi.fn(function refuse() {
      throw new RangeError('WebAssembly.Memory(): could not allocate memory')
    })
    vi.stubGlobal('WebAssembly', { Memory })
    const block = new SharedBlocks(BLOCK_BYTES).take()
    expect(Memory).toHaveBeenCalled()
    expect([block.buffer instanceof SharedArrayBuffer, block.length]).toEqual([true, BLOCK_BYTES])
  })

  test('error: a block of no whole 64 KiB, and memory of somebody else', () => {
    expect(() => new SharedBlocks(1000)).toThrow(TypeError)
    expect(() => new SharedBlocks(BLOCK_BYTES).give(new Uint8Array(BLOCK_BYTES))).toThrow(TypeError)
  })
})
