import { LadeError } from '@lade/core/errors'
import { describe, expect, test } from 'vitest'
import { ABSENT, blobOf, expectBytes, get, HOLDER, listed, opened, put, remove } from '../../conformance/case.ts'
import { seededBytes, seededRandom } from '../../conformance/seeded-bytes.ts'
import { BIG, expectStorageFailed, putBig, SMALL, useFreshStore } from './testing-fresh-store.ts'
import { PART_BYTES } from './testing-subject.ts'

const INTERNAL = { status: 500, code: 'InternalError' }

const fresh = useFreshStore()

/** A commit that fails promises nothing, shows nothing, and leaves nothing after an abort. */
async function expectFailedCommit(blob: typeof SMALL, expected?: string): Promise<void> {
  const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected })
  await pending.write(blob.bytes)
  await expectStorageFailed(pending.commit(blob.sha256))
  fresh.s3.faults.clear()
  await pending.abort()
  expect(await listed(fresh.store)).toEqual([])
  expect(await fresh.store.sweepPending(HOLDER)).toBe(0)
  expect([fresh.s3.objects.size, fresh.s3.uploads.size]).toEqual([0, 0])
  await put(fresh.store, blob)
  expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
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
    fresh.s3.faults.failNext(2, failure)
    await put(fresh.store, SMALL)
    fresh.s3.faults.failNext(2, failure)
    await putBig(fresh.store, BIG.sha256)
    for (const blob of [SMALL, BIG]) {
      fresh.s3.faults.failNext(2, failure)
      expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
    }
  })

  test('is left alone as long as it asks', async () => {
    fresh.s3.faults.failNext(1, { status: 503, code: 'SlowDown', retryAfterSeconds: 1 })
    const startedAt = performance.now()
    await fresh.store.stat(SMALL.sha256)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  })

  test('error: says how long it asks to be left alone when that is longer than a caller should wait', async () => {
    fresh.s3.faults.failNext(1, { status: 503, code: 'SlowDown', retryAfterSeconds: 90 })
    const error = await expectStorageFailed(fresh.store.stat(SMALL.sha256))
    expect(error.evidence).toEqual({ retryAfterSeconds: 90 })
    expect(fresh.s3.requests).toEqual(['ListObjectsV2'])
  })
})

describe('a store that is down', () => {
  test.each(['refused', 'unavailable'] as const)(
    'error: is never an absence (%s), and works again afterwards',
    async (outage) => {
      await put(fresh.store, SMALL)
      const blob = await opened(fresh.store, SMALL.sha256)
      fresh.s3.faults.outage = outage
      await expectStorageFailed(fresh.store.open(SMALL.sha256))
      await expectStorageFailed(fresh.store.stat(ABSENT))
      await expectStorageFailed(listed(fresh.store))
      await expectStorageFailed(remove(fresh.store, SMALL.sha256))
      await expectStorageFailed(blob.quarantine())
      await expectStorageFailed(fresh.store.check())
      await expectStorageFailed(fresh.store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length }))
      await expectFailedCommitWhileDown()
      fresh.s3.faults.outage = 'off'
      await fresh.store.check()
      expectBytes(await get(fresh.store, SMALL.sha256), SMALL.bytes)
    },
  )

  async function expectFailedCommitWhileDown(): Promise<void> {
    const blob = blobOf('while it is down')
    const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length })
    await pending.write(blob.bytes)
    await expectStorageFailed(pending.commit(blob.sha256))
    await pending.abort()
  }

  test('error: is given up after a silence', async () => {
    await fresh.reopen({ retry: { tries: 1 } })
    fresh.s3.faults.outage = 'silent'
    const startedAt = performance.now()
    await expectStorageFailed(fresh.store.stat(SMALL.sha256))
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('error: while a large blob comes in, what was begun is removed once it is back', async () => {
    for (const expected of [BIG.sha256, undefined]) {
      const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
      await pending.write(BIG.bytes.subarray(0, PART_BYTES))
      fresh.s3.faults.outage = 'refused'
      await expectStorageFailed(pending.write(BIG.bytes.subarray(PART_BYTES)).then(() => pending.flush()))
      await expectStorageFailed(pending.abort())
      fresh.s3.faults.outage = 'off'
      expect(await fresh.store.sweepPending(HOLDER)).toBe(1)
      expect([fresh.s3.objects.size, fresh.s3.uploads.size]).toEqual([0, 0])
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
      fresh.s3.faults.failNext(2, failure)
      await expectStorageFailed(fresh.store.stat(ABSENT))
      fresh.s3.faults.clear()
    }
    expect(await fresh.store.stat(ABSENT)).toBeUndefined()
  })

  test.each([
    { status: 507, code: 'InsufficientStorage' },
    { status: 403, code: 'QuotaExceeded' },
    { status: 400, code: 'EntityTooLarge' },
  ])('error: $status $code is insufficient_storage', async (failure) => {
    const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    fresh.s3.faults.failNext(1, failure)
    await expect(pending.commit(SMALL.sha256)).rejects.toMatchObject({ code: 'insufficient_storage' })
    expect(fresh.s3.requests.filter((name) => name === 'PutObject')).toHaveLength(1)
    await pending.abort()
  })

  test('error: 200 with an error inside is a failure of Complete, and is tried again', async () => {
    fresh.s3.faults.failNextWith200('CompleteMultipartUpload', 'InternalError', 2)
    await putBig(fresh.store, BIG.sha256)
    expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
    await remove(fresh.store, BIG.sha256)
    fresh.s3.faults.failNextWith200('CompleteMultipartUpload', 'InternalError', 5)
    await expectFailedCommit(BIG, BIG.sha256)
  })

  test.each(['CopyObject', 'UploadPartCopy'] as const)(
    'error: 200 with an error inside is a failure of %s',
    async (call) => {
      await fresh.reopen({ copyAtMostBytes: call === 'CopyObject' ? 1024 ** 3 : PART_BYTES })
      fresh.s3.faults.failNextWith200(call, 'InternalError', 2)
      await putBig(fresh.store, undefined)
      expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
      await remove(fresh.store, BIG.sha256)
      fresh.s3.faults.failNextWith200(call, 'InternalError', 1000)
      await expectFailedCommit(BIG)
    },
  )
})

