import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ABSENT,
  blobOf,
  expectBytes,
  get,
  HOLDER,
  listed,
  put,
  type SampleBlob,
  write,
} from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { SharedBlocks } from '../../shared-blocks.ts'
import { openFsBlobStore } from './fs-blob-store.ts'
import { openTempStore, type TempStore } from './testing-temp-store.ts'

const BLOB = blobOf('hello')
const SHARD = BLOB.sha256.slice(0, 2)

let home: TempStore

beforeEach(async () => {
  home = await openTempStore()
  home.watched.forget()
})

afterEach(() => home.remove())

function isCode(...codes: readonly string[]) {
  return (error: unknown) => LadeError.is(error) && codes.includes(error.code)
}

/** The same bytes in memory that direct writes take. */
function inSectors(bytes: Uint8Array): Uint8Array {
  const blockBytes = Math.ceil(bytes.length / 65_536) * 65_536
  const block = new SharedBlocks(blockBytes).take()
  block.set(bytes)
  return block.subarray(0, bytes.length)
}

/** One upload as a use case does it: whatever fails, the pending blob is aborted. */
async function upload({ store }: TempStore, blob: SampleBlob): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length })
  try {
    await pending.write(blob.bytes)
    await pending.flush()
    await pending.commit(blob.sha256)
  } catch (error) {
    await pending.abort()
    throw error
  }
}

describe('early flushing', () => {
  const MIB = 1024 * 1024

  /** Memory that no direct write takes, so that the page cache has to. */
  function offSector(sizeBytes: number): Uint8Array {
    return new Uint8Array(sizeBytes + 1).subarray(1)
  }

  /** Replaces the background flush by one that only the test ends. */
  function heldFlushes() {
    const held: { resolve: () => void; reject: (error: Error) => void }[] = []
    home.watched.files.fdatasync = () =>
      new Promise<void>((resolve, reject) => {
        held.push({ resolve, reject })
      })
    return held
  }

  test('starts every 8 MiB, one at a time, and no write waits for it', async () => {
    const held = heldFlushes()
    const pending = await home.store.begin({ holder: HOLDER, sizeBytes: 40 * MIB })
    const chunk = offSector(MIB)
    for (let written = 0; written < 7; written++) await pending.write(chunk)
    expect(held).toHaveLength(0)
    for (let written = 7; written < 20; written++) await pending.write(chunk)
    expect(held).toHaveLength(1)
    held[0]?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    await pending.write(chunk)
    expect(held).toHaveLength(2)
    held[1]?.resolve()
    await pending.flush()
    await pending.abort()
    expect(home.watched.openPaths.size).toBe(0)
  })

  test('error: one that failed kills the blob, and its file is never synced again', async () => {
    const held = heldFlushes()
    const pending = await home.store.begin({ holder: HOLDER, sizeBytes: 40 * MIB })
    await pending.write(offSector(8 * MIB))
    const flushing = pending.flush()
    held[0]?.reject(Object.assign(new Error('EIO: injected'), { code: 'EIO' }))
    await expect(flushing).rejects.toSatisfy(isCode('storage_failed'))
    await expect(pending.write(new Uint8Array(1))).rejects.toSatisfy(isCode('storage_failed'))
    await expect(pending.commit(ABSENT)).rejects.toSatisfy(isCode('storage_failed'))
    expect(home.watched.calls('fsync')).toEqual([])
    await expect(home.store.check()).rejects.toSatisfy(isCode('storage_failed'))
    await pending.abort()
    expect(await home.store.sweepPending(HOLDER)).toBe(0)
  })

  test('an abort waits for one under way before it closes the file', async () => {
    const held = heldFlushes()
    const pending = await home.store.begin({ holder: HOLDER, sizeBytes: 8 * MIB })
    await pending.write(offSector(8 * MIB))
    const aborting = pending.abort()
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(home.watched.openPaths.size).toBe(1)
    held[0]?.resolve()
    await aborting
    expect(home.watched.openPaths.size).toBe(0)
  })
})

