import { LadeError } from '@lade/core/errors'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FakeS3Options } from '../../../testing/doubles/fake-s3/fake-s3.ts'
import {
  blobOf,
  expectBytes,
  get,
  HOLDER,
  listed,
  put,
  quarantine,
  remove,
  type SampleBlob,
} from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { checked } from './checked-bytes.ts'
import { openS3BlobStore, type S3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts'
import { type FakeHome, PART_BYTES, startFakeHome } from './testing-subject.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function start(fake?: FakeS3Options): Promise<FakeHome> {
  const home = await startFakeHome(fake)
  ends.push(() => home.s3.close())
  return home
}

async function opened(home: FakeHome, options?: Partial<S3BlobStoreOptions>): Promise<S3BlobStore> {
  const store = await home.open(options)
  ends.push(() => store.close())
  home.s3.requests.length = 0
  return store
}

/** Commits a blob that is begun with its digest as a hint. */
async function putExpected(store: S3BlobStore, blob: SampleBlob, pieceBytes = 100_000): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length, expected: blob.sha256 })
  for (let offset = 0; offset < blob.bytes.length; offset += pieceBytes) {
    await pending.write(blob.bytes.subarray(offset, offset + pieceBytes))
  }
  await pending.flush()
  await pending.commit(blob.sha256)
}

const SMALL = blobOf(seededBytes(1000, 1))
const BIG = blobOf(seededBytes(PART_BYTES * 3 + 5, 2))
const legacyKeyOf = ({ sha256 }: SampleBlob) => `lade/objects/${sha256.slice(0, 2)}/${sha256}`
/** The key of the only put of a blob. */
const keyOf = ({ s3 }: FakeHome, blob: SampleBlob) => {
  const keys = [...s3.objects.keys()].filter((key) => key.startsWith(`${legacyKeyOf(blob)}/`))
  expect(keys).toHaveLength(1)
  return keys[0] ?? ''
}

/** Makes the only marker of a holder one that was written before its upload was begun. */
function forgetId({ s3 }: FakeHome, holder: string, beginning: string): void {
  const [key = ''] = [...s3.objects.keys()].filter((name) => name.includes(`/pending/${holder}/`))
  const marker = s3.objects.get(key)
  if (marker === undefined) throw new TypeError('There is no marker.')
  s3.objects.set(key, { ...marker, bytes: Buffer.from(JSON.stringify({ uploads: [], beginning })) })
}

