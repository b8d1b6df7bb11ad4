import { expect } from 'vitest'
import { ABSENT, blobOf, type ConformanceCase, collect, expectBytes, get, opened, put, remove } from './case.ts'
import { seededBytes, seededRandom } from './seeded-bytes.ts'

const BIG_BYTES = 3 * 1024 * 1024 + 17

export const READING_CASES: readonly ConformanceCase[] = [
  {
    title: 'answers undefined for what it does not hold',
    async run({ store }) {
      await put(store, blobOf('something else'))
      expect(await store.open(ABSENT)).toBeUndefined()
      expect(await store.stat(ABSENT)).toBeUndefined()
    },
  },
  {
    title: 'reads random ranges',
    async run({ store }) {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const random = seededRandom(seed)
      const blob = blobOf(seededBytes(BIG_BYTES, seed))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      for (let round = 0; round < 60; round++) {
        const offset = Math.floor(random() * (BIG_BYTES + 1))
        const longest = BIG_BYTES - offset
        const length = Math.floor(random() * (Math.min(longest, round % 2 === 0 ? 5_000 : longest) + 1))
        const actual = await collect(body, { offset, length })
        const isEqual = Buffer.compare(actual, blob.bytes.subarray(offset, offset + length)) === 0
        expect(isEqual, `seed ${seed}: bytes ${offset}+${length} of ${BIG_BYTES}`).toBe(true)
      }
      await body.close()
    },
  },
  {
    title: 'reads the first byte, the last byte and no byte',
    async run({ store }) {
      const blob = blobOf('abc')
      await put(store, blob)
      expect(Buffer.from(await get(store, blob.sha256, { offset: 0, length: 1 })).toString()).toBe('a')
      expect(Buffer.from(await get(store, blob.sha256, { offset: 2, length: 1 })).toString()).toBe('c')
      expect(await get(store, blob.sha256, { offset: 0, length: 0 })).toHaveLength(0)
      expect(await get(store, blob.sha256, { offset: 3, length: 0 })).toHaveLength(0)
    },
  },
  {
    title: 'refuses a range outside the blob, and not as an absence',
    async run({ store }) {
      const blob = blobOf('abc')
      await put(store, blob)
      const outside = [
        { offset: 0, length: 4 },
        { offset: 4, length: 0 },
        { offset: -1, length: 1 },
        { offset: 0, length: -1 },
        { offset: 0.5, length: 1 },
        { offset: Number.NaN, length: 1 },
      ]
      for (const range of outside) await expect(get(store, blob.sha256, range)).rejects.toThrow(TypeError)
    },
  },
  {
    title: 'serves several readers of one open blob at once',
    async run({ store }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 2))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      const ranges = [
        { offset: 0, length: BIG_BYTES },
        { offset: 1_000_000, length: 2_000_000 },
        { offset: 5, length: 10 },
      ]
      const results = await Promise.all(ranges.map((range) => collect(body, range)))
      for (const [index, { offset, length }] of ranges.entries()) {
        expectBytes(results[index] ?? new Uint8Array(), blob.bytes.subarray(offset, offset + length))
      }
      await body.close()
    },
  },
  {
    title: 'keeps a chunk as it is until the next is asked for, however long that takes',
    async run({ store }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 3))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      const parts: Uint8Array[] = []
      for await (const chunk of body.chunks()) {
        await new Promise((resolve) => setTimeout(resolve, 3))
        parts.push(Uint8Array.from(chunk))
      }
      await body.close()
      expectBytes(Buffer.concat(parts), blob.bytes)
    },
  },
  {
    title: 'finishes a read whose blob is deleted meanwhile',
    async run({ store }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 4))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      const parts: Uint8Array[] = []
      for await (const chunk of body.chunks()) {
        if (parts.length === 0) await remove(store, blob.sha256)
        parts.push(Uint8Array.from(chunk))
      }
      await body.close()
      expectBytes(Buffer.concat(parts), blob.bytes)
      expect(await store.open(blob.sha256)).toBeUndefined()
    },
  },
  {
    title: 'never shows a torn blob while it is replaced again and again',
    async run({ store }) {
      const blob = blobOf(seededBytes(300_000, 5))
      await put(store, blob)
      let isWriting = true
      const reading = (async () => {
        let reads = 0
        while (isWriting) {
          expectBytes(await get(store, blob.sha256), blob.bytes)
          reads += 1
        }
        return reads
      })()
      for (let round = 0; round < 15; round++) await put(store, blob, 50_000)
      isWriting = false
      expect(await reading).toBeGreaterThan(0)
    },
  },
  {
    title: "gives a consumer's own error back unchanged",
    async run({ store }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 6))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      const own = new Error('mine')
      const consuming = (async () => {
        for await (const chunk of body.chunks()) if (chunk.length > 0) throw own
      })()
      await expect(consuming).rejects.toBe(own)
      await body.close()
    },
  },
  {
    title: 'leaves no descriptor behind a reader that breaks off, and can be read again after it',
    needs: ['openHandles'],
    async run({ store, subject }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 7))
      await put(store, blob)
      const before = subject.openHandles?.(store)
      for (let round = 0; round < 10; round++) {
        const body = await opened(store, blob.sha256)
        for await (const chunk of body.chunks()) if (chunk.length > 0) break
        expectBytes(await collect(body), blob.bytes)
        await body.close()
      }
      expect(await store.open(ABSENT)).toBeUndefined()
      expect(subject.openHandles?.(store)).toBe(before)
    },
  },
  {
    title: 'closes a body twice, and also under a reader',
    async run({ store }) {
      const blob = blobOf(seededBytes(BIG_BYTES, 8))
      await put(store, blob)
      const body = await opened(store, blob.sha256)
      const chunks = body.chunks()[Symbol.asyncIterator]()
      await chunks.next()
      await Promise.all([body.close(), body.close()])
      await body.close()
      const rest = (async () => {
        while ((await chunks.next()).done !== true);
      })()
      await expect(rest).rejects.toThrow(TypeError)
    },
  },
]
