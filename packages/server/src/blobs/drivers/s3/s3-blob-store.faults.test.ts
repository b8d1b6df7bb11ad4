import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FakeS3 } from '../../../testing/fake-s3/fake-s3.ts'
import { ABSENT, blobOf, expectBytes, get, HOLDER, listed, opened, put } from '../../conformance/case.ts'
import { seededBytes, seededRandom } from '../../conformance/seeded-bytes.ts'
import type { S3BlobStore, S3BlobStoreOptions } from './s3-blob-store.ts'
import { type FakeHome, PART_BYTES, startFakeHome } from './testing-subject.ts'

const SMALL = blobOf(seededBytes(1000, 1))
const BIG = blobOf(seededBytes(PART_BYTES * 3 + 5, 2))
const INTERNAL = { status: 500, code: 'InternalError' }

let home: FakeHome
let s3: FakeS3
let store: S3BlobStore

async function reopen(options?: Partial<S3BlobStoreOptions>): Promise<void> {
  await store?.close()
  store = await home.open(options)
  s3.requests.length = 0
}

beforeEach(async () => {
  home = await startFakeHome()
  s3 = home.s3
  await reopen()
})

afterEach(async () => {
  s3.faults.clear()
  await store.close()
  await s3.close()
})

async function expectStorageFailed(work: Promise<unknown>): Promise<LadeError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!LadeError.has(error, 'storage_failed'))
    throw new TypeError(`storage_failed was expected and not ${String(error)}`)
  return error
}

/** A commit that fails promises nothing, shows nothing, and leaves nothing after an abort. */
async function expectFailedCommit(blob: typeof SMALL, expected?: string): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected })
  await pending.write(blob.bytes)
  await expectStorageFailed(pending.commit(blob.sha256))
  s3.faults.clear()
  await pending.abort()
  expect(await listed(store)).toEqual([])
  expect(await store.sweepPending(HOLDER)).toBe(0)
  expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0])
  await put(store, blob)
  expectBytes(await get(store, blob.sha256), blob.bytes)
}

async function putBig(expected: string | undefined): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
  await pending.write(BIG.bytes)
  await pending.commit(BIG.sha256)
}

describe('a store that fails for a moment', () => {
  test.each([
    { status: 503, code: 'SlowDown' },
    { status: 503, code: 'SlowDown', asHtml: true },
    { status: 502, code: 'BadGateway', asHtml: true },
    { status: 500, code: 'InternalError' },
    { status: 429, code: 'TooManyRequests' },
    { status: 400, code: 'RequestTimeout' },
    { status: 409, code: 'ConditionalRequestConflict' },
  ])('is asked again after $status $code (page: $asHtml)', async (failure) => {
    s3.faults.failNext(2, failure)
    await put(store, SMALL)
    s3.faults.failNext(2, failure)
    await putBig(BIG.sha256)
    for (const blob of [SMALL, BIG]) {
      s3.faults.failNext(2, failure)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    }
  })

  test('is left alone as long as it asks', async () => {
    s3.faults.failNext(1, { status: 503, code: 'SlowDown', retryAfterSeconds: 1 })
    const startedAt = performance.now()
    await store.stat(SMALL.sha256)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  })

  test('error: says how long it asks to be left alone when that is longer than a caller should wait', async () => {
    s3.faults.failNext(1, { status: 503, code: 'SlowDown', retryAfterSeconds: 90 })
    const error = await expectStorageFailed(store.stat(SMALL.sha256))
    expect(error.evidence).toEqual({ retryAfterSeconds: 90 })
    expect(s3.requests).toEqual(['HeadObject'])
  })
})

