import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openFsBlobStore } from '../blobs/drivers/fs/fs-blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { onFakeS3 } from '../blobs/drivers/s3/testing-subject.ts'
import type { BlobInRecords } from '../records/record-store.ts'
import { type BlobFault, type FaultyBlobStore, openFaultyBlobStore } from '../testing/doubles/faulty-blob-store.ts'
import { type CopiedBlobs, type CopyBlobsDeps, copyBlobs, MOVE_HOLDER } from './copy-blobs.ts'
import { scanBlobs } from './scan-blobs.ts'

/** One is empty, and some have many chunks. */
const sizeOf = (index: number) => (index === 0 ? 0 : [16, 300, 5000, 70_000, 600_000][index % 5]) ?? 0
const COUNT = 25

let source: FaultyBlobStore
let destination: FaultyBlobStore
let recorded: BlobInRecords[]
let total = 0

beforeEach(async () => {
  source = openFaultyBlobStore()
  destination = openFaultyBlobStore()
  recorded = []
  for (let index = 0; index < COUNT; index += 1) recorded.push(await put(source, randomBytes(sizeOf(index))))
  recorded.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
  total = recorded.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
})

async function put(store: BlobStore, bytes: Uint8Array, sha256 = sha256Hex(bytes)): Promise<BlobInRecords> {
  const pending = await store.begin({ holder: 'test', sizeBytes: bytes.length })
  await pending.write(bytes)
  await pending.commit(sha256)
  return { sha256, put: '', sizeBytes: bytes.length }
}

/** What the records say, a page at a time as they do. */
const inventory = {
  stored: async ({ after, limit }: { after: string; limit: number }) =>
    recorded.filter(({ sha256 }) => sha256 > after).slice(0, Math.min(limit, recorded.length)),
}

function copy(overrides: Partial<CopyBlobsDeps> = {}): Promise<CopiedBlobs> {
  const { signal } = new AbortController()
  return copyBlobs({ inventory, source, destination, jobs: 3, verify: false, signal, onBytes: () => {}, ...overrides })
}

function scan(from: BlobStore = source, to: BlobStore = destination) {
  return scanBlobs({ inventory, source: from, destination: to }, new AbortController().signal)
}

async function digestsOf(store: BlobStore): Promise<string[]> {
  const digests: string[] = []
  for await (const { sha256 } of store.list()) digests.push(sha256)
  return digests
}

const all = () => recorded.map(({ sha256 }) => sha256)
const third = () => recorded[3] ?? { sha256: '', sizeBytes: 0 }

