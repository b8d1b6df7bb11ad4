import { expect, test } from 'vitest'
import { until } from '../../../../../../services/until.ts'
import { blobOf, expectBytes, get, opened, put } from '../../conformance/case.ts'
import { BIG, SMALL, useFreshStore } from './testing-fresh-store.ts'

const fresh = useFreshStore()

/** Changes the bytes of a blob in the store, which says the same of it as before. */
function rot(sha256: string): void {
  const [, object] = [...fresh.s3.objects].find(([key]) => key.includes(`/${sha256}/`)) ?? expect.fail('it is there')
  object.bytes[0] = (object.bytes[0] ?? 0) ^ 1
}

test('leaves what was committed while wrong bytes were copied for the operator', async () => {
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
  expect(await taken).toBe(true)
  await wrong.close()
  expectBytes(await get(fresh.store, SMALL.sha256), SMALL.bytes)
})

test('leaves wrong bytes where they are once the records have another put in their place', async () => {
  await put(fresh.store, SMALL)
  const names = await namesIn()
  rot(SMALL.sha256)
  let recorded = names
  await fresh.reopen({ putsOf: async () => recorded })
  const wrong = await opened(fresh.store, SMALL.sha256)
  await put(fresh.store, SMALL)
  recorded = (await namesIn()).filter((put) => !names.includes(put))
  expect(await wrong.quarantine()).toBe(false)
  await wrong.close()
  expect(await namesIn()).toHaveLength(2)
  expectBytes(await get(fresh.store, SMALL.sha256), SMALL.bytes)
})

async function namesIn(): Promise<string[]> {
  const names: string[] = []
  for await (const { put } of fresh.store.list()) names.push(put)
  return names
}

test('replaces bytes that have changed in the store by those that are committed', async () => {
  for (const blob of [SMALL, BIG]) {
    await put(fresh.store, blob)
    rot(blob.sha256)
    expect(blobOf(await get(fresh.store, blob.sha256)).sha256).not.toBe(blob.sha256)
    await put(fresh.store, blob)
    expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
  }
})

test('looks at no other put of a digest while it takes one', async () => {
  await put(fresh.store, SMALL)
  fresh.s3.requests.length = 0
  await put(fresh.store, SMALL)
  expect(fresh.s3.requests).toEqual(['PutObject', 'HeadObject'])
  expect(fresh.s3.objects.size).toBe(2)
})
