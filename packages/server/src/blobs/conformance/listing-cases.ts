import { expect } from 'vitest'
import { blobOf, type ConformanceCase, listed, put, write } from './case.ts'

function blobs(count: number) {
  return Array.from({ length: count }, (_, index) => blobOf(`blob ${index}`))
}

export const LISTING_CASES: readonly ConformanceCase[] = [
  {
    title: 'lists nothing, then one, 5 and 100 blobs, in order of digest and with their sizes',
    async run({ store }) {
      expect(await listed(store)).toEqual([])
      const all = blobs(100)
      let stored = 0
      for (const count of [1, 5, 100]) {
        for (; stored < count; stored++) await put(store, all[stored] ?? blobOf(''))
        const expected = all
          .slice(0, count)
          .map(({ sha256, bytes }) => ({ sha256, sizeBytes: bytes.length }))
          .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
        const actual = []
        for await (const { sha256, sizeBytes } of store.list()) actual.push({ sha256, sizeBytes })
        expect(actual).toEqual(expected)
      }
    },
  },
  {
    title: 'lists after a digest, up to a limit, and both',
    async run({ store }) {
      for (const blob of blobs(30)) await put(store, blob)
      const all = blobs(30)
        .map(({ sha256 }) => sha256)
        .sort()
      expect(await listed(store, { limit: 0 })).toEqual([])
      expect(await listed(store, { limit: 7 })).toEqual(all.slice(0, 7))
      expect(await listed(store, { limit: 31 })).toEqual(all)
      expect(await listed(store, { after: all[9] ?? '' })).toEqual(all.slice(10))
      expect(await listed(store, { after: all[9] ?? '', limit: 3 })).toEqual(all.slice(10, 13))
      expect(await listed(store, { after: all[29] ?? '' })).toEqual([])
    },
  },
  {
    title: 'lists after a key between two digests, and after a prefix of one',
    async run({ store }) {
      for (const blob of blobs(30)) await put(store, blob)
      const all = blobs(30)
        .map(({ sha256 }) => sha256)
        .sort()
      const tenth = all[10] ?? ''
      for (const after of [`${tenth}0`, tenth.slice(0, 1), tenth.slice(0, 2), tenth.slice(0, 9), '', 'g']) {
        expect(await listed(store, { after }), `after "${after}"`).toEqual(all.filter((sha256) => sha256 > after))
      }
    },
  },
  {
    title: 'pages through all blobs without a gap or a repetition',
    async run({ store }) {
      for (const blob of blobs(25)) await put(store, blob)
      const seen: string[] = []
      for (let page = ['']; page.length > 0; seen.push(...page)) {
        page = await listed(store, { after: seen.at(-1) ?? '', limit: 4 })
      }
      expect(seen).toEqual(await listed(store))
      expect(seen).toHaveLength(25)
    },
  },
  {
    title: 'goes on listing when blobs are deleted under it',
    async run({ store }) {
      for (const blob of blobs(20)) await put(store, blob)
      const seen: string[] = []
      for await (const blob of store.list()) {
        seen.push(blob.sha256)
        await store.delete(blob)
      }
      expect(seen).toHaveLength(20)
      expect(await listed(store)).toEqual([])
    },
  },
  {
    title: "gives a listing consumer's own error back unchanged",
    async run({ store }) {
      await put(store, blobOf('one'))
      const own = new Error('mine')
      const consuming = (async () => {
        for await (const info of store.list()) if (info.sizeBytes > 0) throw own
      })()
      await expect(consuming).rejects.toBe(own)
    },
  },
  {
    title: 'does not list pending blobs',
    async run({ store }) {
      const pending = await write(store, blobOf('pending'))
      expect(await listed(store)).toEqual([])
      await pending.abort()
    },
  },
]
