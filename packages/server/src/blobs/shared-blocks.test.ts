import { loadAddon } from '@lade/node/addon'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SharedBlocks } from './shared-blocks.ts'

const BLOCK_BYTES = 65_536
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

  test.runIf(process.platform === 'linux' && loadAddon() !== undefined)(
    'gives the memory of blocks that nobody has taken for a while back to the system, and keeps that of others',
    { meta: { skippedBecause: 'the sha2-256 addon is not built here, or this is not Linux' } },
    () => {
      vi.useFakeTimers()
      const blocks = new SharedBlocks(BLOCK_BYTES)
      const consistsOf = (value: number, block: Uint8Array): boolean => block.every((byte) => byte === value)
      const taken = Array.from({ length: 40 }, () => blocks.take().fill(1))
      for (const block of taken) blocks.give(block)
      vi.advanceTimersByTime(IDLE_MS)
      const inUse = Array.from({ length: 10 }, () => blocks.take())
      expect(taken.every((block) => consistsOf(1, block))).toBe(true)
      for (const block of inUse) blocks.give(block)
      vi.advanceTimersByTime(IDLE_MS)
      // What was given back to the system is zero when it is read.
      expect(taken.filter((block) => consistsOf(0, block))).toHaveLength(30)
      expect(inUse.every((block) => consistsOf(1, block))).toBe(true)
      expect(consistsOf(1, blocks.take())).toBe(true)
      const others = Array.from({ length: 39 }, () => blocks.take().fill(2))
      expect(others.every((block) => consistsOf(2, block))).toBe(true)
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(IDLE_MS)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

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
