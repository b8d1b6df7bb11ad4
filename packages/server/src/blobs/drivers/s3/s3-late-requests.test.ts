import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../../../../services/until.ts'
import { memoryLog } from '../../../testing/running/running-service.ts'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../../../testing/running/staging-fixture.ts'
import { createDamageControl } from '../../../upkeep/damage.ts'
import { createScrub } from '../../../upkeep/scrub.ts'
import { discardObjects } from '../../../uploads/discard-objects.ts'
import type { BlobStore } from '../../blob-store.ts'
import { blobOf, expectBytes, get, listed, quarantine, type SampleBlob } from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import type { S3BlobStore, S3BlobStoreOptions } from './s3-blob-store.ts'
import { S3Calls } from './s3-calls.ts'
import { S3Keys } from './s3-keys.ts'
import { sweepUnmarked } from './s3-sweep.ts'
import { type FakeHome, PART_BYTES, startFakeHome } from './testing-subject.ts'

const ROUNDS = 6
const keyOf = ({ sha256 }: SampleBlob) => `lade/objects/${sha256.slice(0, 2)}/${sha256}`

let fixture: StagingFixture
let home: FakeHome
let store: S3BlobStore
beforeEach(async () => {
  fixture = await openStagingFixture()
  home = await startFakeHome()
  store = await open()
})
afterEach(async () => {
  await store.close()
  await home.s3.close()
  await fixture.remove()
})

const open = (options?: Partial<S3BlobStoreOptions>): Promise<S3BlobStore> =>
  home.open({ putsOf: (sha256) => fixture.records.inventory.puts(sha256), ...options })

/** As the older version put it. */
const underDigest = (): BlobStore => ({ ...store, begin: (options) => store.begin({ ...options, put: '' }) })

/** The fixture's own prover reads the fixture's own store. */
const proverStaging = {
  isNeeded: () => false,
  stageAtProver: () => Promise.reject(new Error('unused')),
}
const stage = (blob: SampleBlob, principal = PRINCIPAL, blobs: BlobStore = store) =>
  fixture.stage(blob.bytes, { tier: { principal, dailyBytes: 1e9, fileBytes: 1e8 }, deps: { blobs, proverStaging } })
const removeFile = async ({ sha256 }: SampleBlob, principal = PRINCIPAL) => {
  const key = `sha256:${sha256}`
  expect(await fixture.records.files.remove({ principal, key, now: fixture.clock.now })).toBeDefined()
}
const discard = (blobs: BlobStore = store) => discardObjects({ ...fixture, blobs })

/** Gives a removal up as soon as the store was asked for it. */
const givingUp = (): BlobStore => ({
  ...store,
  async delete(blob) {
    const givenUp = new AbortController()
    home.s3.requests.length = 0
    const removal = store.delete(blob, { signal: givenUp.signal })
    const isAsked = () => home.s3.requests.includes('DeleteObject')
    await Promise.race([removal, until('the removal is asked for', 5000, isAsked)])
    givenUp.abort()
    return removal
  },
})

describe('a gateway that executes a request late', () => {
  test.each([['small', 1000] as const, ['in parts', PART_BYTES * 2 + 5] as const])(
    'removes nothing that was uploaded after the removal was done elsewhere (%s)',
    async (_, sizeBytes) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const blob = blobOf(seededBytes(sizeBytes, round))
        await stage(blob)
        await removeFile(blob)
        const { promise: isContinued, resolve: goOn } = Promise.withResolvers<void>()
        home.s3.faults.holdNext('DeleteObject', isContinued)
        await expect(discard(givingUp())).rejects.toMatchObject({ code: 'storage_failed' })
        expect(await discard()).toBe(1)
        await stage(blob)
        goOn()
        await sleep(20)
        expectBytes(await get(store, blob.sha256), blob.bytes)
        await removeFile(blob)
        expect(await discard()).toBe(1)
      }
      expect(home.s3.objects.size).toBe(0)
    },
  )

  test('begins an upload after everything of it was swept, and that is ended later', async () => {
    const blob = blobOf(seededBytes(PART_BYTES * 2, 1))
    const { promise: isContinued, resolve: goOn } = Promise.withResolvers<void>()
    let now = Date.now()
    await store.close()
    store = await open({ now: () => now, retry: { tries: 1 }, requestHandler: { socketTimeout: 50 } })
    home.s3.faults.holdNext('CreateMultipartUpload', isContinued)
    await expect(stage(blob)).rejects.toMatchObject({ code: 'storage_failed' })
    await until('its marker is swept', 10_000, () => home.s3.objects.size === 0)
    goOn()
    await until('it is begun', 5000, () => home.s3.uploads.size === 1)
    const calls = new S3Calls(home.optionsOf())
    expect(await sweepUnmarked(calls, new S3Keys('lade/'), new Date(now - DAY_MS))).toBe(0)
    now += DAY_MS + 60_000
    expect(await sweepUnmarked(calls, new S3Keys('lade/'), new Date(now - DAY_MS))).toBe(1)
    expect(home.s3.uploads.size).toBe(0)
    await calls.close()
  })

  test('leaves the uploads under way of those who live, however old they are', async () => {
    const blob = blobOf(seededBytes(PART_BYTES * 2, 1))
    for (const expected of [blob.sha256, undefined]) {
      const pending = await store.begin({ holder: 'living', sizeBytes: blob.bytes.length, expected })
      await pending.write(blob.bytes)
    }
    const calls = new S3Calls(home.optionsOf())
    expect(await sweepUnmarked(calls, new S3Keys('lade/'), new Date(Date.now() + DAY_MS))).toBe(0)
    expect(home.s3.uploads.size).toBe(2)
    await calls.close()
  })
})

