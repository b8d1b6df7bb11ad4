import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SECTION_BYTES } from '../pieces/level-hasher.ts'
import { PieceReader } from '../pieces/piece-reader.ts'
import { PieceStore } from '../pieces/piece-store.ts'
import { pieceOf, temporaryDir } from '../testing/harness.ts'
import { proveLeaf } from './prove-leaf.ts'

describe('proveLeaf', () => {
  test('reads one section of a piece, and all of it only to make a missing level again', async () => {
    const store = await PieceStore.open({ dir: await temporaryDir(), now: Date.now })
    const { bytes } = pieceOf(2_500_000)
    const limits = { maxBytes: bytes.length, idleMs: 1000 }
    const held = await store.keep(await store.receive(Readable.from([bytes]), limits))
    const read = vi.spyOn(PieceReader.prototype, 'read')
    onTestFinished(() => read.mockRestore())
    const sizesRead = () => read.mock.calls.splice(0).map(([, lengthBytes]) => lengthBytes)

    await proveLeaf(store, held, 50_000)
    expect(sizesRead()).toEqual([SECTION_BYTES])
    await store.levels.keepOnly(() => false)
    await proveLeaf(store, held, 50_000)
    const sizes = sizesRead()
    expect(sizes.pop()).toBe(SECTION_BYTES)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(bytes.length)
    expect(Math.max(...sizes)).toBeLessThan(1.1 * 1024 * 1024)
    await proveLeaf(store, held, 0)
    expect(sizesRead()).toEqual([SECTION_BYTES])
  })
})
