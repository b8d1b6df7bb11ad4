import { mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  blobOf,
  collect,
  expectBytes,
  get,
  HOLDER,
  listed,
  opened,
  put,
  quarantine,
  write,
} from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { nodeFiles } from './files.ts'
import { openFsBlobStore } from './fs-blob-store.ts'
import { openTempStore, type TempStore } from './testing-temp-store.ts'
import { WatchedFiles } from './testing-watched-files.ts'

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

describe('layout', () => {
  test('keeps a blob under its first two digits and pending ones under their holder', async () => {
    await put(home.store, BLOB)
    await write(home.store, blobOf('waiting'))
    expect((await readdir(home.dir)).sort()).toEqual([SHARD, 'pending'].sort())
    expect(await readdir(join(home.dir, SHARD))).toEqual([BLOB.sha256])
    expect(await readdir(join(home.dir, 'pending', HOLDER))).toEqual(['1'])
  })

  test('gives other accounts of the machine no access', async () => {
    await put(home.store, BLOB)
    const modeOf = async (...names: string[]) => (await stat(join(home.dir, ...names))).mode & 0o777
    expect(await modeOf(SHARD, BLOB.sha256)).toBe(0o600)
    expect(await modeOf(SHARD)).toBe(0o700)
    expect(await modeOf('pending', HOLDER)).toBe(0o700)
  })

  test('passes over names that are no blobs', async () => {
    await put(home.store, BLOB)
    await writeFile(join(home.dir, SHARD, 'README'), '')
    await mkdir(join(home.dir, 'lost+found'))
    expect(await listed(home.store)).toEqual([BLOB.sha256])
  })

  test('does not collide with what an earlier process left under the same holder', async () => {
    await write(home.store, blobOf('left behind'))
    await put(await home.again(), BLOB)
    expectBytes(await get(home.store, BLOB.sha256), BLOB.bytes)
  })
})

describe('quarantine', () => {
  test('keeps the bytes under their digest and the time, for the operator alone', async () => {
    const earliest = Date.now()
    await put(home.store, BLOB)
    await quarantine(home.store, BLOB.sha256)
    const names = await readdir(join(home.dir, 'quarantine'))
    expect(names).toEqual([expect.stringMatching(new RegExp(`^${BLOB.sha256}-[0-9]+$`))])
    expect(Number(names[0]?.split('-')[1])).toBeGreaterThanOrEqual(earliest)
    expectBytes(await readFile(join(home.dir, 'quarantine', names[0] ?? '')), BLOB.bytes)
    expect((await stat(join(home.dir, 'quarantine'))).mode & 0o777).toBe(0o700)
  })

  test('makes the place, the new name and the loss of the old one durable, in this order', async () => {
    await put(home.store, BLOB)
    home.watched.forget()
    await quarantine(home.store, BLOB.sha256)
    const moved = expect.stringMatching(new RegExp(`^rename quarantine/${BLOB.sha256}-`))
    expect(home.watched.calls('mkdir', 'rename', 'fsync')).toEqual([
      'mkdir objects/quarantine',
      `fsync ${home.root.split('/').at(-1)}/objects`,
      moved,
      'fsync objects/quarantine',
      `fsync objects/${SHARD}`,
    ])
  })

  test('leaves a file that was written to since it was opened, such as by whoever put it back from a backup', async () => {
    const path = join(home.dir, SHARD, BLOB.sha256)
    await put(home.store, BLOB)
    await writeFile(path, 'HELLO')
    const blob = await opened(home.store, BLOB.sha256)
    // The clock of a file system goes by the ticks of the kernel.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await writeFile(path, 'hello')
    expect(await blob.quarantine()).toBe(false)
    await blob.close()
    expectBytes(await get(home.store, BLOB.sha256), BLOB.bytes)
  })

  test('gives back what was committed between the look at a blob and its move', async () => {
    const path = join(home.dir, SHARD, BLOB.sha256)
    await put(home.store, BLOB)
    await writeFile(path, 'HELLO')
    const rename = async (from: string, to: string): Promise<void> => {
      if (to.includes('quarantine')) await put(home.store, BLOB)
      await nodeFiles.rename(from, to)
    }
    const store = await openFsBlobStore({ dir: home.dir, minFreeBytes: 0, files: { ...nodeFiles, rename } })
    const blob = await opened(store, BLOB.sha256)
    expect(await blob.quarantine()).toBe(false)
    await blob.close()
    expectBytes(await readFile(path), BLOB.bytes)
    expect(await readdir(join(home.dir, 'quarantine'))).toEqual([])
  })

  test('error: makes nothing on the place of a disk that is not mounted', async () => {
    await put(home.store, BLOB)
    const blob = await opened(home.store, BLOB.sha256)
    for (const name of await readdir(home.dir)) await rm(join(home.dir, name), { recursive: true })
    await expect(blob.quarantine()).rejects.toSatisfy(isCode('storage_failed'))
    await blob.close()
    expect(await readdir(home.dir)).toEqual([])
  })
})

