import { expect, test } from 'vitest'
import { until } from '../../../../../../services/until.ts'
import { blobOf, expectBytes, get, opened, put } from '../../conformance/case.ts'
import { BIG, SMALL, useFreshStore } from './testing-fresh-store.ts'

const fresh = useFreshStore()

/** Changes the bytes of a blob in the store, which says the same of it as before. */
function rot(sha256: string): void {
  const [, object] = [...fresh.s3.objects].find(([key]) => key.endsWith(sha256)) ?? expect.fail('it is there')
  object.bytes[0] = (object.bytes[0] ?? 0) ^ 1
}

test('leaves what was committed while wrong bytes were copied for the operator, and keeps no copy', async () => {
  await put(fresh.store, SMALL)
  rot(SMALL.sha256)
  const wrong = await opened(fresh.store, SMALL.sha256)
  fresh.s3.requests.length = 0
  const { promise: isReplaced, resolve: goOn } = Promise.withResolvers<void>()
  fresh.s3.faults.holdNext('CopyObject', isReplaced)
  const taken = wrong.quarantine()
  await until('the copy is asked for', 5000, () => fresh.s3.requests.includes('CopyObject'))
  await put(fresh.store, SMALL)
  goOn()
  expect(await taken).toBe(false)
  await wrong.close()
  expect([...fresh.s3.objects.keys()]).toEqual([expect.stringContaining(`/objects/${SMALL.sha256.slice(0, 2)}/`)])
  expectBytes(await get(fresh.store, SMALL.sha256), SMALL.bytes)
})

test('replaces bytes that have changed in the store by those that are committed', async () => {
  for (const blob of [SMALL, BIG]) {
    await put(fresh.store, blob)
    rot(blob.sha256)
    expect(blobOf(await get(fresh.store, blob.sha256)).sha256).not.toBe(blob.sha256)
    await put(fresh.store, blob)
    expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
  }
})

test('leaves an object as it is that is read back as what is committed', async () => {
  await put(fresh.store, SMALL)
  const [before] = fresh.s3.objects.values()
  fresh.s3.requests.length = 0
  await put(fresh.store, SMALL)
  expect(fresh.s3.requests).toEqual(['PutObject', 'HeadObject', 'GetObject'])
  const [after] = fresh.s3.objects.values()
  expect(after).toBe(before)
})