describe('openS3BlobStore', () => {
  test('puts a blob of at most one part by one request, and looks at it', async () => {
    const home = await start()
    const store = await opened(home)
    for (const sizeBytes of [0, 1, PART_BYTES]) {
      const blob = blobOf(seededBytes(sizeBytes, sizeBytes))
      home.s3.requests.length = 0
      await put(store, blob)
      expect(home.s3.requests).toEqual(['PutObject', 'HeadObject'])
      expect(home.s3.objects.get(keyOf(home, blob))?.checksum).toBe(Buffer.from(blob.sha256, 'hex').toString('base64'))
    }
  })

  test('sends parts to where an expected blob will be, and copies nothing', async () => {
    const home = await start({ minPartBytes: PART_BYTES })
    const store = await opened(home)
    await putExpected(store, BIG)
    expect(home.s3.requests.filter((name) => name !== 'UploadPart')).toEqual([
      'PutObject',
      'CreateMultipartUpload',
      'PutObject',
      'CompleteMultipartUpload',
      'HeadObject',
      'DeleteObject',
    ])
    expect([...home.s3.objects.keys()]).toEqual([keyOf(home, BIG)])
    expect(home.s3.objects.get(keyOf(home, BIG))?.etag).toMatch(/-4$/)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
  })

  test.each([
    ['at once', 1024 ** 3, 'CopyObject'],
    ['in pieces', PART_BYTES, 'UploadPartCopy'],
  ] as const)(
    'copies a blob that was not expected %s, and leaves nothing but the blob',
    async (_, copyAtMostBytes, call) => {
      const home = await start()
      const store = await opened(home, { copyAtMostBytes })
      await put(store, BIG, 100_000)
      expect(home.s3.requests).toContain(call)
      expect([...home.s3.objects.keys()]).toEqual([keyOf(home, BIG)])
      expect(home.s3.uploads.size).toBe(0)
      expectBytes(await get(store, BIG.sha256), BIG.bytes)
    },
  )

  test('shows nothing under the expected digest before the commit', async () => {
    const home = await start()
    const store = await opened(home)
    const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
    await pending.write(BIG.bytes)
    await pending.flush()
    expect(await store.stat(BIG.sha256)).toBeUndefined()
    expect(await listed(store)).toEqual([])
    await pending.abort()
    expect([home.s3.objects.size, home.s3.uploads.size]).toEqual([0, 0])
  })

  test('error: refuses a large blob under another digest than the expected one, and shows it under neither', async () => {
    const home = await start()
    const store = await opened(home)
    const other = blobOf('other')
    const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected: other.sha256 })
    await pending.write(BIG.bytes)
    await expect(pending.commit(BIG.sha256)).rejects.toMatchObject({ code: 'storage_failed' })
    await pending.abort()
    expect([home.s3.objects.size, home.s3.uploads.size]).toEqual([0, 0])
    // A small one has gone nowhere yet.
    const small = await store.begin({ holder: HOLDER, sizeBytes: 1000, expected: other.sha256 })
    await small.write(SMALL.bytes)
    await small.commit(SMALL.sha256)
    expectBytes(await get(store, SMALL.sha256), SMALL.bytes)
  })

  test('error: bytes that do not have the digest of their commit are refused by the store', async () => {
    const home = await start()
    const store = await opened(home)
    const pending = await store.begin({ holder: HOLDER, sizeBytes: 1000 })
    await pending.write(SMALL.bytes)
    await expect(pending.commit(blobOf('other').sha256)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(home.s3.objects.size).toBe(0)
  })

  test('takes more and fewer bytes than were said', async () => {
    const home = await start({ minPartBytes: PART_BYTES })
    const store = await opened(home)
    for (const [said, blob] of [
      [10, SMALL],
      [10, BIG],
      [BIG.bytes.length, SMALL],
      [BIG.bytes.length, blobOf('')],
    ] as const) {
      const pending = await store.begin({ holder: HOLDER, sizeBytes: said })
      for (let at = 0; at < blob.bytes.length; at += 70_000) await pending.write(blob.bytes.subarray(at, at + 70_000))
      await pending.commit(blob.sha256)
      expectBytes(await get(store, blob.sha256), blob.bytes)
      await remove(store, blob.sha256)
    }
  })

  test('ends the uploads of a dead process by its markers, at the expected place too', async () => {
    const home = await start()
    const [dead, living] = [await opened(home), await opened(home)]
    for (const expected of [BIG.sha256, undefined]) {
      const pending = await dead.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
      await pending.write(BIG.bytes.subarray(0, PART_BYTES + 1))
      await pending.flush()
    }
    expect(home.s3.uploads.size).toBe(2)
    expect(await living.pendingHolders()).toEqual([HOLDER])
    expect(await living.sweepPending(HOLDER)).toBe(2)
    expect([home.s3.objects.size, home.s3.uploads.size]).toEqual([0, 0])
    expect(await living.pendingHolders()).toEqual([])
  })

  test('ends uploads whose processes died before they could write down their ids, and no other of the digest', async () => {
    const home = await start()
    const store = await opened(home)
    const living = await store.begin({ holder: 'living', sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
    await living.write(BIG.bytes.subarray(0, PART_BYTES + 1))
    for (const holder of ['dead', 'dead-too']) {
      const pending = await store.begin({ holder, sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
      await pending.write(BIG.bytes.subarray(0, PART_BYTES + 1))
      await pending.flush()
      forgetId(home, holder, `${legacyKeyOf(BIG)}/${pending.put}`)
    }
    expect(home.s3.uploads.size).toBe(3)
    const other = await opened(home)
    expect([await other.sweepPending('dead'), await other.sweepPending('dead-too')]).toEqual([1, 1])
    expect(home.s3.uploads.size).toBe(1)
    expect(await other.pendingHolders()).toEqual(['living'])
    await living.write(BIG.bytes.subarray(PART_BYTES + 1))
    await living.commit(BIG.sha256)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
  })

  test('ends the uploads of two markers that an older version began at one key', async () => {
    const home = await start()
    const store = await opened(home)
    for (const holder of ['dead', 'dead-too']) {
      const pending = await store.begin({ holder, sizeBytes: BIG.bytes.length, expected: BIG.sha256, put: '' })
      await pending.write(BIG.bytes.subarray(0, PART_BYTES + 1))
      await pending.flush()
      forgetId(home, holder, legacyKeyOf(BIG))
    }
    expect(home.s3.uploads.size).toBe(2)
    const other = await opened(home)
    await other.sweepPending('dead')
    await other.sweepPending('dead-too')
    expect(home.s3.uploads.size).toBe(0)
    expect(await other.pendingHolders()).toEqual([])
  })

  test('clears away, when the store answers again, what an outage left of its uploads', async () => {
    const home = await start()
    const store = await opened(home)
    const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
    await pending.write(BIG.bytes.subarray(0, PART_BYTES + 1))
    await pending.flush()
    home.s3.faults.outage = 'unavailable'
    await expect(pending.abort()).rejects.toMatchObject({ code: 'storage_failed' })
    expect(home.s3.uploads.size).toBe(1)
    home.s3.faults.outage = 'off'
    await vi.waitFor(() => expect([home.s3.uploads.size, home.s3.objects.size]).toEqual([0, 0]), { timeout: 10_000 })
  })

  test("leaves another holder's upload of the same digest alone", async () => {
    const home = await start()
    const store = await opened(home)
    const begin = (holder: string) => store.begin({ holder, sizeBytes: BIG.bytes.length, expected: BIG.sha256 })
    const [dead, living] = [await begin('dead'), await begin('living')]
    await dead.write(BIG.bytes)
    await living.write(BIG.bytes)
    expect(await store.sweepPending('dead')).toBe(1)
    await expect(dead.commit(BIG.sha256)).rejects.toMatchObject({ code: 'storage_failed' })
    await living.commit(BIG.sha256)
    expectBytes(await get(store, BIG.sha256), BIG.bytes)
  })

  test('keeps quarantined bytes for the operator, under the time', async () => {
    const home = await start()
    const store = await opened(home, { now: () => Date.UTC(2026, 10, 21, 1, 2, 3) })
    await put(store, SMALL)
    await quarantine(store, SMALL.sha256)
    const key = `lade/quarantine/${SMALL.sha256}-20261121T010203000Z`
    expect([...home.s3.objects.keys()]).toEqual([key])
    expectBytes(home.s3.objects.get(key)?.bytes ?? new Uint8Array(), SMALL.bytes)
  })

  test('holds at most five parts of an upload in memory, however slow the store', async () => {
    const home = await start()
    const store = await opened(home)
    home.s3.faults.delayNext(30, { times: 1000, on: 'UploadPart' })
    const blob = blobOf(seededBytes(PART_BYTES * 24, 5))
    const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length })
    let mostAhead = 0
    for (let at = 0; at < blob.bytes.length; at += PART_BYTES / 4) {
      await pending.write(blob.bytes.subarray(at, at + PART_BYTES / 4))
      const stored = [...home.s3.uploads.values()].reduce((sum, { parts }) => sum + parts.size, 0)
      mostAhead = Math.max(mostAhead, (at + PART_BYTES / 4) / PART_BYTES - stored)
      expect(home.watched.openRequests()).toBeLessThanOrEqual(4)
    }
    expect(mostAhead).toBeLessThanOrEqual(5)
    await pending.commit(blob.sha256)
    expectBytes(await get(store, blob.sha256), blob.bytes)
  })

  test('sends parts in pairs, and one alone at the end of what is there or where many wait for the next', async () => {
    const home = await start()
    const store = await opened(home)
    const sent = (): number => home.s3.requests.filter((name) => name === 'UploadPart').length
    const beginOne = async () => {
      const pending = await store.begin({ holder: HOLDER, sizeBytes: 4 * PART_BYTES })
      // The first byte behind a part is what tells that it is one.
      await pending.write(Buffer.alloc(PART_BYTES + 1))
      return pending
    }
    const first = await beginOne()
    const others = await Promise.all(Array.from({ length: 7 }, beginOne))
    expect(sent()).toBe(0)
    const ninth = await beginOne()
    await vi.waitFor(() => expect(sent()).toBe(1))
    await first.write(Buffer.alloc(PART_BYTES))
    await vi.waitFor(() => expect(sent()).toBe(3))
    await ninth.flush()
    await others[0]?.flush()
    expect(sent()).toBe(4)
    await Promise.all([first, ninth, ...others].map((pending) => pending.abort()))
    // All slots are free again.
    const blob = blobOf(seededBytes(PART_BYTES * 20, 6))
    await putExpected(store, blob)
    expectBytes(await get(store, blob.sha256), blob.bytes)
    expect(home.s3.uploads.size).toBe(0)
  })

  test('says once what the store does not know, and goes on without it', async () => {
    const said: string[] = []
    const home = await start({ conditionalPuts: 'no', checksums: 'no' })
    const store = await opened(home, { onTrait: (sentence) => void said.push(sentence) })
    expect(store.traits).toMatchObject({ medium: 's3', durable: true, conditionalPuts: true, checksums: true })
    for (const blob of [SMALL, BIG, blobOf('a'), blobOf('b')]) await put(store, blob)
    expect(said).toHaveLength(2)
    expect(store.traits).toMatchObject({ conditionalPuts: false, checksums: false })
    home.s3.requests.length = 0
    await put(store, blobOf('c'))
    expect(home.s3.requests).toEqual(['PutObject', 'HeadObject'])
  })

  test('finds out that ETags are no md5 by reading back once, before any part', async () => {
    const said: string[] = []
    const home = await start({ etags: 'opaque' })
    const store = await opened(home, { onTrait: (sentence) => void said.push(sentence) })
    await putExpected(store, BIG)
    await put(store, SMALL)
    expect(said).toEqual([expect.stringContaining('ETags')])
    expect(store.traits.md5Etags).toBe(false)
    expect(home.s3.requests.filter((name) => name === 'GetObject')).toHaveLength(1)
    for (const blob of [BIG, SMALL]) expectBytes(await get(store, blob.sha256), blob.bytes)
  })

  test('replaces what was left at the place of a copy, unless it is the same', async () => {
    const home = await start()
    const store = await opened(home)
    const putThere = async () => {
      const pending = await store.begin({ holder: HOLDER, sizeBytes: SMALL.bytes.length, put: 'one' })
      await pending.write(SMALL.bytes)
      await pending.commit(SMALL.sha256)
    }
    await putThere()
    const key = keyOf(home, SMALL)
    const before = home.s3.objects.get(key)
    await putThere()
    expect(home.s3.objects.get(key)).toBe(before)
    for (const rotten of [Buffer.alloc(1000), Buffer.alloc(7)]) {
      home.s3.objects.set(key, { bytes: rotten, etag: checked(rotten).md5, modifiedAt: new Date() })
      await putThere()
      expectBytes(await get(store, SMALL.sha256), SMALL.bytes)
    }
  })

  test('lists only blobs, though other things lie beside them', async () => {
    const home = await start()
    const store = await opened(home)
    await put(store, SMALL)
    const other = home.s3.objects.get(keyOf(home, SMALL))
    if (other === undefined) throw new TypeError('It was put.')
    for (const key of ['lade/objects/readme', 'lade/objects/00/short', `lade/objects/00/${SMALL.sha256}`, 'x']) {
      home.s3.objects.set(key, other)
    }
    expect(await listed(store)).toEqual([SMALL.sha256])
  })

  test('lists more blobs than a page holds', async () => {
    const home = await start()
    const store = await opened(home)
    const object = { bytes: Buffer.from('x'), etag: 'x', modifiedAt: new Date() }
    const all = Array.from({ length: 2100 }, (_, index) => blobOf(String(index)).sha256).sort()
    for (const sha256 of all) home.s3.objects.set(`lade/objects/${sha256.slice(0, 2)}/${sha256}`, object)
    expect(await listed(store)).toEqual(all)
    expect(home.s3.requests).toEqual(['ListObjectsV2', 'ListObjectsV2', 'ListObjectsV2'])
    expect(await listed(store, { after: all[999] ?? '', limit: 1050 })).toEqual(all.slice(1000, 2050))
  })

  test('sees the same bucket through two stores of one prefix, and nothing of another prefix', async () => {
    const home = await start()
    const [one, same, other] = [await opened(home), await opened(home), await opened(home, { prefix: '' })]
    await put(one, SMALL)
    expectBytes(await get(same, SMALL.sha256), SMALL.bytes)
    expect(await other.stat(SMALL.sha256)).toBeUndefined()
  })

  test('error: a bucket that is not there, and keys that are wrong', async () => {
    const home = await start()
    const { accessKeyId } = home.s3.credentials
    const wrong: Partial<S3BlobStoreOptions>[] = [
      { bucket: 'no-such-bucket' },
      { credentials: { accessKeyId, secretAccessKey: 'hunter2' } },
      { credentials: { accessKeyId: 'nobody', secretAccessKey: 'hunter2' } },
    ]
    for (const options of wrong) {
      const error = await home.open(options).catch((error: unknown) => error)
      expect(LadeError.has(error, 'storage_failed')).toBe(true)
      const { cause } = error as Error
      expect(`${JSON.stringify(cause)} ${String(cause)} ${(cause as Error).stack}`).not.toMatch(/hunter2|Signature=/)
    }
    expect(home.watched.openBodies()).toBe(0)
  })

  test('refuses options that cannot be', async () => {
    const place = { bucket: 'bucket', prefix: 'a/' }
    for (const options of [{ partBytes: 0 }, { partBytes: 1.5 }, { redirectSeconds: 604_801 }, { prefix: 'a' }]) {
      await expect(openS3BlobStore({ ...place, ...options })).rejects.toThrow(TypeError)
    }
  })
})

describe('locate', () => {
  const HEADERS = {
    contentType: 'text/html; charset=utf-8',
    contentDisposition: `attachment; filename="it's (a) *b+c&d.html"`,
    cacheControl: 'private, max-age=900',
  }

  test('gives a URL that answers with the headers asked for, whole and in ranges, until its time is over', async () => {
    let now = Date.now()
    const home = await start({ now: () => now })
    const store = await opened(home, { redirectSeconds: 60, now: () => now })
    await put(store, BIG)
    const location = await store.locate(BIG.sha256, HEADERS)
    if (location.kind !== 'url') throw new TypeError('A URL was expected.')
    expect(location.expiresAt).toBe(Math.floor(now / 1000) * 1000 + 60_000)
    const answer = await fetch(location.url)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(HEADERS.contentType)
    expect(answer.headers.get('content-disposition')).toBe(HEADERS.contentDisposition)
    expect(answer.headers.get('cache-control')).toBe(HEADERS.cacheControl)
    expectBytes(new Uint8Array(await answer.arrayBuffer()), BIG.bytes)
    const range = await fetch(location.url, { headers: { range: 'bytes=5-9' } })
    expect(range.status).toBe(206)
    expectBytes(new Uint8Array(await range.arrayBuffer()), BIG.bytes.subarray(5, 10))
    now = location.expiresAt + 1
    expect((await fetch(location.url)).status).toBe(403)
  })

  test('asks the store nothing, and gives one blob only', async () => {
    const home = await start()
    const store = await opened(home, { putsOf: async () => ['abc'] })
    const location = await store.locate(SMALL.sha256, HEADERS)
    expect(home.s3.requests).toEqual([])
    expect(location).toMatchObject({ url: expect.stringContaining(`/${SMALL.sha256}/abc?`) })
    await put(store, BIG)
    const url = location.kind === 'url' ? location.url : ''
    expect((await fetch(url.replaceAll(SMALL.sha256, BIG.sha256))).status).toBe(403)
    await expect(store.locate('../x', HEADERS)).rejects.toThrow(TypeError)
  })

  test('lives no longer than the credentials it is signed with', async () => {
    const now = Date.now()
    const home = await start()
    const credentials = { ...home.s3.credentials, expiration: new Date(now + 30_500) }
    const store = await opened(home, { credentials: async () => credentials, now: () => now })
    const { expiresAt } = (await store.locate(SMALL.sha256, HEADERS)) as { expiresAt: number }
    expect(expiresAt).toBe(Math.floor(now / 1000) * 1000 + 30_000)
  })
})