describe('version', () => {
  test('takes no system call of its own', async () => {
    await put(home.store, BLOB)
    home.watched.forget()
    const body = await opened(home.store, BLOB.sha256)
    expect(body.version).toMatch(/^[0-9]+-[0-9]+-[0-9]+-5$/)
    await body.close()
    expect(home.watched.calls()).toEqual([
      `open ${SHARD}/${BLOB.sha256}`,
      `statOpen ${SHARD}/${BLOB.sha256}`,
      `close ${SHARD}/${BLOB.sha256}`,
    ])
  })

  test('is another one when the file was written to, also when its size and its times look the same', async () => {
    await put(home.store, BLOB)
    const path = join(home.dir, SHARD, BLOB.sha256)
    const before = await opened(home.store, BLOB.sha256)
    const { atime, mtime } = await stat(path)
    // The clock of a file system goes by the ticks of the kernel.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await writeFile(path, 'HELLO')
    await utimes(path, atime, mtime)
    const after = await opened(home.store, BLOB.sha256)
    expect(after.version).not.toBe(before.version)
    await Promise.all([before.close(), after.close()])
  })
})

describe('locate', () => {
  test('answers the path of the blob in the directory of the store', async () => {
    await put(home.store, BLOB)
    const location = await home.store.locate?.(BLOB.sha256, {
      contentType: '',
      contentDisposition: '',
      cacheControl: '',
    })
    expect(location).toEqual({ kind: 'file', path: `${SHARD}/${BLOB.sha256}` })
    expectBytes(await readFile(join(home.dir, SHARD, BLOB.sha256)), BLOB.bytes)
  })
})

describe('order of system calls', () => {
  const writing = ['open', 'write', 'fsync', 'fdatasync', 'close', 'mkdir', 'rename'] as const

  test('syncs the file, closes, renames, syncs the shard, and syncs the parent of a new shard', async () => {
    await put(home.store, BLOB)
    expect(home.watched.calls(...writing)).toEqual([
      `open ${HOLDER}/0`, // no such directory yet
      `mkdir pending/${HOLDER}`,
      `open ${HOLDER}/0`,
      `write ${HOLDER}/0`,
      `fsync ${HOLDER}/0`,
      `close ${HOLDER}/0`,
      `mkdir objects/${SHARD}`,
      `rename ${SHARD}/${BLOB.sha256}`,
      `open objects/${SHARD}`,
      `fsync objects/${SHARD}`,
      `close objects/${SHARD}`,
      `open ${home.root.split('/').at(-1)}/objects`,
      `fsync ${home.root.split('/').at(-1)}/objects`,
      `close ${home.root.split('/').at(-1)}/objects`,
    ])
  })

  test('syncs only the shard once its name is durable, in this process or by the fsync at opening', async () => {
    await put(home.store, BLOB)
    for (const store of [home.store, await home.again()]) {
      home.watched.forget()
      await put(store, BLOB)
      expect(home.watched.calls('fsync').slice(1)).toEqual([`fsync objects/${SHARD}`])
      expect(home.watched.calls('mkdir')).toEqual([])
    }
  })

  test('acknowledges no second writer of a digest before a directory sync of its own', async () => {
    let renames = 0
    const both = Promise.withResolvers<void>()
    const rename = async (from: string, to: string): Promise<void> => {
      renames += 1
      if (renames === 2) both.resolve()
      await both.promise
      await home.watched.files.rename(from, to)
    }
    const store = await openFsBlobStore({
      dir: home.dir,
      minFreeBytes: 0,
      files: { ...home.watched.files, rename },
    })
    home.watched.forget()
    await Promise.all([put(store, BLOB), put(store, BLOB)])
    expect(home.watched.calls('fsync').filter((call) => call === `fsync objects/${SHARD}`)).toHaveLength(2)
    expect(home.watched.calls('fsync').filter((call) => call.endsWith('/objects'))).toHaveLength(2)
  })

  test('syncs the parent again for a shard whose first sync failed', async () => {
    home.watched.failNext('fsync', 'EIO', 2)
    await expect(put(home.store, BLOB)).rejects.toSatisfy(isCode('storage_failed'))
    home.watched.forget()
    await put(home.store, BLOB)
    expect(home.watched.calls('fsync').at(-1)).toMatch(/\/objects$/)
  })

  test('makes missing parents of its directory durable', async () => {
    const watched = new WatchedFiles()
    await openFsBlobStore({ dir: join(home.root, 'a', 'b'), minFreeBytes: 0, files: watched.files })
    const [above, rootName] = home.root.split('/').slice(-2)
    expect(watched.calls('fsync')).toEqual([`fsync ${above}/${rootName}`, `fsync ${rootName}/a`, 'fsync a/b'])
    expect(watched.calls('mkdir').slice(-2)).toEqual(['mkdir a/b', 'mkdir b/pending'])
  })

  test('makes a removal durable, also when somebody else removed the name', async () => {
    await put(home.store, BLOB)
    home.watched.forget()
    await home.store.delete({ sha256: BLOB.sha256, put: '' })
    await home.store.delete({ sha256: BLOB.sha256, put: '' })
    expect(home.watched.calls('fsync')).toEqual([`fsync objects/${SHARD}`, `fsync objects/${SHARD}`])
  })
})

