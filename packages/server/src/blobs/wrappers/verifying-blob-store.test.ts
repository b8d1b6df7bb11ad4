import { open, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sha256 } from '../../hashing/sha256.ts'
import type { BlobBody, BlobStore } from '../blob-store.ts'
import { blobOf, collect, expectBytes, get, HOLDER, opened, put, type SampleBlob } from '../conformance/case.ts'
import { seededBytes } from '../conformance/seeded-bytes.ts'
import { describeBlobStore } from '../conformance.ts'
import { openTempStore, type TempStore } from '../drivers/fs/temp-store.ts'
import { onTempDir } from '../drivers/fs/testing-subject.ts'
import { openMemoryBlobStore } from '../drivers/memory/memory-blob-store.ts'
import { type VerifyingBlobStore, verifyingBlobStore } from './verifying-blob-store.ts'

const wrap = (store: BlobStore) => verifyingBlobStore({ store, onDamage: () => {} })

describeBlobStore('verifying, around memory', {
  open: async () => wrap(openMemoryBlobStore()),
  discard: (store) => store.close(),
})
describeBlobStore('verifying, around fs', onTempDir({ wrap }))

/** Keeps wrong bytes under the digest of `blob`, as a medium would that changed them. */
async function putWrong(store: BlobStore, blob: SampleBlob, wrong: Uint8Array): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: wrong.length })
  if (wrong.length > 0) await pending.write(wrong)
  await pending.commit(blob.sha256)
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const other = Uint8Array.from(bytes)
  other[at] = (other[at] ?? 0) ^ 1
  return other
}

/** What a reader of the whole gets before it fails. */
async function readUntilFailure(body: BlobBody): Promise<{ readBytes: number; error: unknown }> {
  let readBytes = 0
  try {
    for await (const chunk of body.chunks()) readBytes += chunk.length
  } catch (error) {
    return { readBytes, error }
  }
  throw new Error('all of it was read')
}

const isStorageFailure = (error: unknown) => LadeError.has(error, 'storage_failed')

/** The same store, with bodies changed on their way. */
function changing(store: BlobStore, change: (body: BlobBody) => Partial<BlobBody>): BlobStore {
  return {
    ...store,
    async open(digest) {
      const body = await store.open(digest)
      return body && { ...body, ...change(body) }
    },
  }
}

