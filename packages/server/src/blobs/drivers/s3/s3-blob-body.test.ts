import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Corruption } from '../../../testing/fake-s3/fake-faults.ts'
import type { FakeS3 } from '../../../testing/fake-s3/fake-s3.ts'
import { ABSENT, blobOf, expectBytes, get, HOLDER, opened, put } from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import type { S3BlobStore, S3BlobStoreOptions } from './s3-blob-store.ts'
import { type FakeHome, PART_BYTES, startFakeHome } from './testing-subject.ts'

const SMALL = blobOf(seededBytes(1000, 1))
const BIG = blobOf(seededBytes(PART_BYTES * 3 + 5, 2))

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

async function putBig(expected: string | undefined): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
  await pending.write(BIG.bytes)
  await pending.commit(BIG.sha256)
}

describe('reads of a store that misbehaves', () => {
  test.each([0, 1, 100_000, PART_BYTES])('go on where the connection was cut after %i bytes', async (afterBytes) => {
    await putBig(BIG.sha256)
    s3.faults.cutNextGet(afterBytes, 3)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
    s3.faults.cutNextGet(afterBytes, 3)
    const range = { offset: 1000, length: PART_BYTES * 2 }
    expectBytes(await get(store, BIG.sha256, range), BIG.bytes.subarray(1000, 1000 + PART_BYTES * 2))
  })

  test('error: are given up when they are cut again and again', async () => {
    await putBig(BIG.sha256)
    s3.requests.length = 0
    s3.faults.cutNextGet(10, 1000)
    await expectStorageFailed(get(store, BIG.sha256))
    expect(s3.requests.filter((name) => name === 'GetObject')).toHaveLength(5)
    s3.faults.clear()
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
  })

  test.each<Corruption>(['truncate', 'long', 'ignore-range'])(
    'error: end when the answer is not of the length asked for (%s)',
    async (corruption) => {
      await putBig(BIG.sha256)
      s3.faults.corruptNextGet(corruption)
      await expectStorageFailed(get(store, BIG.sha256, { offset: 7, length: 1000 }))
      expectBytes(await get(store, BIG.sha256), BIG.bytes)
    },
  )

  test.each<Corruption>(['flip', 'swap'])(
    'give wrong bytes of the right length on without a version, so that they are checked (%s)',
    async (corruption) => {
      await put(store, SMALL)
      s3.faults.corruptNextGet(corruption)
      const body = await opened(store, SMALL.sha256)
      expect(body.version).toBeUndefined()
      await body.close()
      expect(blobOf(await get(store, SMALL.sha256)).sha256).not.toBe(SMALL.sha256)
    },
  )

  test('error: end when the blob goes away and the connection is cut', async () => {
    await putBig(BIG.sha256)
    const body = await opened(store, BIG.sha256)
    s3.faults.cutNextGet(100_000)
    await expectStorageFailed(
      (async () => {
        for await (const chunk of body.chunks()) {
          expect(chunk.length).toBeGreaterThan(0)
          await store.delete(BIG.sha256)
        }
      })(),
    )
    await body.close()
  })

  test('go on when the blob was replaced by the same bytes in other parts', async () => {
    await putBig(BIG.sha256)
    const body = await opened(store, BIG.sha256)
    const other = await home.open({ partBytes: PART_BYTES * 4 })
    await other.delete(BIG.sha256)
    await put(other, BIG)
    await other.close()
    const chunks: Uint8Array[] = []
    for await (const chunk of body.chunks()) chunks.push(Uint8Array.from(chunk))
    await body.close()
    expectBytes(Buffer.concat(chunks), BIG.bytes)
  })

  test('survive a reader that is slower than the store is patient', async () => {
    const blob = blobOf(seededBytes(8_000_000, 4))
    await put(store, blob)
    const body = await opened(store, blob.sha256)
    const chunks: Uint8Array[] = []
    for await (const chunk of body.chunks()) {
      if (chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, 2_600))
      chunks.push(Uint8Array.from(chunk))
    }
    await body.close()
    expectBytes(Buffer.concat(chunks), blob.bytes)
  })
})

describe('readers that stand still', () => {
  test('keep nobody from writing and asking, though they hold every connection for reading', async () => {
    const blob = blobOf(seededBytes(8_000_000, 6))
    await put(store, blob)
    await reopen({ requestHandler: { httpAgent: { maxSockets: 2 }, connectionTimeout: 2_000 }, retry: { tries: 1 } })
    const readers = []
    for (let count = 0; count < 2; count++) {
      const body = await opened(store, blob.sha256)
      const chunks = body.chunks()[Symbol.asyncIterator]()
      await chunks.next()
      readers.push({ body, chunks })
    }
    await put(store, SMALL)
    await put(store, BIG)
    expect(await store.stat(ABSENT)).toBeUndefined()
    await store.check()
    for (const { body } of readers) await body.close()
  })
})
