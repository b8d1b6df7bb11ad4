import { open, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { CHUNK_BYTES, ChunkHasher } from '@lade/node/hashing/chunk-digests'
import { sha256 } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BlobBody, BlobStore } from '../blob-store.ts'
import { blobOf, collect, expectBytes, get, HOLDER, opened, put, type SampleBlob } from '../conformance/case.ts'
import { seededBytes } from '../conformance/seeded-bytes.ts'
import { describeBlobStore } from '../conformance.ts'
import { onTempDir } from '../drivers/fs/testing-subject.ts'
import { openTempStore, type TempStore } from '../drivers/fs/testing-temp-store.ts'
import { openMemoryBlobStore } from '../drivers/memory/memory-blob-store.ts'
import {
  type ChunkRecords,
  type VerifyingBlobStore,
  type VerifyingBlobStoreOptions,
  verifyingBlobStore,
} from './verifying-blob-store.ts'

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

/** Digests of chunks in memory. */
interface MemoryChunks extends ChunkRecords {
  record(blob: SampleBlob): void
  set(sha256: string, digests: Uint8Array): void
}

function openMemoryChunks(): MemoryChunks {
  const known = new Map<string, Uint8Array>()
  return {
    chunkDigests: async ({ sha256, from, count }) => known.get(sha256)?.slice(from * 32, (from + count) * 32),
    async setChunkDigests({ sha256, digests }) {
      known.set(sha256, digests)
    },
    record: (blob) => void known.set(blob.sha256, digestsOf(blob.bytes)),
    set: (sha256, digests) => void known.set(sha256, digests),
  }
}