describe('failures', () => {
  test('error: an fsync that failed is not tried again on that file', async () => {
    const pending = await write(home.store, BLOB)
    home.watched.failNext('fsync')
    await expect(pending.flush()).rejects.toSatisfy(isCode('storage_failed'))
    await expect(pending.flush()).rejects.toSatisfy(isCode('storage_failed'))
    await expect(pending.commit(BLOB.sha256)).rejects.toSatisfy(isCode('storage_failed'))
    await pending.abort()
    expect(home.watched.calls('fsync')).toHaveLength(1)
  })

  test('error: a failed fsync shows in check until a later flush succeeds', async () => {
    const pending = await write(home.store, BLOB)
    home.watched.failNext('fsync')
    await expect(pending.flush()).rejects.toThrow()
    await pending.abort()
    await expect(home.store.check()).rejects.toSatisfy(isCode('storage_failed'))
    await expect(home.store.check()).rejects.toSatisfy(isCode('storage_failed'))
    await put(home.store, BLOB)
    await expect(home.store.check()).resolves.toBeUndefined()
  })

  test.each(['ENOSPC', 'EDQUOT'])(
    'error: %s anywhere on the way in is insufficient_storage and no bad medium',
    async (errno) => {
      for (const call of ['open', 'write', 'fsync', 'mkdir', 'rename'] as const) {
        home.watched.failNext(call, errno)
        const failure = await put(home.store, BLOB).catch((error: unknown) => error)
        expect(LadeError.has(failure, 'insufficient_storage') && failure.evidence, call).toEqual({
          retryAfterSeconds: 60,
        })
        await home.store.check()
        await home.store.sweepPending(HOLDER)
        home.watched.forget()
      }
    },
  )

  test('error: other failures carry their cause and no path in their evidence', async () => {
    home.watched.failNext('write', 'EIO')
    const failure = await put(home.store, BLOB).catch((error: unknown) => error)
    expect(LadeError.has(failure, 'storage_failed') && failure.evidence).toEqual({ retryAfterSeconds: 10 })
    expect(failure).toHaveProperty('cause.code', 'EIO')
  })

  test('error: check says that the file system takes no writes, until it does', async () => {
    home.watched.failNext('open', 'EROFS')
    await expect(put(home.store, BLOB)).rejects.toSatisfy(isCode('read_only'))
    home.watched.failNext('open', 'EROFS', 1)
    await expect(home.store.check()).rejects.toSatisfy(isCode('read_only'))
    await home.store.check()
    await put(home.store, BLOB)
    expect(await listed(home.store)).toEqual([BLOB.sha256])
  })

  test('error: check says that the store cannot be read', async () => {
    home.watched.failNext('readdir', 'EIO')
    await expect(home.store.check()).rejects.toSatisfy(isCode('storage_failed'))
    await home.store.check()
  })

  test.each(['open', 'write', 'fsync', 'rename'] as const)(
    'error: an upload to a file system that takes no writes is read_only (%s)',
    async (call) => {
      await put(home.store, BLOB)
      home.watched.failNext(call, 'EROFS')
      await expect(put(home.store, blobOf('other'))).rejects.toSatisfy(isCode('read_only'))
      expect(await home.store.stat(BLOB.sha256)).toBeDefined()
    },
  )

  test.each([
    // The first body is long enough for a flush in the background.
    { errno: 'EIO', sizeBytes: 9 * 1024 * 1024 },
    // This one goes past the page cache, but for its last bytes.
    { errno: 'EIO', sizeBytes: 16 * 1024 * 1024 + 5 },
    { errno: 'ENOSPC', sizeBytes: 1_000 },
    { errno: 'EROFS', sizeBytes: 1_000 },
    { errno: 'EMFILE', sizeBytes: 1_000 },
    { errno: 'EACCES', sizeBytes: 1_000 },
  ])(
    'error: $errno at each system call of an upload of $sizeBytes bytes leaves all of it or nothing, and no descriptor',
    async ({ errno, sizeBytes }) => {
      const blob = blobOf(inSectors(seededBytes(sizeBytes, 1)))
      let callCount = 0
      for (let isDone = false; !isDone; callCount++) {
        const fresh = await openTempStore()
        fresh.watched.forget()
        fresh.watched.failNext('any', errno, callCount)
        isDone = await upload(fresh, blob).then(
          () => true,
          (error: unknown) => {
            expect(error).toSatisfy(isCode('storage_failed', 'insufficient_storage', 'read_only'))
            return false
          },
        )
        fresh.watched.forget()
        expect(fresh.watched.openPaths.size, `call ${callCount}`).toBe(0)
        expect(await fresh.store.sweepPending(HOLDER), `call ${callCount}`).toBe(0)
        const left = await listed(fresh.store)
        if (left.length > 0 || isDone) expectBytes(await get(fresh.store, blob.sha256), blob.bytes)
        await put(fresh.store, BLOB)
        await fresh.remove()
      }
      expect(callCount).toBeGreaterThan(15)
    },
  )

  test('error: a shard directory removed by hand fails one commit and is made again for the next', async () => {
    await put(home.store, BLOB)
    await rm(join(home.dir, SHARD), { recursive: true })
    await expect(put(home.store, BLOB)).rejects.toSatisfy(isCode('storage_failed'))
    home.watched.forget()
    await put(home.store, BLOB)
    expect(
      home.watched
        .calls('fsync')
        .slice(1)
        .map((call) => call.split('/').at(-1)),
    ).toEqual([SHARD, 'objects'])
  })

  test('error: a write that moves no byte is a failure, not a wait', async () => {
    home.watched.files.write = async () => 0
    await expect(put(home.store, BLOB)).rejects.toSatisfy(isCode('storage_failed'))
  })

  test('an abort waits for the call under way before it closes the file', async () => {
    const { write: realWrite } = home.watched.files
    let letWrite = () => {}
    const held = new Promise<void>((resolve) => {
      letWrite = resolve
    })
    home.watched.files.write = async (...args) => {
      await held
      return realWrite(...args)
    }
    const pending = await home.store.begin({ holder: HOLDER, sizeBytes: BLOB.bytes.length })
    const writing = pending.write(BLOB.bytes)
    const aborting = pending.abort()
    await expect(pending.write(BLOB.bytes)).rejects.toThrow(TypeError)
    expect(home.watched.openPaths.size).toBe(1)
    letWrite()
    await Promise.all([writing, aborting])
    expect(home.watched.openPaths.size).toBe(0)
    expect(await home.store.sweepPending(HOLDER)).toBe(0)
  })

  test('error: an abort that cannot remove its file says so, and succeeds when it can', async () => {
    const pending = await write(home.store, BLOB)
    home.watched.failNext('unlink')
    await expect(pending.abort()).rejects.toSatisfy(isCode('storage_failed'))
    await pending.abort()
    expect(await home.store.sweepPending(HOLDER)).toBe(0)
  })

  test('error: a directory that is gone, as when its disk is unmounted, is no absence', async () => {
    await rename(home.dir, `${home.dir}-elsewhere`)
    await mkdir(home.dir)
    const { store } = home
    const attempts = [
      () => store.open(ABSENT),
      () => store.stat(ABSENT),
      () => store.delete({ sha256: ABSENT, put: '' }),
      () => store.check(),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toSatisfy(isCode('storage_failed'))
    await expect(write(store, BLOB)).rejects.toSatisfy(isCode('storage_failed'))
    await rm(home.dir, { recursive: true })
    await expect(listed(store)).rejects.toSatisfy(isCode('storage_failed'))
  })

  test('error: a directory that cannot be made is storage_failed', async () => {
    await writeFile(join(home.root, 'a-file'), '')
    const opening = openFsBlobStore({ dir: join(home.root, 'a-file', 'objects'), minFreeBytes: 0 })
    await expect(opening).rejects.toSatisfy(isCode('storage_failed'))
  })
})