describe('reading', () => {
  test('error: a file that became shorter is storage_failed', async () => {
    for (const sizeBytes of [1_000, 3_000_000]) {
      const blob = blobOf(seededBytes(sizeBytes, 2))
      await put(home.store, blob)
      const body = await opened(home.store, blob.sha256)
      await truncate(join(home.dir, blob.sha256.slice(0, 2), blob.sha256), sizeBytes - 1)
      await expect(collect(body)).rejects.toSatisfy(isCode('storage_failed'))
      await body.close()
    }
  })

  test('takes memory for a small range, not for a read-ahead', async () => {
    const blob = blobOf(seededBytes(3_000_000, 3))
    await put(home.store, blob)
    const body = await opened(home.store, blob.sha256)
    for await (const chunk of body.chunks({ offset: 1_000_000, length: 10 })) expect(chunk.buffer.byteLength).toBe(10)
    await body.close()
  })

  test('closes a file only after the reads under way, whose descriptor it is', async () => {
    await put(home.store, BLOB)
    const body = await opened(home.store, BLOB.sha256)
    const { read: realRead } = home.watched.files
    let letRead = () => {}
    const held = new Promise<void>((resolve) => {
      letRead = resolve
    })
    home.watched.files.read = async (...args) => {
      await held
      return realRead(...args)
    }
    const reading = collect(body)
    const closing = body.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(home.watched.openPaths.size).toBe(1)
    letRead()
    expectBytes(await reading, BLOB.bytes)
    await closing
    expect(home.watched.openPaths.size).toBe(0)
  })

  test('error: a file that opens and cannot be measured leaves no descriptor', async () => {
    await put(home.store, BLOB)
    home.watched.failNext('statOpen')
    await expect(home.store.open(BLOB.sha256)).rejects.toSatisfy(isCode('storage_failed'))
    expect(home.watched.openPaths.size).toBe(0)
  })

  test('reads ahead while the consumer has a chunk, and one chunk only', async () => {
    const blob = blobOf(seededBytes(3_000_000, 4))
    await put(home.store, blob)
    const body = await opened(home.store, blob.sha256)
    home.watched.forget()
    const chunks = body.chunks()[Symbol.asyncIterator]()
    await chunks.next()
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(home.watched.calls('read')).toHaveLength(2)
    await chunks.return?.()
    await body.close()
  })
})