function digestsOf(bytes: Uint8Array): Uint8Array {
  const hasher = new ChunkHasher({ sizeBytes: bytes.length, sha256 })
  hasher.update(bytes)
  return hasher.finish()
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
  const big = blobOf(seededBytes(2 * CHUNK_BYTES + 300_000, 1))
  let inner: BlobStore
  let damaged: string[]
  let store: VerifyingBlobStore
  let unverified: string[]
  let chunks: MemoryChunks
  let clock: number
  /** How often a chunk was hashed. */
  let hashes: { readonly mock: { readonly calls: unknown[] } }

  const storeWith = (options: Partial<VerifyingBlobStoreOptions> = {}) =>
    verifyingBlobStore({
      store: inner,
      chunks,
      onDamage: (digest) => damaged.push(digest),
      onUnverified: (digest) => unverified.push(digest),
      now: () => clock,
      ...options,
    })

  beforeEach(() => {
    inner = openMemoryBlobStore()
    damaged = []
    unverified = []
    chunks = openMemoryChunks()
    clock = 0
    store = storeWith()
    hashes = vi.spyOn(sha256, 'of')
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('gives no wrong byte, nor any behind it, wherever a blob is wrong, and says so before its reader fails', async () => {
    for (const bytes of [blob.bytes, big.bytes]) {
      const one = blobOf(bytes)
      chunks.record(one)
      for (const at of [0, 65_536, 150_000, bytes.length >> 1, bytes.length - 1]) {
        await putWrong(inner, one, flipped(one.bytes, at))
        damaged.length = 0
        const body = await opened(store, one.sha256)
        const { readBytes, error } = await readUntilFailure(body)
        expect(isStorageFailure(error), `byte ${at}: ${error}`).toBe(true)
        expect(readBytes).toBe(at - (at % CHUNK_BYTES))
        expect(damaged).toEqual([one.sha256])
        await body.close()
      }
    }
  })

  test('gives ranges of right chunks only, whatever else of the blob is wrong', async () => {
    chunks.record(big)
    await putWrong(inner, big, flipped(big.bytes, CHUNK_BYTES + 7))
    for (const range of [
      { offset: 0, length: CHUNK_BYTES },
      { offset: 17, length: 100 },
      { offset: 2 * CHUNK_BYTES, length: big.bytes.length - 2 * CHUNK_BYTES },
      { offset: 2 * CHUNK_BYTES + 5, length: 1 },
    ]) {
      expectBytes(await get(store, big.sha256, range), big.bytes.subarray(range.offset, range.offset + range.length))
    }
    expect(damaged).toEqual([])
    for (const range of [
      { offset: CHUNK_BYTES + 7, length: 1 },
      { offset: 2 * CHUNK_BYTES - 1, length: 1 },
      { offset: CHUNK_BYTES - 1, length: 2 },
    ]) {
      damaged.length = 0
      await expect(get(store, big.sha256, range), JSON.stringify(range)).rejects.toSatisfy(isStorageFailure)
      expect(damaged).toEqual([big.sha256])
    }
    expectBytes(await get(store, big.sha256, { offset: 5, length: 0 }), new Uint8Array())
  })

  test('trusts each chunk for the interval, in its version, and reads it again after that', async () => {
    chunks.record(big)
    await put(store, big)
    const part = { offset: CHUNK_BYTES + 7, length: 9 }
    const checks = vi.spyOn(sha256, 'of').mockClear()
    await get(store, big.sha256, part)
    await get(store, big.sha256, part)
    expect(checks).toHaveBeenCalledTimes(1)
    await get(store, big.sha256, { offset: CHUNK_BYTES - 1, length: 9 })
    expect(checks).toHaveBeenCalledTimes(3)
    await get(store, big.sha256)
    expect(checks).toHaveBeenCalledTimes(6)
    clock += 3_599_999
    await get(store, big.sha256)
    expect(checks).toHaveBeenCalledTimes(6)
    clock += 1
    await get(store, big.sha256, part)
    expect(checks).toHaveBeenCalledTimes(7)
  })

  test('with an interval of 0 verifies every read', async () => {
    const always = storeWith({ trustMs: 0 })
    await put(always, blob)
    const checks = vi.spyOn(sha256, 'of')
    await get(always, blob.sha256)
    await get(always, blob.sha256, { offset: 5, length: 10 })
    expect(checks).toHaveBeenCalledTimes(2)
  })

  test('hands on ranges of a blob without digests, and tells of it, until a whole reader has them recorded', async () => {
    await put(store, big)
    expectBytes(await get(store, big.sha256, { offset: 5, length: 10 }), big.bytes.subarray(5, 15))
    expect(unverified).toEqual([big.sha256])
    expectBytes(await get(store, big.sha256), big.bytes)
    expect(await chunks.chunkDigests({ sha256: big.sha256, from: 0, count: 9 })).toEqual(digestsOf(big.bytes))
    store.forget(big.sha256)
    await get(store, big.sha256, { offset: 5, length: 10 })
    expect(unverified).toEqual([big.sha256])
  })

  test('keeps the last piece of a blob without digests when it is wrong, and records nothing', async () => {
    await putWrong(inner, big, flipped(big.bytes, 3))
    const body = await opened(store, big.sha256)
    const { readBytes, error } = await readUntilFailure(body)
    expect(isStorageFailure(error)).toBe(true)
    expect(readBytes).toBeLessThan(big.bytes.length)
    expect(damaged).toEqual([big.sha256])
    expect(await chunks.chunkDigests({ sha256: big.sha256, from: 0, count: 9 })).toBeUndefined()
  })

  test('takes digests that are too few or wrong for damage, and gives nothing', async () => {
    await put(store, big)
    chunks.set(big.sha256, digestsOf(big.bytes).subarray(0, 70))
    await expect(get(store, big.sha256)).rejects.toSatisfy(isStorageFailure)
    chunks.set(big.sha256, flipped(digestsOf(big.bytes), 40))
    await expect(get(store, big.sha256, { offset: CHUNK_BYTES, length: 1 })).rejects.toSatisfy(isStorageFailure)
    expect(damaged).toEqual([big.sha256, big.sha256])
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
    store = storeWith({ store: changing(inner, () => ({ version: undefined })) })
    await put(store, blob)
    await get(store, blob.sha256)
    await get(store, blob.sha256)
    expect(hashes.mock.calls).toHaveLength(2)
  })

  test('verifies a blob of one chunk as a whole for any range of it, and remembers it', async () => {
    await put(store, blob)
    const checks = vi.spyOn(sha256, 'of')
    for (const range of [{ offset: 5, length: 10 }, { offset: 1, length: blob.bytes.length - 1 }, undefined]) {
      const { offset, length } = range ?? { offset: 0, length: blob.bytes.length }
      expectBytes(await get(store, blob.sha256, range), blob.bytes.subarray(offset, offset + length))
    }
    expect(checks).toHaveBeenCalledTimes(1)
    await putWrong(inner, blob, flipped(blob.bytes, 9))
    await expect(get(store, blob.sha256, { offset: 200_000, length: 1 })).rejects.toSatisfy(isStorageFailure)
  })

  test('remembers so many versions, those that were read last', async () => {
    store = storeWith({ rememberAtMost: 2 })
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
    expect(await readUntilFailure(body)).toMatchObject({ readBytes: 0, error: { code: 'storage_failed' } })
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
    expect(await readUntilFailure(body)).toEqual({ readBytes: 0, error: failure })
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
