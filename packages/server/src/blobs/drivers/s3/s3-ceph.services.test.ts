import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BlobStore } from '../../blob-store.ts'
import { blobOf, expectBytes, get, HOLDER, put } from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { type BlobStoreSubject, describeBlobStore } from '../../conformance.ts'
import { openS3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts'
import { type Ceph, startCeph } from './testing-ceph.ts'
import { watchedHandler } from './testing-handler.ts'

/** Ceph, as S3, takes no smaller part. */
const PART_BYTES = 5 * 1024 * 1024

let ceph: Ceph
let prefixes = 0
/** As long as the service waits. */
const watched = watchedHandler({ silenceMs: 10_000 })

beforeAll(async () => {
  ceph = await startCeph()
}, 180_000)

afterAll(() => ceph?.stop(), 60_000)

function openStore(prefix: string, more: Partial<S3BlobStoreOptions> = {}) {
  return openS3BlobStore({ ...ceph.options, prefix, partBytes: PART_BYTES, requestHandler: watched.handler(), ...more })
}

function newPrefix(): string {
  prefixes += 1
  return `test-${prefixes}/`
}

/** The bucket as a subject of the suite, a prefix for each store. A call is tried once, so that one cut is one failure. */
function onCeph(): BlobStoreSubject {
  const prefixOf = new Map<BlobStore, string>()
  const open = async (prefix: string) => {
    const store = await openStore(prefix, { retry: { tries: 1 } })
    prefixOf.set(store, prefix)
    return store
  }
  return {
    boundaryBytes: PART_BYTES,
    heldBackBytes: PART_BYTES,
    open: () => open(newPrefix()),
    discard: (store) => store.close(),
    reopen: (store) => open(prefixOf.get(store) ?? ''),
    breakNext: () => watched.cutNext(),
    openHandles: () => watched.openBodies(),
  }
}

describeBlobStore('s3, on Ceph', onCeph())

describe('openS3BlobStore on Ceph', () => {
  test('puts a blob of parts where it is expected, and one that is not expected by a copy, also in pieces', async () => {
    for (const copyAtMostBytes of [1024 ** 3, PART_BYTES]) {
      const store = await openStore(newPrefix(), { copyAtMostBytes })
      const [known, unknown] = [blobOf(seededBytes(12_000_000, 1)), blobOf(seededBytes(12_000_001, 2))]
      const pending = await store.begin({ holder: HOLDER, sizeBytes: known.bytes.length, expected: known.sha256 })
      await pending.write(known.bytes)
      await pending.commit(known.sha256)
      await put(store, unknown, 1_000_000)
      for (const blob of [known, unknown]) expectBytes(await get(store, blob.sha256), blob.bytes)
      expect(await store.sweepPending(HOLDER)).toBe(0)
      await store.close()
    }
  })

  test('refuses bytes that do not have the digest that they are committed under', async () => {
    const store = await openStore(newPrefix())
    const pending = await store.begin({ holder: HOLDER, sizeBytes: 3 })
    await pending.write(Buffer.from('abc'))
    const other = blobOf('abd')
    await expect(pending.commit(other.sha256)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await store.stat(other.sha256)).toBeUndefined()
    await store.close()
  })

  test('gives a URL by which anyone reads ranges of the blob under the headers that were asked for', async () => {
    const store = await openStore(newPrefix())
    const blob = blobOf(seededBytes(1_000_000, 3))
    await put(store, blob)
    const location = await store.locate(blob.sha256, {
      contentType: 'text/plain; charset=utf-8',
      contentDisposition: `attachment; filename="a b+c'.txt"; filename*=UTF-8''a%20b%2Bc.txt`,
      cacheControl: 'private, max-age=60',
    })
    if (location.kind !== 'url') throw new TypeError('A URL was expected.')
    const answer = await fetch(location.url, { headers: { range: 'bytes=10-19' } })
    expect(answer.status).toBe(206)
    expect(Buffer.from(await answer.arrayBuffer()).equals(blob.bytes.subarray(10, 20))).toBe(true)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toContain(`filename="a b+c'.txt"`)
    expect(answer.headers.get('cache-control')).toBe('private, max-age=60')
    expect((await fetch(`${location.url}0`)).status).toBe(403)
    await store.close()
  })

  test('error: a bucket that is not there, and keys that are wrong', async () => {
    const wrong = [{ bucket: 'no-such-bucket' }, { credentials: { accessKeyId: 'test', secretAccessKey: 'wrong' } }]
    for (const options of wrong) {
      await expect(openStore('', options)).rejects.toMatchObject({ code: 'storage_failed' })
    }
  })
})