describe('a store that is down', () => {
  test.each(['refused', 'unavailable'] as const)(
    'error: is never an absence (%s), and works again afterwards',
    async (outage) => {
      await put(store, SMALL)
      s3.faults.outage = outage
      await expectStorageFailed(store.open(SMALL.sha256))
      await expectStorageFailed(store.stat(ABSENT))
      await expectStorageFailed(listed(store))
      await expectStorageFailed(store.delete(SMALL.sha256))
      await expectStorageFailed(store.quarantine(SMALL.sha256))
      await expectStorageFailed(store.check())
      await expectStorageFailed(store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length }))
      await expectFailedCommitWhileDown()
      s3.faults.outage = 'off'
      await store.check()
      expectBytes(await get(store, SMALL.sha256), SMALL.bytes)
    },
  )

  async function expectFailedCommitWhileDown(): Promise<void> {
    const blob = blobOf('while it is down')
    const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length })
    await pending.write(blob.bytes)
    await expectStorageFailed(pending.commit(blob.sha256))
    await pending.abort()
  }

  test('error: is given up after a silence', async () => {
    await reopen({ retry: { tries: 1 } })
    s3.faults.outage = 'silent'
    const startedAt = performance.now()
    await expectStorageFailed(store.stat(SMALL.sha256))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('error: while a large blob comes in, what was begun is removed once it is back', async () => {
    for (const expected of [BIG.sha256, undefined]) {
      const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
      await pending.write(BIG.bytes.subarray(0, PART_BYTES))
      s3.faults.outage = 'refused'
      await expectStorageFailed(pending.write(BIG.bytes.subarray(PART_BYTES)).then(() => pending.flush()))
      await expectStorageFailed(pending.abort())
      s3.faults.outage = 'off'
      expect(await store.sweepPending(HOLDER)).toBe(1)
      expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0])
    }
  })
})

describe('answers that mean something else than they seem to', () => {
  test('error: 404 of a bucket or of a proxy is no absence of a blob', async () => {
    for (const failure of [
      { status: 404, code: 'NoSuchBucket' },
      { status: 404, code: 'NotFound', asHtml: true },
      { status: 403, code: 'AccessDenied' },
    ]) {
      s3.faults.failNext(2, failure)
      await expectStorageFailed(store.stat(ABSENT))
      s3.faults.clear()
    }
    expect(await store.stat(ABSENT)).toBeUndefined()
  })

  test.each([
    { status: 507, code: 'InsufficientStorage' },
    { status: 403, code: 'QuotaExceeded' },
    { status: 400, code: 'EntityTooLarge' },
  ])('error: $status $code is insufficient_storage', async (failure) => {
    const pending = await store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    s3.faults.failNext(1, failure)
    await expect(pending.commit(SMALL.sha256)).rejects.toMatchObject({ code: 'insufficient_storage' })
    expect(s3.requests.filter((name) => name === 'PutObject')).toHaveLength(1)
    await pending.abort()
  })

  test('error: 200 with an error inside is a failure of Complete, and is tried again', async () => {
    s3.faults.failNextWith200('CompleteMultipartUpload', 'InternalError', 2)
    await putBig(BIG.sha256)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
    await store.delete(BIG.sha256)
    s3.faults.failNextWith200('CompleteMultipartUpload', 'InternalError', 5)
    await expectFailedCommit(BIG, BIG.sha256)
  })

  test.each(['CopyObject', 'UploadPartCopy'] as const)(
    'error: 200 with an error inside is a failure of %s',
    async (call) => {
      await reopen({ copyAtMostBytes: call === 'CopyObject' ? 1024 ** 3 : PART_BYTES })
      s3.faults.failNextWith200(call, 'InternalError', 2)
      await putBig(undefined)
      expectBytes(await get(store, BIG.sha256), BIG.bytes)
      await store.delete(BIG.sha256)
      s3.faults.failNextWith200(call, 'InternalError', 1000)
      await expectFailedCommit(BIG)
    },
  )
})

describe('a store whose answers are lost', () => {
  test.each(['PutObject', 'CompleteMultipartUpload', 'CopyObject', 'UploadPart', 'DeleteObject'] as const)(
    'has done what was asked for, and %s succeeds',
    async (call) => {
      const blob = call === 'PutObject' ? SMALL : BIG
      s3.faults.dropNextAnswer(call)
      await put(store, blob)
      expectBytes(await get(store, blob.sha256), blob.bytes)
      await store.delete(blob.sha256)
      expect(await store.sweepPending(HOLDER)).toBe(0)
      expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0])
    },
  )

  test('has a blob whose completion never answered, though every try fails', async () => {
    await reopen({ retry: { tries: 1 } })
    s3.faults.dropNextAnswer('CompleteMultipartUpload')
    await putBig(BIG.sha256)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
    expect(s3.uploads.size).toBe(0)
  })

  test('ends its own upload when the blob that is there after a lost completion is another writer’s', async () => {
    await reopen({ retry: { tries: 1 } })
    const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
    await pending.write(BIG.bytes)
    await pending.flush()
    await putBig(BIG.sha256)
    s3.faults.failNext(1, { ...INTERNAL, on: 'CompleteMultipartUpload' })
    await pending.commit(BIG.sha256)
    expect(s3.uploads.size).toBe(0)
  })

  test.each(['PutObject', 'CompleteMultipartUpload'] as const)(
    'error: a store that answers %s and keeps nothing is found out',
    async (call) => {
      const [blob, expected] = call === 'PutObject' ? [SMALL, undefined] : [BIG, BIG.sha256]
      s3.faults.loseNext(call, 9)
      await expectFailedCommit(blob, expected)
    },
  )

  test('error: a copy that is answered and not made is found out', async () => {
    s3.faults.loseNext('CopyObject', 9)
    await expectFailedCommit(BIG)
  })
})

