import { blake2b256Cid, blake3Cid, type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE, PART_BYTES } from '@lade/core/wire'
import { FairQueue } from '@lade/node/budget/fair-queue'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { blake2b256, blake3 } from '@lade/node/hashing/blake'
import { digestWhole, hashContentHere } from '@lade/node/hashing/content-hasher'
import { hexOf } from '@lade/node/hashing/hex'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BlobBody, OpenBlob } from '../blobs/blob-store.ts'
import { BlockSource } from '../retrieval/block-source.ts'
import { cidOf } from '../retrieval/content-cid.ts'
import { openObject } from '../retrieval/open-object.ts'
import { carOf, fileDag, patternBytes } from '../retrieval/testing-dags.ts'
import { openStagingFixture, PRINCIPAL, type StagingFixture, tierOf } from '../testing/running/staging-fixture.ts'
import { type ComposeDeps, type ComposeInput, composeFile } from './compose-file.ts'
import { discardObjects } from './discard-objects.ts'
import type { UploadTier } from './upload-tier.ts'

const WIDE = { fileBytes: 2 ** 42, dailyBytes: 2 ** 42 }
const NONE = { blake3: false, blake2b256: false, profiles: [], carRoot: undefined }

interface Options {
  readonly tier?: Partial<UploadTier>
  readonly head?: Partial<ComposeInput['head']>
  readonly deps?: Partial<ComposeDeps>
  readonly signal?: AbortSignal
}

