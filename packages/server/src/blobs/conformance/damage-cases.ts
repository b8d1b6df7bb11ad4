import { expect } from 'vitest'
import {
  blobOf,
  type ConformanceCase,
  expectBytes,
  expectInvisible,
  get,
  listed,
  opened,
  put,
  quarantine,
  remove,
} from './case.ts'
import { seededBytes } from './seeded-bytes.ts'

/** What a store does with bytes that turned out to be wrong, and what it says of bytes that did not change. */
export const DAMAGE_CASES: readonly ConformanceCase[] = [
  {
    title: 'takes a quarantined blob out of reach, and once',
    async run({ store }) {
      const [kept, wrong] = [blobOf('kept'), blobOf(seededBytes(1_500_000, 20))]
      await put(store, kept)
      await put(store, wrong)
      const blob = await opened(store, wrong.sha256)
      expect([await blob.quarantine(), await blob.quarantine()]).toEqual([true, false])
      await blob.close()
      await expectInvisible(store, wrong.sha256)
      expect(await listed(store)).toEqual([kept.sha256])
      expectBytes(await get(store, kept.sha256), kept.bytes)
    },
  },
  {
    title: 'takes a quarantined blob again as a new one, as often as it goes wrong',
    async run({ store }) {
      const blob = blobOf(seededBytes(700_000, 21))
      for (let round = 0; round < 3; round++) {
        await put(store, blob)
        expectBytes(await get(store, blob.sha256), blob.bytes)
        await quarantine(store, blob.sha256)
        await expectInvisible(store, blob.sha256)
      }
      await put(store, blob)
      expect(await listed(store)).toEqual([blob.sha256])
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'leaves a blob in quarantine when it is opened again',
    needs: ['reopen'],
    async run(fixture) {
      const [kept, wrong] = [blobOf('kept'), blobOf('wrong')]
      await put(fixture.store, kept)
      await put(fixture.store, wrong)
      await quarantine(fixture.store, wrong.sha256)
      await fixture.store.close()
      if (fixture.subject.reopen !== undefined) fixture.store = await fixture.subject.reopen(fixture.store)
      await expectInvisible(fixture.store, wrong.sha256)
      expect(await listed(fixture.store)).toEqual([kept.sha256])
      await put(fixture.store, wrong)
      expectBytes(await get(fixture.store, wrong.sha256), wrong.bytes)
    },
  },
  {
    title: 'deletes what is in quarantine of a digest, and nothing that is stored under it',
    async run({ store }) {
      const [wrong, other] = [blobOf(seededBytes(700_000, 23)), blobOf('other')]
      await put(store, wrong)
      await put(store, other)
      await quarantine(store, wrong.sha256)
      await put(store, wrong)
      await store.deleteQuarantined(wrong.sha256)
      expect([await store.deleteQuarantined(wrong.sha256), await store.deleteQuarantined(other.sha256)]).toEqual([0, 0])
      expectBytes(await get(store, wrong.sha256), wrong.bytes)
    },
  },
  {
    title: 'leaves what was committed since a blob was opened, though it be the same bytes, and what is gone',
    async run({ store }) {
      const blob = blobOf(seededBytes(1_200_000, 22))
      await put(store, blob)
      const before = await opened(store, blob.sha256)
      await remove(store, blob.sha256)
      expect(await before.quarantine()).toBe(false)
      await put(store, blob)
      expect(await before.quarantine()).toBe(false)
      await before.close()
      expectBytes(await get(store, blob.sha256), blob.bytes)
      await quarantine(store, blob.sha256)
      await expectInvisible(store, blob.sha256)
    },
  },
  {
    title: 'error: a closed blob is not put away',
    async run({ store }) {
      const blob = blobOf('closed')
      await put(store, blob)
      const closed = await opened(store, blob.sha256)
      await closed.close()
      await expect(closed.quarantine()).rejects.toThrow(TypeError)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  },
  {
    title: 'says the same version while it holds the same blob, and never one version of two blobs',
    async run({ store }) {
      const blobs = Array.from({ length: 5 }, (_, index) => blobOf(`version ${index}`))
      const seen = new Map<string, string>()
      for (const blob of blobs) {
        await put(store, blob)
        const versions = [await versionOf(store, blob.sha256), await versionOf(store, blob.sha256)]
        expect(versions[1]).toBe(versions[0])
        await quarantine(store, blob.sha256)
        await put(store, blob)
        versions.push(await versionOf(store, blob.sha256))
        for (const version of versions) {
          if (version === undefined) continue
          expect(seen.get(version) ?? blob.sha256, `version ${version}`).toBe(blob.sha256)
          seen.set(version, blob.sha256)
        }
      }
    },
  },
]

async function versionOf(store: Parameters<typeof opened>[0], sha256: string): Promise<string | undefined> {
  const body = await opened(store, sha256)
  await body.close()
  return body.version
}