describe('headroom', () => {
  const MIB = 1024 * 1024
  let small: TempStore

  beforeEach(async () => {
    small = await openTempStore({ minFreeBytes: 10 * MIB })
    small.watched.freeBytes = 30 * MIB
  })

  afterEach(() => small.remove())

  test('refuses a blob that would leave less than the floor, before it makes a file', async () => {
    small.watched.forget()
    const beginning = small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB + 1 })
    await expect(beginning).rejects.toSatisfy(isCode('insufficient_storage'))
    expect(small.watched.calls('open', 'mkdir')).toEqual([])
    await (await small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })).abort()
  })

  test('counts what is admitted and unwritten, also among blobs that begin at once', async () => {
    const beginnings = await Promise.allSettled(
      Array.from({ length: 8 }, () => small.store.begin({ holder: HOLDER, sizeBytes: 5 * MIB })),
    )
    const admitted = beginnings.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value)
    expect(admitted).toHaveLength(4)
    await expect(small.store.begin({ holder: HOLDER, sizeBytes: 1 })).rejects.toSatisfy(isCode('insufficient_storage'))
    for (const pending of admitted) await pending.abort()
    await (await small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })).abort()
  })

  test('takes what is written for a part of what the medium itself counts', async () => {
    const pending = await small.store.begin({ holder: HOLDER, sizeBytes: 15 * MIB })
    await pending.write(new Uint8Array(10 * MIB))
    await (await small.store.begin({ holder: HOLDER, sizeBytes: 15 * MIB })).abort()
    await expect(small.store.begin({ holder: HOLDER, sizeBytes: 15 * MIB + 1 })).rejects.toThrow()
    await pending.abort()
  })

  const GIB = 1024 * MIB
  const fits = async (sizeBytes: number) => {
    try {
      await (await small.store.begin({ holder: HOLDER, sizeBytes })).abort()
      return true
    } catch (error) {
      if (isCode('insufficient_storage')(error)) return false
      throw error
    }
  }
  const writeTimes = async (pending: { write(chunk: Uint8Array): Promise<void> }, times: number) => {
    for (let time = 0; time < times; time += 1) await pending.write(new Uint8Array(MIB))
  }

  test('keeps nobody out for blobs that were announced and do not come', async () => {
    small.watched.freeBytes = 56 * GIB
    const idle = []
    for (let count = 0; count < 21; count += 1) {
      idle.push(await small.store.begin({ holder: HOLDER, sizeBytes: 2.6 * GIB, principal: `user:${count % 3}` }))
    }
    for (const pending of idle) await pending.write(new Uint8Array(70_000))
    expect(await fits(50 * GIB)).toBe(true)
    // What could never fit is refused before its body, as ever.
    expect(await fits(56 * GIB)).toBe(false)
    await small.store.requireRoom(50 * GIB)
    for (const pending of idle) await pending.abort()
    expect(await fits(56 * GIB - 10 * MIB)).toBe(true)
  })

  test('holds what is missing of a blob of which a quarter is here', async () => {
    small.watched.freeBytes = 70 * MIB
    const pending = await small.store.begin({ holder: HOLDER, sizeBytes: 60 * MIB })
    expect([await fits(52 * MIB), await fits(52 * MIB + 1)]).toEqual([true, false])
    await writeTimes(pending, 16)
    // 44 MiB of it are missing, of 60 that the medium still counts as free.
    expect([await fits(16 * MIB), await fits(22 * MIB)]).toEqual([true, false])
    await pending.abort()
  })

  test('holds a few MiB for a blob of unknown size, and ends it when its room is gone', async () => {
    small.watched.freeBytes = 70 * MIB
    const pending = await small.store.begin({ holder: HOLDER, sizeBytes: undefined })
    expect([await fits(52 * MIB), await fits(52 * MIB + 1)]).toEqual([true, false])
    await writeTimes(pending, 20)
    expect(await fits(48 * MIB)).toBe(true)
    small.watched.freeBytes = 10 * MIB
    await expect(writeTimes(pending, 9)).rejects.toSatisfy(isCode('insufficient_storage'))
    await pending.abort()
    small.watched.freeBytes = 18 * MIB - 1
    const beginning = small.store.begin({ holder: HOLDER, sizeBytes: undefined })
    await expect(beginning).rejects.toSatisfy(isCode('insufficient_storage'))
  })

  test('ends a blob whose room is gone, and leaves nothing of it', async () => {
    const pending = await small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })
    small.watched.freeBytes = 11 * MIB
    await writeTimes(pending, 8)
    await pending.write(new Uint8Array(MIB))
    small.watched.freeBytes = 10 * MIB
    await expect(pending.write(new Uint8Array(MIB))).rejects.toSatisfy(isCode('insufficient_storage'))
    await pending.abort()
    expect(await readdir(join(small.dir, 'pending', HOLDER))).toEqual([])
    small.watched.freeBytes = 30 * MIB
    expect(await fits(20 * MIB)).toBe(true)
  })

  test('lets one principal hold a quarter of the room for several blobs, and all of it for one', async () => {
    small.watched.freeBytes = 210 * MIB
    const big = { holder: HOLDER, sizeBytes: 150 * MIB, principal: 'user:1' }
    const one = await small.store.begin(big)
    await writeTimes(one, 30)
    expect(await fits(145 * MIB)).toBe(false)
    await one.abort()
    const beside = await small.store.begin({ ...big, sizeBytes: 1 })
    const two = await small.store.begin(big)
    await writeTimes(two, 30)
    expect(await fits(145 * MIB)).toBe(true)
    // Its writing goes on all the same.
    await writeTimes(two, 20)
    await two.abort()
    await beside.abort()
  })

  test('gives back the claim of a blob that could not begin, and of one that committed', async () => {
    small.watched.failNext('open', 'EMFILE')
    await expect(small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })).rejects.toSatisfy(isCode('storage_failed'))
    const pending = await small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })
    await pending.write(BLOB.bytes)
    await pending.commit(BLOB.sha256)
    await (await small.store.begin({ holder: HOLDER, sizeBytes: 20 * MIB })).abort()
  })
})
