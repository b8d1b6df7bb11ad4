import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'
import {
  ABSENT,
  blobOf,
  type ConformanceCase,
  expectBytes,
  expectInvisible,
  get,
  HOLDER,
  listed,
  put,
  remove,
} from './case.ts'
import { seededBytes } from './seeded-bytes.ts'

export const LIFETIME_CASES: readonly ConformanceCase[] = [
  {
    title: 'offers the suite what a durable store must: reopening and breaking',
    async run({ store, subject }) {
      if (!store.traits.durable) return
      expect(subject).toHaveProperty('reopen')
      expect(subject).toHaveProperty('breakNext')
    },
  },
  {
    title: 'says that it is well',
    async run({ store }) {
      await expect(store.check()).resolves.toBeUndefined()
      expect(store.traits.medium).not.toBe('')
    },
  },
  {
    title: 'deletes what is there, and what is not, and twice',
    async run({ store }) {
      const [kept, removed] = [blobOf('kept'), blobOf('removed')]
      await put(store, kept)
      await put(store, removed)
      await remove(store, removed.sha256)
      await remove(store, removed.sha256)
      await remove(store, ABSENT)
      await expectInvisible(store, removed.sha256)
      expect(await listed(store)).toEqual([kept.sha256])
    },
  },
  {
    title: 'error: deletes nothing any more once it is too late',
    async run({ store }) {
      const blob = blobOf('kept')
      await put(store, blob)
      const late = remove(store, blob.sha256, { signal: AbortSignal.abort() })
      await expect(late).rejects.toMatchObject({ code: 'storage_failed' })
      expectBytes(await get(store, blob.sha256), blob.bytes)
      await remove(store, blob.sha256, { signal: new AbortController().signal })
      await expectInvisible(store, blob.sha256)
    },
  },
  {
    title: 'takes a deleted blob again',
    async run({ store }) {
      const blob = blobOf('back again')
      await put(store, blob)
      await remove(store, blob.sha256)
      await put(store, blob)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: "sweeps one holder's pending blobs and nobody else's",
    async run({ store }) {
      const blob = blobOf('left behind')
      const begin = async (holder: string) => {
        const pending = await store.begin({ holder, sizeBytes: blob.bytes.length })
        await pending.write(blob.bytes)
        return pending
      }
      const lost = [await begin('gone-1'), await begin('gone-1')]
      const living = await begin('living-2')
      expect(await store.pendingHolders()).toEqual(expect.arrayContaining(['gone-1', 'living-2']))

      expect(await store.sweepPending('gone-1')).toBe(2)
      expect(await store.sweepPending('gone-1')).toBe(0)
      expect(await store.sweepPending('never-was')).toBe(0)
      expect(await store.pendingHolders()).not.toContain('gone-1')

      for (const pending of lost) {
        const committing = pending.commit(blob.sha256)
        await expect(committing).rejects.toSatisfy((error) => LadeError.has(error, 'storage_failed'))
        await pending.abort()
      }
      await expectInvisible(store, blob.sha256)
      await living.commit(blob.sha256)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'takes blobs of a holder again after its sweep',
    async run({ store }) {
      const blob = blobOf('next life')
      await (await store.begin({ holder: HOLDER, sizeBytes: 1 })).write(Uint8Array.of(1))
      await store.sweepPending(HOLDER)
      await put(store, blob)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'survives being opened again, with what a crash left still to be swept',
    needs: ['reopen'],
    async run(fixture) {
      const [kept, removed] = [blobOf(seededBytes(2_000_000, 10)), blobOf('removed')]
      await put(fixture.store, kept)
      await put(fixture.store, removed)
      await remove(fixture.store, removed.sha256)
      const sizeBytes = (fixture.subject.heldBackBytes ?? 0) + 10
      const pending = await fixture.store.begin({ holder: HOLDER, sizeBytes })
      await pending.write(Uint8Array.of(1, 2, 3))

      await fixture.store.close()
      if (fixture.subject.reopen !== undefined) fixture.store = await fixture.subject.reopen(fixture.store)

      expect(await listed(fixture.store)).toEqual([kept.sha256])
      expectBytes(await get(fixture.store, kept.sha256), kept.bytes)
      const fresh = await fixture.store.begin({ holder: HOLDER, sizeBytes: 1 })
      await fresh.abort()
      expect(await fixture.store.pendingHolders()).toContain(HOLDER)
      expect(await fixture.store.sweepPending(HOLDER)).toBe(1)
      await put(fixture.store, removed)
      expectBytes(await get(fixture.store, removed.sha256), removed.bytes)
    },
  },
  {
    title: 'closes twice',
    async run({ store }) {
      await store.close()
      await store.close()
    },
  },
]
