import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { BufferList } from '../../buffer-list.ts'
import { checked } from './checked-bytes.ts'
import { PartBuffer } from './part-buffer.ts'

const KIB = 1024

describe('PartBuffer', () => {
  const lists = [64, 1024].map((kib) => new BufferList({ bufferBytes: kib * KIB, keepAtMost: 1 }))

  test('takes what fits, and has the digests of it', async () => {
    const part = new PartBuffer({ sizeBytes: 100_000, lists })
    expect(part.append(Buffer.alloc(70_000, 1))).toBe(70_000)
    expect(await part.checked()).toEqual(checked(Buffer.alloc(70_000, 1)))
    expect(part.append(Buffer.alloc(70_000, 2))).toBe(30_000)
    expect(part.roomBytes).toBe(0)
    const bytes = Buffer.concat([Buffer.alloc(70_000, 1), Buffer.alloc(30_000, 2)])
    expect(await part.checked('known')).toEqual({ ...checked(bytes), sha256: 'known' })
  })

  test.each([
    ['of its size', 64 * KIB, 64 * KIB],
    ['a little larger', 600 * KIB, 1024 * KIB],
    ['of its own, where all are more than twice as large', 100 * KIB, 100 * KIB],
    ['of its own, where all are smaller', 1025 * KIB, 1025 * KIB],
  ])('has memory %s', (_, sizeBytes, memoryBytes) => {
    const part = new PartBuffer({ sizeBytes, lists })
    expect(part.roomBytes).toBe(sizeBytes)
    const { buffer, byteOffset } = part.bytes
    expect(buffer.byteLength - byteOffset).toBe(memoryBytes)
  })

  test('gives its memory back when it is not hashed any more', async () => {
    const [, list] = lists
    const part = new PartBuffer({ sizeBytes: 1024 * KIB, lists })
    part.append(Buffer.alloc(1024 * KIB, 3))
    const memory = part.bytes.buffer
    const hashing = part.checked()
    part.release()
    // Compared by hand: a difference of a MiB takes minutes to print.
    expect(list?.take().buffer === memory).toBe(false)
    const { md5 } = await hashing
    expect(md5).toBe(checked(Buffer.alloc(1024 * KIB, 3)).md5)
    await nextTurn()
    expect(list?.take().buffer === memory).toBe(true)
  })
})