describe('a store whose answers are lost', () => {
  test.each(['PutObject', 'CompleteMultipartUpload', 'CopyObject', 'UploadPart', 'DeleteObject'] as const)(
    'has done what was asked for, and %s succeeds',
    async (call) => {
      const blob = call === 'PutObject' ? SMALL : BIG
      fresh.s3.faults.dropNextAnswer(call)
      await put(fresh.store, blob)
      expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
      await remove(fresh.store, blob.sha256)
      expect(await fresh.store.sweepPending(HOLDER)).toBe(0)
      expect([fresh.s3.objects.size, fresh.s3.uploads.size]).toEqual([0, 0])
    },
  )

  test('has a blob whose completion never answered, though every try fails', async () => {
    await fresh.reopen({ retry: { tries: 1 } })
    fresh.s3.faults.dropNextAnswer('CompleteMultipartUpload')
    await putBig(fresh.store, BIG.sha256)
    expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
    expect(fresh.s3.uploads.size).toBe(0)
  })

  test.each(['PutObject', 'CompleteMultipartUpload'] as const)(
    'error: a store that answers %s and keeps nothing is found out',
    async (call) => {
      const [blob, expected] = call === 'PutObject' ? [SMALL, undefined] : [BIG, BIG.sha256]
      fresh.s3.faults.loseNext(call, 9)
      await expectFailedCommit(blob, expected)
    },
  )

  test('error: a copy that is answered and not made is found out', async () => {
    fresh.s3.faults.loseNext('CopyObject', 9)
    await expectFailedCommit(BIG)
  })
})

describe('a store that keeps other bytes than it was sent', () => {
  test('is sent them again, and its ETags are still believed', async () => {
    fresh.s3.faults.damageNext('PutObject', 2)
    await put(fresh.store, SMALL)
    fresh.s3.faults.damageNext('UploadPart', 2)
    await putBig(fresh.store, BIG.sha256)
    for (const blob of [SMALL, BIG]) expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
    expect(fresh.store.traits.md5Etags).toBe(true)
  })

  test('error: is found out when it goes on, and the bytes are not left under the digest', async () => {
    fresh.s3.faults.damageNext('PutObject', 1000)
    const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    await expectStorageFailed(pending.commit(SMALL.sha256))
    await pending.abort()
    expect(fresh.s3.objects.size).toBe(0)
    fresh.s3.faults.clear()
    fresh.s3.faults.damageNext('UploadPart', 1000)
    await expectFailedCommit(BIG, BIG.sha256)
  })
})

describe('close', () => {
  test('error: ends what is under way and leaves nothing running', async () => {
    await put(fresh.store, SMALL)
    const body = await opened(fresh.store, SMALL.sha256)
    fresh.s3.faults.outage = 'silent'
    const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    const failing = [
      pending.commit(SMALL.sha256),
      fresh.store.stat(SMALL.sha256),
      listed(fresh.store),
      get(fresh.store, SMALL.sha256),
    ]
    const outcomes = Promise.all(failing.map(expectStorageFailed))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const startedAt = performance.now()
    await fresh.store.close()
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    await outcomes
    expect([fresh.home.watched.openRequests(), fresh.home.watched.openBodies()]).toEqual([0, 0])
    await expectStorageFailed(fresh.store.stat(SMALL.sha256))
    await body.close()
  })
})

describe('many faults at once', () => {
  test('never make a false success, and leave nothing after a sweep', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = seededRandom(seed)
    await fresh.reopen({ retry: { tries: 2 } })
    const calls = ['PutObject', 'UploadPart', 'CompleteMultipartUpload', 'CopyObject', 'CreateMultipartUpload'] as const
    const kept = new Map<string, Uint8Array>()
    let failures = 0
    for (let round = 0; round < 60; round++) {
      const blob = blobOf(seededBytes(Math.floor(random() * 3 * PART_BYTES), seed + round))
      const call = calls[Math.floor(random() * calls.length)] ?? 'PutObject'
      const times = 1 + Math.floor(random() * 3)
      if (random() < 0.5) fresh.s3.faults.dropNextAnswer(call, times)
      else fresh.s3.faults.failNext(times, { ...INTERNAL, on: call })
      const expected = random() < 0.5 ? blob.sha256 : undefined
      try {
        const pending = await fresh.store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected })
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
      fresh.s3.faults.clear()
    }
    await fresh.store.sweepPending(HOLDER)
    for (const [sha256, bytes] of kept) expectBytes(await get(fresh.store, sha256), bytes)
    const left = [...fresh.s3.objects.keys()].filter((key) => !key.startsWith('lade/objects/'))
    expect(left, `seed ${seed}`).toEqual([])
    // Whatever is readable is whole, also what a failed commit has left.
    for (const sha256 of await listed(fresh.store)) expect(blobOf(await get(fresh.store, sha256)).sha256).toBe(sha256)
    // Uploads at the place of a blob whose beginning was not answered have no parts, and end by the bucket's rule.
    for (const upload of fresh.s3.uploads.values()) expect(upload.parts.size, `seed ${seed}`).toBe(0)
    expect(failures).toBeGreaterThan(0)
    expect(kept.size).toBeGreaterThan(10)
  })
})