describe('verifyingBlobStore', () => {
  const blob = blobOf(seededBytes(300_000, 1))
  let inner: BlobStore
  let damaged: string[]
  let store: VerifyingBlobStore
  /** How often a body was hashed. */
  let hashes: { readonly mock: { readonly calls: unknown[] } }

  beforeEach(() => {
    inner = openMemoryBlobStore()
    damaged = []
    store = verifyingBlobStore({ store: inner, onDamage: (digest) => damaged.push(digest) })
    hashes = vi.spyOn(sha256, 'create')
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('refuses the last chunk of wrong bytes, wherever they are wrong, and says so before its reader fails', async () => {
    for (const at of [0, 65_535, 65_536, 150_000, blob.bytes.length - 1]) {
      await putWrong(inner, blob, flipped(blob.bytes, at))
      damaged.length = 0
      const body = await opened(store, blob.sha256)
      const { readBytes, error } = await readUntilFailure(body)
      expect(isStorageFailure(error), `byte ${at}: ${error}`).toBe(true)
      expect(readBytes).toBeLessThan(blob.bytes.length)
      expect(damaged).toEqual([blob.sha256])
      await body.close()
    }
  })

  test('gives nothing at all of a blob of one chunk that is wrong', async () => {
    const small = blobOf('one chunk')
    await putWrong(inner, small, Buffer.from('ONE chunk'))
    const body = await opened(store, small.sha256)
    expect(await readUntilFailure(body)).toMatchObject({ readBytes: 0, error: { code: 'storage_failed' } })
    await body.close()
  })

  test('takes a blob that lost all of its bytes for damaged', async () => {
    await putWrong(inner, blob, new Uint8Array())
    await expect(get(store, blob.sha256)).rejects.toSatisfy(isStorageFailure)
    expect(damaged).toEqual([blob.sha256])
    await put(store, blobOf(''))
    expect(await get(store, blobOf('').sha256)).toHaveLength(0)
  })

  test('hashes a version once, however often and by how many names of the range it is read', async () => {
    await put(store, blob)
    for (const range of [undefined, { offset: 0, length: blob.bytes.length }, undefined]) {
      expectBytes(await get(store, blob.sha256, range), blob.bytes)
    }
    expect(hashes.mock.calls).toHaveLength(1)
  })

  test('hashes again what it was told to forget', async () => {
    await put(store, blob)
    await get(store, blob.sha256)
    store.forget(blob.sha256)
    await get(store, blob.sha256)
    expect(hashes.mock.calls).toHaveLength(2)
  })

  test('hashes again what was committed again', async () => {
    await put(store, blob)
    await get(store, blob.sha256)
    await putWrong(inner, blob, flipped(blob.bytes, 7))
    await expect(get(store, blob.sha256)).rejects.toSatisfy(isStorageFailure)
    expect(damaged).toEqual([blob.sha256])
  })

  test('hashes every read where the store names no version', async () => {
    store = verifyingBlobStore({ store: changing(inner, () => ({ version: undefined })), onDamage: () => {} })
    await put(store, blob)
    await get(store, blob.sha256)
    await get(store, blob.sha256)
    expect(hashes.mock.calls).toHaveLength(2)
  })

  test('hashes nothing of a window, and remembers nothing of a read that was left', async () => {
    await put(store, blob)
    for (const range of [
      { offset: 0, length: blob.bytes.length - 1 },
      { offset: 1, length: blob.bytes.length - 1 },
      { offset: 5, length: 10 },
    ]) {
      expectBytes(await get(store, blob.sha256, range), blob.bytes.subarray(range.offset, range.offset + range.length))
    }
    expect(hashes.mock.calls).toHaveLength(0)
    const body = await opened(store, blob.sha256)
    for await (const _ of body.chunks()) break
    await body.close()
    await get(store, blob.sha256)
    expect(hashes.mock.calls).toHaveLength(2)
  })

  test('remembers so many versions, those that were read last', async () => {
    store = verifyingBlobStore({ store: inner, onDamage: () => {}, rememberAtMost: 2 })
    const [one, two, three] = [blobOf('one'), blobOf('two'), blobOf('three')]
    for (const each of [one, two, three]) await put(store, each)
    for (const each of [one, two, one, three]) await get(store, each.sha256)
    expect(hashes.mock.calls).toHaveLength(3)
    await get(store, one.sha256)
    expect(hashes.mock.calls).toHaveLength(3)
    await get(store, two.sha256)
    expect(hashes.mock.calls).toHaveLength(4)
  })

  test('error: a store that gives fewer or more bytes than it said is storage_failed, without its last byte', async () => {
    await put(inner, blob)
    const short = changing(inner, (body) => ({ chunks: () => body.chunks({ offset: 0, length: 299_999 }) }))
    const body = await opened(wrap(short), blob.sha256)
    expect(await readUntilFailure(body)).toMatchObject({ readBytes: 299_999, error: { code: 'storage_failed' } })
    const long = changing(inner, (whole) => ({ sizeBytes: 299_999, chunks: () => whole.chunks() }))
    const other = await opened(wrap(long), blob.sha256)
    const { readBytes, error } = await readUntilFailure(other)
    expect(isStorageFailure(error)).toBe(true)
    expect(readBytes).toBeLessThan(299_999)
  })

  test('error: a medium that fails is passed on and is no damage', async () => {
    await put(inner, blob)
    const failure = new LadeError('storage_failed', { retryAfterSeconds: 1 })
    const failing = changing(inner, () => ({
      async *chunks() {
        yield Uint8Array.of(1)
        throw failure
      },
    }))
    store = verifyingBlobStore({ store: failing, onDamage: (digest) => damaged.push(digest) })
    const body = await opened(store, blob.sha256)
    expect(await readUntilFailure(body)).toEqual({ readBytes: 1, error: failure })
    expect(damaged).toEqual([])
  })

  test('locates blobs where its store does, and only there', async () => {
    expect(store.locate).toBeUndefined()
    const home = await openTempStore()
    const headers = { contentType: '', contentDisposition: '', cacheControl: '' }
    expect(await wrap(home.store).locate?.(blob.sha256, headers)).toEqual(
      await home.store.locate?.(blob.sha256, headers),
    )
    await home.remove()
  })
})

describe('verifyingBlobStore around fs', () => {
  const blob = blobOf(seededBytes(1_500_000, 2))
  let home: TempStore
  let store: BlobStore
  let damaged: string[]

  beforeEach(async () => {
    home = await openTempStore()
    damaged = []
    store = verifyingBlobStore({ store: home.store, onDamage: (digest) => damaged.push(digest) })
    await put(store, blob)
  })
  afterEach(() => home.remove())

  const pathOf = () => join(home.dir, blob.sha256.slice(0, 2), blob.sha256)

  test('finds one bit that changed on the disk after a reader had verified it', async () => {
    expectBytes(await get(store, blob.sha256), blob.bytes)
    // The clock of a file system goes by the ticks of the kernel.
    await new Promise((resolve) => setTimeout(resolve, 20))
    const file = await open(pathOf(), 'r+')
    await file.write(flipped(blob.bytes, 1_000_000).subarray(1_000_000, 1_000_001), 0, 1, 1_000_000)
    await file.close()
    await utimes(pathOf(), 0, 0)
    await expect(get(store, blob.sha256)).rejects.toSatisfy(isStorageFailure)
    expect(damaged).toEqual([blob.sha256])
  })

  test('finds a file that lost its end', async () => {
    await truncate(pathOf(), 1_000_000)
    await expect(get(store, blob.sha256)).rejects.toSatisfy(isStorageFailure)
    expect(damaged).toEqual([blob.sha256])
  })

  test('serves several whole readers of one open body, each verified', async () => {
    const body = await opened(store, blob.sha256)
    for (const bytes of await Promise.all([collect(body), collect(body), collect(body)])) {
      expectBytes(bytes, blob.bytes)
    }
    await body.close()
  })
})