async function fsStore(): Promise<{ dir: string; store: BlobStore }> {
  const dir = mkdtempSync(join(tmpdir(), 'lade-blobs-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return { dir, store: await openFsBlobStore({ dir, minFreeBytes: 0 }) }
}

describe('copyBlobs', () => {
  test('copies what the records need, and nothing else', async () => {
    await put(source, Buffer.from('nobody needs this'))
    let bytes = 0
    const copied = await copy({ onBytes: (sizeBytes) => (bytes += sizeBytes) })
    expect(copied).toEqual({ copied: { count: COUNT, bytes: total }, there: { count: 0, bytes: 0 }, problems: [] })
    expect(bytes).toBe(total)
    expect(await destination.digests()).toEqual(all())
    expect(await copy({ verify: true })).toMatchObject({ copied: { count: 0 }, there: { count: COUNT, bytes: total } })
  })

  test('has no more on its way than it is told, and never a blob twice', async () => {
    let [underWay, most] = [0, 0]
    destination.beforeCommit = async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 1))
      underWay -= 1
    }
    expect((await copy({ jobs: 4 })).copied.count).toBe(COUNT)
    expect(most).toBe(4)
  })

  test('copies to files and to a bucket, as every other way between stores', async () => {
    const { store: files } = await fsStore()
    expect((await copy({ destination: files })).copied.bytes).toBe(total)
    const subject = onFakeS3()
    const bucket = await subject.open()
    onTestFinished(() => subject.discard(bucket))
    const verified = await copy({ source: files, destination: bucket, verify: true })
    expect(verified).toMatchObject({ copied: { count: COUNT, bytes: total }, problems: [] })
    expect(await digestsOf(bucket)).toEqual(all())
    expect((await scan(files, bucket)).toCopy.count).toBe(0)
  })

  test('tells wrong, missing, cut and unreadable blobs in the end, after all the rest', async () => {
    const { dir, store: files } = await fsStore()
    await copy({ destination: files })
    const [wrong, missing, cut] = recorded.filter(({ sizeBytes }) => sizeBytes > 0)
    const pathOf = (sha256 = '') => join(dir, sha256.slice(0, 2), sha256)
    writeFileSync(pathOf(wrong?.sha256), randomBytes(wrong?.sizeBytes ?? 0))
    rmSync(pathOf(missing?.sha256))
    truncateSync(pathOf(cut?.sha256), 1)
    const expected = [
      { sha256: wrong?.sha256, problem: 'wrong' },
      { sha256: missing?.sha256, problem: 'missing' },
      { sha256: cut?.sha256, problem: 'size' },
    ].sort((one, other) => ((one.sha256 ?? '') < (other.sha256 ?? '') ? -1 : 1))
    const { copied, problems } = await copy({ source: files })
    expect(problems).toMatchObject(expected)
    expect(copied.count).toBe(COUNT - 3)
    expect(await destination.digests()).toEqual(all().filter((each) => !problems.some(({ sha256 }) => sha256 === each)))
    expect(await destination.pendingHolders()).toEqual([])

    // Without reading, the wrong one cannot be seen.
    const looked = await scan(files, openMemoryBlobStore())
    expect(looked.problems.map(({ problem }) => problem).sort()).toEqual(['missing', 'size'])
    expect(looked.toCopy.count).toBe(COUNT - 2)
  })

  test('tells a blob that cannot be read, and goes on while the store answers', async () => {
    source.fail('open')
    const { copied, problems } = await copy({ jobs: 1 })
    expect(problems).toMatchObject([{ sha256: recorded[0]?.sha256, problem: 'unreadable' }])
    expect(copied.count).toBe(COUNT - 1)
  })

  test('ends when the source is gone', async () => {
    const gone: BlobStore = { ...source, check: () => Promise.reject(new Error('gone')) }
    source.fail('open')
    await expect(copy({ source: gone, jobs: 1 })).rejects.toThrow('gone')
  })

  test.each<BlobFault>(['begin', 'write', 'flush', 'commit', 'after-commit'])(
    'error: ends when the destination fails at %s, leaves no half blob, and goes on when it is run again',
    async (fault) => {
      let before = 0
      const armed = {
        ...source,
        open: (sha256: string) => {
          before += 1
          if (before === 9) destination.fail(fault)
          return source.open(sha256)
        },
      }
      await expect(copy({ source: armed })).rejects.toMatchObject({ code: 'storage_failed' })
      const left = await destination.digests()
      expect(left.length).toBeLessThan(COUNT)
      const again = await copy()
      expect(again.there.count).toBe(left.length)
      expect(again.copied.count).toBe(COUNT - left.length)
      expect(await destination.digests()).toEqual(all())
    },
  )

  test('may be ended between any two chunks, and goes on when it is run again', async () => {
    const { store: files } = await fsStore()
    for (let end = 0; end < COUNT; end += 3) {
      const ending = new AbortController()
      let chunks = 0
      const onBytes = () => {
        if (chunks++ === end) ending.abort(new Error('enough'))
      }
      const run = copy({ destination: files, signal: ending.signal, onBytes })
      // The last rounds have nothing left to be ended in.
      await run.catch((error: unknown) => expect(error).toEqual(new Error('enough')))
      expect(await files.sweepPending(MOVE_HOLDER)).toBe(0)
    }
    await copy({ destination: files, verify: true })
    expect(await digestsOf(files)).toEqual(all())
  })

  test('clears what a move left that was killed', async () => {
    const { store: files } = await fsStore()
    const left = await files.begin({ holder: MOVE_HOLDER, sizeBytes: 10 })
    await left.write(randomBytes(5))
    await copy({ destination: files })
    expect(await files.sweepPending(MOVE_HOLDER)).toBe(0)
  })

  test('copies again what is there with another size, and with verify what has other bytes', async () => {
    const { sha256, sizeBytes } = third()
    await put(destination, randomBytes(sizeBytes + 1), sha256)
    expect((await scan()).there.count).toBe(0)
    expect((await copy()).copied.count).toBe(COUNT)
    await put(destination, Buffer.alloc(sizeBytes, 1), sha256)
    expect((await copy()).there.count).toBe(COUNT)
    const { copied, there } = await copy({ verify: true })
    expect([copied.count, there.count]).toEqual(sizeBytes === 0 ? [0, COUNT] : [1, COUNT - 1])
  })

  test('holds to a bandwidth', async () => {
    const startedMs = performance.now()
    await copy({ bytesPerSecond: total * 4 })
    expect(performance.now() - startedMs).toBeGreaterThan(150)
  })
})

describe('scanBlobs', () => {
  test('counts what is needed, there, to copy and of others', async () => {
    await put(destination, Buffer.from('of somebody else'))
    const bytes = Buffer.from('moved before')
    recorded = [...recorded, await put(destination, bytes)].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
    expect(await scan()).toEqual({
      needed: { count: COUNT + 1, bytes: total + bytes.length },
      there: { count: 1, bytes: bytes.length },
      toCopy: { count: COUNT, bytes: total },
      problems: [],
      others: 1,
    })
    expect(await destination.digests()).toHaveLength(2)
  })

  test('refuses a storage that has nothing of what is needed', async () => {
    await expect(scan(openMemoryBlobStore())).rejects.toThrow(/has none of them/)
    recorded = []
    expect((await scan(openMemoryBlobStore())).needed.count).toBe(0)
  })
})