describe('a store that answers what it knew before, during a second upload', () => {
  const NO_SUCH_KEY = { status: 404, code: 'NoSuchKey' }
  const blobs = [blobOf(seededBytes(1000, 1)), blobOf(seededBytes(PART_BYTES * 2 + 5, 2))]

  test.each([
    ['that nothing is there', 'expected'],
    ['that nothing is there', 'copied'],
    ['another length', 'expected'],
    ['another length', 'copied'],
  ] as const)("never costs the first caller's bytes: %s (%s)", async (answer, how) => {
    for (const blob of blobs) {
      for (const times of [1, 2, 1000]) {
        await stage(blob)
        if (answer === 'another length') home.s3.faults.staleNextHead(times)
        else
          for (const on of ['HeadObject', 'GetObject'] as const) home.s3.faults.failNext(times, { ...NO_SUCH_KEY, on })
        const blobsOfSecond: BlobStore =
          how === 'expected'
            ? store
            : { ...store, begin: ({ holder, sizeBytes }) => store.begin({ holder, sizeBytes }) }
        const isTaken = await stage(blob, 'user:2', blobsOfSecond).then(
          () => true,
          () => false,
        )
        home.s3.faults.clear()
        await discard()
        expectBytes(await get(store, blob.sha256), blob.bytes)
        if (isTaken) await removeFile(blob, 'user:2')
        await removeFile(blob)
        fixture.clock.now += DAY_MS
        await discard()
        expect(await listed(store)).toEqual([])
      }
    }
  })
})

describe('a reader', () => {
  test('goes on where it was when what it reads was replaced and removed', async () => {
    const blob = blobOf(seededBytes(PART_BYTES * 3, 3))
    await stage(blob)
    const body = await store.open(blob.sha256)
    const chunks: Uint8Array[] = []
    home.s3.faults.cutNextGet(PART_BYTES)
    for await (const chunk of body?.chunks() ?? []) {
      if (chunks.length === 0) {
        await stage(blob, 'user:2')
        fixture.clock.now += DAY_MS
        expect(await discard()).toBe(1)
      }
      chunks.push(Uint8Array.from(chunk))
    }
    await body?.close()
    expectBytes(Buffer.concat(chunks), blob.bytes)
  })

  test('of another process finds the put that took the place of what it knew', async () => {
    const blob = blobOf(seededBytes(1000, 3))
    const other = await open()
    await stage(blob)
    expectBytes(await get(other, blob.sha256), blob.bytes)
    await removeFile(blob)
    await discard()
    expect(await other.stat(blob.sha256)).toBeUndefined()
    await stage(blob)
    expectBytes(await get(other, blob.sha256), blob.bytes)
    await other.close()
  })
})

describe('objects that an older version put under their digests alone', () => {
  const blob = blobOf(seededBytes(1000, 4))
  const keys = () => [...home.s3.objects.keys()]

  beforeEach(async () => {
    await stage(blob, PRINCIPAL, underDigest())
    expect(keys()).toEqual([keyOf(blob)])
  })

  test('are read, listed and located', async () => {
    expectBytes(await get(store, blob.sha256), blob.bytes)
    expect(await store.stat(blob.sha256)).toMatchObject({ put: '', sizeBytes: 1000 })
    expect(await listed(store)).toEqual([blob.sha256])
    const headers = { contentType: 'a/b', contentDisposition: 'inline', cacheControl: 'no-store' }
    expect(await store.locate(blob.sha256, headers)).toMatchObject({ url: expect.stringContaining(`${keyOf(blob)}?`) })
  })

  test('are removed', async () => {
    await removeFile(blob)
    expect(await discard()).toBe(1)
    expect(keys()).toEqual([])
  })

  test('give way to the put of a second upload, and go when their readers are through', async () => {
    await stage(blob, 'user:2')
    expect(keys()).toHaveLength(2)
    expect(await discard()).toBe(0)
    expect(await store.stat(blob.sha256)).not.toMatchObject({ put: '' })
    fixture.clock.now += store.traits.locatedMs + 60_000
    expect(await discard()).toBe(1)
    expect(keys()).toEqual([expect.stringContaining(`${keyOf(blob)}/`)])
    expectBytes(await get(store, blob.sha256), blob.bytes)
  })

  test('are put into quarantine', async () => {
    await quarantine(store, blob.sha256)
    expect(await store.open(blob.sha256)).toBeUndefined()
    await stage(blob, 'user:2')
    expectBytes(await get(store, blob.sha256), blob.bytes)
  })

  test('are scrubbed, and a copy under another name takes the place of one that is missing', async () => {
    const { records, instanceId, clock } = fixture
    const parts = { blobs: store, log: memoryLog([]), now: () => clock.now, records, integrity: records.integrity }
    const damage = createDamageControl(parts)
    const scrub = createScrub({ ...parts, damage, instanceId, days: 1 })
    await scrub.round()
    const walk = async () => {
      clock.now += DAY_MS
      await scrub.round()
    }
    await walk()
    expect(damage.counters()).toMatchObject({ quarantined: 0, missing: 0 })
    expect(keys()).toEqual([keyOf(blob)])
    const [object] = home.s3.objects.values()
    home.s3.objects.clear()
    if (object !== undefined) home.s3.objects.set(`${keyOf(blob)}/abc`, object)
    await walk()
    expect(damage.counters()).toMatchObject({ quarantined: 0, missing: 0 })
    expect(await records.inventory.puts(blob.sha256)).toEqual(['abc'])
    await discard()
    expect(keys()).toEqual([`${keyOf(blob)}/abc`])
    await scrub.stop()
  })
})