describe('composeFile, by reading', () => {
  let fixture: StagingFixture
  let budget: WorkBudget
  beforeEach(async () => {
    fixture = await openStagingFixture()
    budget = new WorkBudget({ log: { warn: () => {} }, networkOf: () => undefined })
  })
  afterEach(() => fixture.remove())

  const compose = (cid: string, parts: readonly Uint8Array[], options: Options = {}) =>
    composeNamed(
      cid,
      parts.map((part) => parseContentId(sha256Hex(part), sha256Hex)),
      options,
    )
  const composeNamed = (cid: string, parts: readonly ContentId[], { tier, head, deps, signal }: Options = {}) =>
    composeFile(
      {
        records: fixture.records,
        moderation: fixture.moderation,
        reservations: fixture.reservations,
        blobs: fixture.blobs,
        hashers: hashContentHere,
        instanceId: fixture.instanceId,
        now: () => fixture.clock.now,
        newId: () => 'reading-1',
        budget,
        readings: new FairQueue({ work: 'compose', budget, slots: 1 }),
        ...deps,
      },
      {
        tier: tierOf({ ...WIDE, ...tier }),
        head: {
          cid: parseContentId(cid, sha256Hex),
          contentType: 'video/mp4',
          filename: null,
          visibility: 'public',
          termDays: undefined,
          ...head,
        },
        parts,
        signal: signal ?? new AbortController().signal,
      },
    )
  const stage = async (...parts: readonly Uint8Array[]) => {
    for (const part of parts) await fixture.stage(part, { tier: WIDE, deps: { inlineBytes: 1000 } })
  }
  const remove = (cid: string) => {
    const { key } = parseContentId(cid, sha256Hex)
    return fixture.records.files.remove({ principal: PRINCIPAL, key, now: fixture.clock.now })
  }
  const failure = (attempt: Promise<unknown>) =>
    attempt.then(
      () => {
        throw new Error('it was composed')
      },
      (error: unknown) => error,
    )

  describe('of 127 MiB and a bit', () => {
    const last = patternBytes(999, 2)
    let first: Uint8Array
    let whole: Uint8Array
    beforeAll(() => {
      first = patternBytes(PART_BYTES)
      whole = Buffer.concat([first, last])
    })

    it('checks a root of leaves that the parts do not keep, gives its blocks, and its bytes across the parts', async () => {
      await stage(first, last)
      const wanted = { ...NONE, profiles: ['unixfs-v1-2025' as const] }
      const { dags, pieceRoot } = digestWhole(whole, wanted)
      const root = parseContentId(`f01701220${dags[0]?.root}`, sha256Hex)
      const file = await compose(root.text, [first, last])
      expect(file).toMatchObject({ pieceRoot, sha256: sha256Hex(whole) })

      const object = await openObject(fixture, file)
      if (object.kind !== 'blob') throw new Error('a composed object is no inline one')
      const { body } = object
      expect(body.sizeBytes).toBe(whole.length)
      const across = { offset: PART_BYTES - 3, length: 10 }
      expect(await bytesOf(body, across)).toEqual(Buffer.from(whole.subarray(PART_BYTES - 3, PART_BYTES + 7)))
      expect(Buffer.compare(await bytesOf(body), whole)).toBe(0)
      await body.close()

      const source = new BlockSource({ ...fixture, now: () => fixture.clock.now })
      const blockOf = async ({ cid }: ContentId) => cid && source.get(cidOf(cid))
      expect(await blockOf(root)).toBeInstanceOf(Uint8Array)
      const leaf = parseContentId(`f01551220${sha256Hex(last)}`, sha256Hex)
      expect(await blockOf(leaf)).toEqual(Uint8Array.from(last))
      await source.close()
    }, 60_000)

    it('finds bytes that were read as a whole among those that were uploaded, and the other way round', async () => {
      await stage(first, last)
      const file = await compose(sha256Hex(whole), [first, last])
      await fixture.stage(whole, { tier: { ...WIDE, principal: 'user:2' } })
      expect(await discardObjects(fixture)).toBe(1)
      expect(await fixture.blobs.digests()).toEqual([sha256Hex(first)])
      expect((await fixture.stage(whole, { tier: WIDE })).file).toEqual(file)
      await discardObjects(fixture)
      await remove(sha256Hex(whole))
      const object = await openObject(fixture, file)
      if (object.kind !== 'blob') throw new Error('a composed object is no inline one')
      expect(await bytesOf(object.body, { offset: whole.length - 5, length: 5 })).toEqual(last.subarray(-5))
      await fixture.records.files.remove({ principal: 'user:2', key: file.key, now: fixture.clock.now })
      await discardObjects(fixture)
      expect(await fixture.blobs.digests()).toEqual([])
    }, 60_000)
  })

  it('checks the ids that only bytes can tell', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    for (const cid of [blake3Cid(hexOf(blake3.of(part))), blake2b256Cid(hexOf(blake2b256.of(part)))]) {
      const file = await compose(cid, [part])
      const { key } = parseContentId(cid, sha256Hex)
      expect(await fixture.records.files.latest({ principal: PRINCIPAL, key, now: fixture.clock.now })).toEqual(file)
    }
    expect(await fixture.remains()).toMatchObject({ reservedBytes: 0, storedFiles: 1 })
  })

  it('refuses bytes that have another id, and changes nothing', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    const other = patternBytes(5_000, 9)
    const cid = blake3Cid(hexOf(blake3.of(other)))
    expect(await failure(compose(cid, [part]))).toMatchObject({
      code: 'cid_mismatch',
      evidence: { expected: cid, actual: blake3Cid(hexOf(blake3.of(part))) },
    })
    expect(await fixture.remains()).toMatchObject({ reservedBytes: 0, storedFiles: 1, blobs: [sha256Hex(part)] })
  })

  it('refuses parts whose bytes are lost, and takes them when they were sent again', async () => {
    const part = patternBytes(5_000)
    const cid = blake3Cid(hexOf(blake3.of(part)))
    await stage(part)
    const before = await fixture.records.files.list({ principal: PRINCIPAL, now: fixture.clock.now, limit: 10 })
    await fixture.blobs.delete({ sha256: sha256Hex(part), put: '' })
    expect(await failure(compose(cid, [part]))).toMatchObject({
      code: 'missing_parts',
      evidence: { missing: [sha256Hex(part)], count: 1 },
    })
    expect(await fixture.records.files.list({ principal: PRINCIPAL, now: fixture.clock.now, limit: 10 })).toEqual(
      before,
    )
    await stage(part)
    expect(await compose(cid, [part])).toMatchObject({ sha256: sha256Hex(part) })
  })

  it('knows the sha2-256 of one part without reading it', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    fixture.blobs.fail('open', 100)
    expect(await failure(compose(sha256Hex(patternBytes(5_000, 9)), [part]))).toMatchObject({ code: 'cid_mismatch' })
  })

  it('takes parts for the CAR of a root', async () => {
    const dag = await fileDag(patternBytes(3_000_000))
    const car = await carOf(dag.root, dag.blocks)
    await stage(car)
    const head = { contentType: CAR_MEDIA_TYPE }
    const file = await compose(String(dag.root), [car], { head })
    // One part is a file of the same bytes already, which learns the name.
    expect(file).toMatchObject({ sha256: sha256Hex(car), cid: sha256Hex(car) })
    const { key } = parseContentId(String(dag.root), sha256Hex)
    expect(await fixture.records.files.serving({ key, now: fixture.clock.now })).toMatchObject({ view: 'unixfs' })
    expect(await failure(compose(String(dag.root), [car.subarray(1)], { head }))).toMatchObject({
      code: 'missing_parts',
    })
    // A name that leads to a CAR is not the bytes of a part.
    const named = parseContentId(String(dag.root), sha256Hex)
    expect(await failure(composeNamed(sha256Hex(Buffer.from('any')), [named]))).toMatchObject({ code: 'invalid_parts' })
  })

  it('counts as an upload in flight, whatever the day has left', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    const cid = blake3Cid(hexOf(blake3.of(part)))
    expect(await failure(compose(cid, [part], { tier: { concurrency: 0 } }))).toMatchObject({
      code: 'too_many_uploads',
    })
    expect(await compose(cid, [part], { tier: { dailyBytes: 1 } })).toMatchObject({ sha256: sha256Hex(part) })
  })

  it('ends with the reason of its signal, and returns what it held', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    const reason = new LadeError('bad_request', { reason: 'Gone.' })
    const cid = blake3Cid(hexOf(blake3.of(part)))
    expect(await failure(compose(cid, [part], { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(await compose(cid, [part], { tier: { concurrency: 1 } })).toMatchObject({ sha256: sha256Hex(part) })
  })

  it('error: a part that cannot be read is storage_failed, and one that went meanwhile is missing', async () => {
    const part = patternBytes(5_000)
    await stage(part)
    const cid = blake3Cid(hexOf(blake3.of(part)))
    fixture.blobs.fail('open')
    expect(await failure(compose(cid, [part]))).toMatchObject({ code: 'storage_failed' })
    const blobs = {
      ...fixture.blobs,
      async open(sha256: string): Promise<OpenBlob | undefined> {
        await remove(sha256)
        await discardObjects(fixture)
        return fixture.blobs.open(sha256)
      },
    }
    expect(await failure(compose(cid, [part], { deps: { blobs } }))).toMatchObject({
      code: 'missing_parts',
      evidence: { missing: [sha256Hex(part)] },
    })
  })
})

async function bytesOf(body: BlobBody, range?: { offset: number; length: number }): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of body.chunks(range)) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts)
}
