import { describe, expect, test } from 'vitest'
import type { Corruption } from '../../../testing/doubles/fake-s3/fake-faults.ts'
import { ABSENT, blobOf, expectBytes, get, opened, put, remove } from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { BIG, expectStorageFailed, putBig, SMALL, useFreshStore } from './testing-fresh-store.ts'
import { PART_BYTES } from './testing-subject.ts'

const fresh = useFreshStore()

describe('reads of a store that misbehaves', () => {
  test.each([0, 1, 100_000, PART_BYTES])('go on where the connection was cut after %i bytes', async (afterBytes) => {
    await putBig(fresh.store, BIG.sha256)
    fresh.s3.faults.cutNextGet(afterBytes, 3)
    expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
    fresh.s3.faults.cutNextGet(afterBytes, 3)
    const range = { offset: 1000, length: PART_BYTES * 2 }
    expectBytes(await get(fresh.store, BIG.sha256, range), BIG.bytes.subarray(1000, 1000 + PART_BYTES * 2))
  })

  test('error: are given up when they are cut again and again', async () => {
    await putBig(fresh.store, BIG.sha256)
    fresh.s3.requests.length = 0
    fresh.s3.faults.cutNextGet(10, 1000)
    await expectStorageFailed(get(fresh.store, BIG.sha256))
    expect(fresh.s3.requests.filter((name) => name === 'GetObject')).toHaveLength(5)
    fresh.s3.faults.clear()
    expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
  })

  test.each<Corruption>(['truncate', 'long', 'ignore-range'])(
    'error: end when the answer is not of the length asked for (%s)',
    async (corruption) => {
      await putBig(fresh.store, BIG.sha256)
      fresh.s3.faults.corruptNextGet(corruption)
      await expectStorageFailed(get(fresh.store, BIG.sha256, { offset: 7, length: 1000 }))
      expectBytes(await get(fresh.store, BIG.sha256), BIG.bytes)
    },
  )

  test.each<Corruption>(['flip', 'swap'])(
    'give wrong bytes of the right length on without a version, so that they are checked (%s)',
    async (corruption) => {
      await put(fresh.store, SMALL)
      fresh.s3.faults.corruptNextGet(corruption)
      const body = await opened(fresh.store, SMALL.sha256)
      expect(body.version).toBeUndefined()
      await body.close()
      expect(blobOf(await get(fresh.store, SMALL.sha256)).sha256).not.toBe(SMALL.sha256)
    },
  )

  test('error: end when the blob goes away and the connection is cut', async () => {
    await putBig(fresh.store, BIG.sha256)
    const body = await opened(fresh.store, BIG.sha256)
    fresh.s3.faults.cutNextGet(100_000)
    await expectStorageFailed(
      (async () => {
        for await (const chunk of body.chunks()) {
          expect(chunk.length).toBeGreaterThan(0)
          await remove(fresh.store, BIG.sha256)
        }
      })(),
    )
    await body.close()
  })

  test('go on when the blob was replaced by the same bytes in other parts', async () => {
    await putBig(fresh.store, BIG.sha256)
    const body = await opened(fresh.store, BIG.sha256)
    const other = await fresh.home.open({ partBytes: PART_BYTES * 4 })
    await remove(other, BIG.sha256)
    await put(other, BIG)
    await other.close()
    const chunks: Uint8Array[] = []
    for await (const chunk of body.chunks()) chunks.push(Uint8Array.from(chunk))
    await body.close()
    expectBytes(Buffer.concat(chunks), BIG.bytes)
  })

  test('survive a reader that is slower than the timeout of the store', async () => {
    const blob = blobOf(seededBytes(8_000_000, 4))
    await put(fresh.store, blob)
    const body = await opened(fresh.store, blob.sha256)
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
    await put(fresh.store, blob)
    await fresh.reopen({
      requestHandler: { httpAgent: { maxSockets: 2 }, connectionTimeout: 2_000 },
      retry: { tries: 1 },
    })
    const readers = []
    for (let count = 0; count < 2; count++) {
      const body = await opened(fresh.store, blob.sha256)
      const chunks = body.chunks()[Symbol.asyncIterator]()
      await chunks.next()
      readers.push({ body, chunks })
    }
    await put(fresh.store, SMALL)
    await put(fresh.store, BIG)
    expect(await fresh.store.stat(ABSENT)).toBeUndefined()
    await fresh.store.check()
    for (const { body } of readers) await body.close()
  })
})
