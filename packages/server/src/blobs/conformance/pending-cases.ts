import { expect } from 'vitest'
import { blobOf, type ConformanceCase, expectBytes, expectInvisible, get, HOLDER, listed, put, write } from './case.ts'
import { seededBytes } from './seeded-bytes.ts'

const MIB = 1024 * 1024

/** Sizes on both sides of the edges that stores tend to have, and of the subject's own. */
function probedSizes(boundaryBytes: number | undefined): number[] {
  const edges = [65_536, MIB, 3 * MIB, ...(boundaryBytes === undefined ? [] : [boundaryBytes, 2 * boundaryBytes])]
  return [0, 1, ...edges.flatMap((edge) => [edge - 1, edge, edge + 1])]
}

export const PENDING_CASES: readonly ConformanceCase[] = [
  {
    title: 'gives back what was committed, at every size around its edges',
    async run({ store, subject }) {
      for (const sizeBytes of probedSizes(subject.boundaryBytes)) {
        const blob = blobOf(seededBytes(sizeBytes, sizeBytes))
        await put(store, blob)
        expect(await store.stat(blob.sha256)).toMatchObject({ sha256: blob.sha256, sizeBytes })
        expectBytes(await get(store, blob.sha256), blob.bytes)
      }
    },
  },
  {
    title: 'takes a blob whose size only its end tells',
    async run({ store, subject }) {
      const boundary = subject.boundaryBytes ?? 4096
      for (const sizeBytes of [0, 1, boundary - 1, boundary, boundary + 1, 3 * boundary + 7]) {
        const blob = blobOf(seededBytes(sizeBytes, sizeBytes))
        const pending = await store.begin({ holder: HOLDER, sizeBytes: undefined })
        for (let at = 0; at < sizeBytes; at += 100_000) await pending.write(blob.bytes.subarray(at, at + 100_000))
        await pending.flush()
        await expectInvisible(store, blob.sha256)
        await pending.commit(blob.sha256)
        expect(await store.stat(blob.sha256)).toMatchObject({ sizeBytes })
        expectBytes(await get(store, blob.sha256), blob.bytes)
      }
      expect(await store.sweepPending(HOLDER)).toBe(0)
    },
  },
  {
    title: 'joins writes of any length in order',
    async run({ store }) {
      for (const pieceBytes of [1, 7, 4096, 65_537]) {
        const blob = blobOf(seededBytes(pieceBytes * 11 + 3, pieceBytes))
        await put(store, blob, pieceBytes)
        expectBytes(await get(store, blob.sha256), blob.bytes)
      }
    },
  },
  {
    title: 'has used a chunk when its write settles, so that the buffer may be reused',
    async run({ store }) {
      const blob = blobOf('onetwo')
      const pending = await store.begin({ holder: HOLDER, sizeBytes: 6 })
      const buffer = Buffer.from('one')
      await pending.write(buffer)
      buffer.write('two')
      await pending.write(buffer)
      buffer.fill(0)
      await pending.commit(blob.sha256)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'shows nothing before the commit resolves',
    async run({ store }) {
      const blob = blobOf('not yet')
      const pending = await write(store, blob)
      await expectInvisible(store, blob.sha256)
      await pending.flush()
      await expectInvisible(store, blob.sha256)
      await pending.commit(blob.sha256)
      expect(await listed(store)).toEqual([blob.sha256])
    },
  },
  {
    title: 'commits without an explicit flush, and flushes any number of times',
    async run({ store }) {
      const [direct, flushed] = [blobOf('direct'), blobOf('flushed')]
      await (await write(store, direct)).commit(direct.sha256)
      const pending = await store.begin({ holder: HOLDER, sizeBytes: flushed.bytes.length })
      await pending.flush()
      await pending.write(flushed.bytes.subarray(0, 3))
      await pending.flush()
      await pending.flush()
      await pending.write(flushed.bytes.subarray(3))
      await pending.flush()
      await pending.commit(flushed.sha256)
      expectBytes(await get(store, direct.sha256), direct.bytes)
      expectBytes(await get(store, flushed.sha256), flushed.bytes)
    },
  },
  {
    title: 'commits one digest twice as one blob',
    async run({ store }) {
      const blob = blobOf('twice')
      await put(store, blob)
      await put(store, blob)
      expect(await listed(store)).toEqual([blob.sha256])
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'commits one digest from many writers at once as one blob',
    async run({ store }) {
      const blob = blobOf(seededBytes(200_000, 1))
      await Promise.all(Array.from({ length: 16 }, () => put(store, blob, 30_000)))
      expect(await listed(store)).toEqual([blob.sha256])
      expectBytes(await get(store, blob.sha256), blob.bytes)
      expect(await store.sweepPending(HOLDER)).toBe(0)
    },
  },
  {
    title: 'says before the commit what the put will be called, and has it by that name',
    async run({ store }) {
      const blob = blobOf('named')
      const pending = await write(store, blob)
      const name = { sha256: blob.sha256, put: pending.put }
      expect(pending.put !== '').toBe(store.traits.keepsPuts)
      await pending.commit(blob.sha256)
      expect(await store.stat(blob.sha256)).toEqual({ ...name, sizeBytes: blob.bytes.length })
      const names = []
      for await (const { sha256, put } of store.list()) names.push({ sha256, put })
      expect(names).toEqual([name])
    },
  },
  {
    title: 'removes one put of a digest, and gives the other ones of it',
    async run({ store }) {
      const blob = blobOf(seededBytes(700_000, 9))
      const first = await write(store, blob)
      await first.commit(blob.sha256)
      const second = await write(store, blob)
      await second.commit(blob.sha256)
      await store.delete({ sha256: blob.sha256, put: store.traits.keepsPuts ? first.put : 'neverwas' })
      expectBytes(await get(store, blob.sha256), blob.bytes)
      await store.delete({ sha256: blob.sha256, put: second.put })
      await expectInvisible(store, blob.sha256)
    },
  },
  {
    title: 'takes a put by the name that it has elsewhere',
    async run({ store }) {
      const blob = blobOf('copied')
      for (const put of ['', 'abc123']) {
        const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected: blob.sha256, put })
        expect(pending.put).toBe(store.traits.keepsPuts ? put : '')
        await pending.write(blob.bytes)
        await pending.commit(blob.sha256)
        expectBytes(await get(store, blob.sha256), blob.bytes)
        await store.delete({ sha256: blob.sha256, put: pending.put })
        await expectInvisible(store, blob.sha256)
      }
    },
  },
  {
    title: 'keeps many blobs written at once apart',
    async run({ store }) {
      const blobs = Array.from({ length: 24 }, (_, index) => blobOf(seededBytes(50_000 + index, index)))
      await Promise.all(blobs.map((blob) => put(store, blob, 9_999)))
      for (const blob of blobs) expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'leaves nothing of a blob aborted before its commit, and aborts twice',
    async run({ store }) {
      const blob = blobOf('changed my mind')
      for (const isFlushed of [false, true]) {
        const pending = await write(store, blob)
        if (isFlushed) await pending.flush()
        await pending.abort()
        await pending.abort()
        await expectInvisible(store, blob.sha256)
        expect(await store.sweepPending(HOLDER)).toBe(0)
      }
    },
  },
  {
    title: 'keeps a blob that is aborted after its commit',
    async run({ store }) {
      const blob = blobOf('too late')
      const pending = await write(store, blob)
      await pending.commit(blob.sha256)
      await pending.abort()
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'keeps a committed blob when another writer of it aborts',
    async run({ store }) {
      const blob = blobOf('shared')
      const abandoned = await write(store, blob)
      await put(store, blob)
      await abandoned.abort()
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'refuses to go on with a blob that was committed or aborted',
    async run({ store }) {
      const blob = blobOf('over')
      const committed = await write(store, blob)
      await committed.commit(blob.sha256)
      const aborted = await write(store, blob)
      await aborted.abort()
      for (const pending of [committed, aborted]) {
        await expect(pending.write(blob.bytes)).rejects.toThrow(TypeError)
        await expect(pending.flush()).rejects.toThrow(TypeError)
        await expect(pending.commit(blob.sha256)).rejects.toThrow(TypeError)
      }
    },
  },
  {
    title: 'refuses a digest or a holder that could be a path',
    async run({ store }) {
      for (const name of ['', '..', '../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(63)}/`]) {
        const pending = await store.begin({ holder: HOLDER, sizeBytes: 0 })
        await expect(pending.commit(name)).rejects.toThrow(TypeError)
        await pending.abort()
        await expect(store.open(name)).rejects.toThrow(TypeError)
        await expect(store.stat(name)).rejects.toThrow(TypeError)
        await expect(store.delete({ sha256: name, put: '' })).rejects.toThrow(TypeError)
      }
      for (const holder of ['', '..', 'a/b', 'a.b', 'a'.repeat(65)]) {
        await expect(store.begin({ holder, sizeBytes: 0 })).rejects.toThrow(TypeError)
        await expect(store.sweepPending(holder)).rejects.toThrow(TypeError)
      }
    },
  },
]
