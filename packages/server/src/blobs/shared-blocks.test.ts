import { afterEach, describe, expect, test, vi } from 'vitest'
import { SharedBlocks } from './shared-blocks.ts'

const BLOCK_BYTES = 65_536

afterEach(() => vi.unstubAllGlobals())

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