describe('a store that keeps other bytes than it was sent', () => {
  test('is sent them again, and its ETags are still believed', async () => {
    s3.faults.damageNext('PutObject', 2)
    await put(store, SMALL)
    s3.faults.damageNext('UploadPart', 2)
    await putBig(BIG.sha256)
    for (const blob of [SMALL, BIG]) expectBytes(await get(store, blob.sha256), blob.bytes)
    expect(store.traits.md5Etags).toBe(true)
  })

  test('error: is found out when it goes on, and the bytes are not left under the digest', async () => {
    s3.faults.damageNext('PutObject', 1000)
    const pending = await store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    await expectStorageFailed(pending.commit(SMALL.sha256))
    await pending.abort()
    expect(s3.objects.size).toBe(0)
    s3.faults.clear()
    s3.faults.damageNext('UploadPart', 1000)
    await expectFailedCommit(BIG, BIG.sha256)
  })
})

describe('close', () => {
  test('error: ends what is under way and leaves nothing running', async () => {
    await put(store, SMALL)
    const body = await opened(store, SMALL.sha256)
    s3.faults.outage = 'silent'
    const pending = await store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    const failing = [pending.commit(SMALL.sha256), store.stat(SMALL.sha256), listed(store), get(store, SMALL.sha256)]
    const outcomes = Promise.all(failing.map(expectStorageFailed))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const startedAt = performance.now()
    await store.close()
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    await outcomes
    expect([home.watched.openRequests(), home.watched.openBodies()]).toEqual([0, 0])
    await expectStorageFailed(store.stat(SMALL.sha256))
    await body.close()
  })
})

describe('many faults at once', () => {
  test('never make a false success, and leave nothing after a sweep', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = seededRandom(seed)
    await reopen({ retry: { tries: 2 } })
    const calls = ['PutObject', 'UploadPart', 'CompleteMultipartUpload', 'CopyObject', 'CreateMultipartUpload'] as const
    const kept = new Map<string, Uint8Array>()
    let failures = 0
    for (let round = 0; round < 60; round++) {
      const blob = blobOf(seededBytes(Math.floor(random() * 3 * PART_BYTES), seed + round))
      const call = calls[Math.floor(random() * calls.length)] ?? 'PutObject'
      const times = 1 + Math.floor(random() * 3)
      if (random() < 0.5) s3.faults.dropNextAnswer(call, times)
      else s3.faults.failNext(times, { ...INTERNAL, on: call })
      const expected = random() < 0.5 ? blob.sha256 : undefined
      try {
        const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected })
        try {
          await pending.write(blob.bytes)
          await pending.commit(blob.sha256)
          kept.set(blob.sha256, blob.bytes)
        } finally {
          await pending.abort().catch(() => {})
        }
      } catch (error) {
        if (!LadeError.has(error, 'storage_failed')) throw error
        failures += 1
      }
      s3.faults.clear()
    }
    await store.sweepPending(HOLDER)
    for (const [sha256, bytes] of kept) expectBytes(await get(store, sha256), bytes)
    const left = [...s3.objects.keys()].filter((key) => !key.startsWith('lade/objects/'))
    expect(left, `seed ${seed}`).toEqual([])
    // Whatever is readable is whole, also what a failed commit has left.
    for (const sha256 of await listed(store)) expect(blobOf(await get(store, sha256)).sha256).toBe(sha256)
    // Uploads at the place of a blob whose beginning was not answered have no parts, and end by the bucket's rule.
    for (const upload of s3.uploads.values()) expect(upload.parts.size, `seed ${seed}`).toBe(0)
    expect(failures).toBeGreaterThan(0)
    expect(kept.size).toBeGreaterThan(10)
  })
})
