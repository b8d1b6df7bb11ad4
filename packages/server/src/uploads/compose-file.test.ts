import { parseContentId } from '@lade/core/content'
import type { ImportProfileName } from '@lade/core/dag'
import { PART_BYTES } from '@lade/core/wire'
import { FairQueue } from '@lade/node/budget/fair-queue'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { type FakePart, fakePart, pieceOf, recordPart, wholeOf } from '../testing/running/fake-parts.ts'
import { openStagingFixture, PRINCIPAL, type StagingFixture, tierOf } from '../testing/running/staging-fixture.ts'
import { claimFile } from './claim-file.ts'
import { type ComposeDeps, type ComposeInput, composeFile } from './compose-file.ts'
import type { UploadTier } from './upload-tier.ts'

const MIB = 1024 * 1024
const WIDE = { fileBytes: 2 ** 42, dailyBytes: 2 ** 42 }

interface Options {
  readonly tier?: Partial<UploadTier>
  readonly head?: Partial<ComposeInput['head']>
  readonly deps?: Partial<ComposeDeps>
}

describe('composeFile, from what was kept', () => {
  let fixture: StagingFixture
  let budget: WorkBudget
  /** Of blobs that are taken to be there. */
  const sizes = new Map<string, number>()
  const statOf = async (sha256: string) => {
    const sizeBytes = sizes.get(sha256)
    return sizeBytes === undefined ? undefined : { sha256, put: '', sizeBytes }
  }
  beforeEach(async () => {
    fixture = await openStagingFixture()
    budget = new WorkBudget({ log: { warn: () => {} }, networkOf: () => undefined })
  })
  afterEach(() => fixture.remove())

  const compose = (cid: string, parts: readonly (FakePart | string)[], { tier, head, deps }: Options = {}) =>
    composeFile(
      {
        records: fixture.records,
        moderation: fixture.moderation,
        reservations: fixture.reservations,
        blobs: { ...fixture.blobs, stat: statOf },
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
          filename: 'whole.mp4',
          visibility: 'public',
          termDays: undefined,
          ...head,
        },
        parts: parts.map((part) => parseContentId(typeof part === 'string' ? part : part.sha256, sha256Hex)),
        signal: new AbortController().signal,
      },
    )
  const record = async (...parts: readonly FakePart[]): Promise<FileRecord[]> => {
    const files: FileRecord[] = []
    // There are no bytes that could be stored.
    for (const { sha256, sizeBytes } of parts) sizes.set(sha256, sizeBytes)
    for (const part of parts) files.push(await recordPart(fixture, part))
    return files
  }
  /** Everything that a composition could change. */
  const state = async () => ({
    files: await fixture.records.files.list({ principal: PRINCIPAL, now: fixture.clock.now, limit: 1000 }),
    usage: await fixture.usage(),
    drift: await fixture.records.quotas.checkDrift(),
    discards: await fixture.records.discards.pending({ instanceId: 'instance-1', now: fixture.clock.now, limit: 100 }),
  })
  const refused = async (attempt: Promise<unknown>): Promise<unknown> => {
    const before = await state()
    const error = await attempt.then(
      () => {
        throw new Error('it was composed')
      },
      (failure: unknown) => failure,
    )
    expect(await state()).toEqual(before)
    return error
  }

  it('keeps the secret of a sponsored file, by which an account gets it for the bytes of the whole', async () => {
    const parts = [1, 2].map((name) => fakePart(`${name}`, PART_BYTES, ['unixfs-v1-2025']))
    await record(...parts)
    const { unixfs, sizeBytes } = wholeOf(parts, 'unixfs-v1-2025')
    const secret = Buffer.alloc(16, 7)
    const file = await compose(unixfs, parts, {
      tier: { name: 'sponsored', rights: undefined },
      head: { claimDigest: sha256Hex(secret) },
    })
    expect(file).not.toHaveProperty('claimDigest')
    const deps = { ...fixture, now: () => fixture.clock.now, filesNow: () => fixture.clock.now, isStorageBound: true }
    const claim = (tier: Partial<UploadTier>) =>
      claimFile(deps, {
        tier: tierOf({ ...WIDE, principal: 'user:claimant', ...tier }),
        cid: parseContentId(unixfs, sha256Hex),
        secret: secret.toString('base64url'),
      })
    await expect(claim({ dailyBytes: sizeBytes - 1 })).rejects.toMatchObject({ code: 'quota_exceeded' })
    await expect(claim({ fileBytes: sizeBytes - 1 })).rejects.toMatchObject({ code: 'too_large' })
    expect(await claim({ dailyBytes: sizeBytes })).toMatchObject({
      usedBytes: sizeBytes,
      file: { principal: 'user:claimant', object: file.object, filename: 'whole.mp4', sponsored: false },
    })
    expect(await fixture.records.quotas.checkDrift()).toEqual([])
  })

  const PROFILES: readonly ImportProfileName[] = ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174', 'raw-1m-174']
  it.each(PROFILES)('checks a root of %s without reading a byte', async (profile) => {
    const parts = [1, 2].map((name) => fakePart(`${name}`, PART_BYTES, [profile]))
    parts.push(fakePart('last', 3 * MIB + 5, [profile]))
    await record(...parts)
    const { unixfs, sizeBytes, pieceRoot, dag } = wholeOf(parts, profile)
    const open = vi.spyOn(fixture.blobs, 'open')
    const file = await compose(unixfs, parts)
    expect(open).not.toHaveBeenCalled()
    expect(file).toMatchObject({ cid: unixfs, sizeBytes, pieceRoot, sha256: null, verified: true, termDays: 30 })
    expect(file.dealId).toMatch(/^d-0x[0-9a-f]{32}$/)
    const multihash = Buffer.from(`1220${dag.root}`, 'hex')
    const place = await fixture.records.blocks.find({ multihash, now: fixture.clock.now })
    expect(place).toMatchObject({ kind: 'node', profile, node: dag.digests.length / 32 - 1, object: file.object })
    expect((await state()).usage.stored).toEqual({ bytes: sizeBytes, files: 1 })
  })

  it('finds the profile among several, and one whose leaves are cut alike', async () => {
    const parts = [fakePart('1', PART_BYTES, PROFILES), fakePart('2', PART_BYTES, ['unixfs-v1-2025', 'raw-256k-174'])]
    for (const profile of ['unixfs-v1-2025', 'raw-256k-174'] as const) {
      await record(...parts)
      const { unixfs } = wholeOf(parts, profile)
      expect(await compose(unixfs, parts)).toMatchObject({ sizeBytes: 2 * PART_BYTES, end: null })
      await fixture.records.files.remove({
        principal: PRINCIPAL,
        key: parseContentId(unixfs, sha256Hex).key,
        now: fixture.clock.now,
      })
    }
    await record(...parts)
    // Their 254 leaves are too many for one node of the older default, whose leaves they are all the same.
    expect(await compose(wholeOf(parts, 'raw-1m-174').unixfs, parts)).toMatchObject({ end: null })
  })

  it.each([
    ['a byte', 1],
    ['a whole leaf', MIB],
  ])('takes %s for a raw leaf, whatever id it came under', async (_title, lastBytes) => {
    const parts = [fakePart('1'), fakePart('last', lastBytes, [])]
    await record(...parts)
    const { unixfs } = wholeOf(parts)
    expect(await compose(unixfs, parts)).toMatchObject({ sizeBytes: PART_BYTES + lastBytes })
  })

  it.each(['pieceV1', 'pieceV2'] as const)('checks a piece CID, %s, of parts that keep no leaves', async (form) => {
    const parts = [fakePart('1', 2 * PART_BYTES, []), fakePart('2', PART_BYTES, []), fakePart('last', 99, [])]
    await record(...parts)
    const open = vi.spyOn(fixture.blobs, 'open')
    const whole = pieceOf(parts)
    const file = await compose(whole[form], parts)
    expect(open).not.toHaveBeenCalled()
    expect(file).toMatchObject({ pieceRoot: whole.pieceRoot, sizeBytes: whole.sizeBytes })
  })

  it('takes a part twice, and one that is composed itself', async () => {
    const [one, two] = [fakePart('1'), fakePart('2')]
    await record(one, two)
    const inner = wholeOf([one, two])
    await compose(inner.unixfs, [one, two])
    const last = fakePart('last', 7 * MIB)
    await record(one, last)
    const { unixfs } = wholeOf([one, one, two, one, last])
    const file = await compose(unixfs, [one, inner.unixfs, one, last])
    const parts = await fixture.records.compositions.partsOf(file.object)
    expect(parts.map(({ object }) => object)).toEqual([one, one, two, one, last].map(({ sha256 }) => sha256))
    expect((await state()).usage.stored).toEqual({ bytes: 4 * PART_BYTES + 7 * MIB, files: 1 })
  })

  it('makes the one part the whole, and finds it by its new name', async () => {
    const part = fakePart('only', 5 * MIB)
    const [file] = await record(part)
    const { unixfs } = wholeOf([part])
    const whole = await compose(unixfs, [part])
    expect(whole).toEqual({ ...file, contentType: 'video/mp4', filename: 'whole.mp4' })
    expect(
      await fixture.records.files.latest({ principal: PRINCIPAL, key: `dag-pb:${wholeOf([part]).dag.root}`, now: 0 }),
    ).toEqual(whole)
  })

  it('gives the file its own type, name, visibility and term', async () => {
    const parts = [fakePart('1'), fakePart('2', 5)]
    await record(...parts)
    const head = { contentType: 'text/plain', filename: null, visibility: 'private', termDays: 3 } as const
    const file = await compose(wholeOf(parts).unixfs, parts, { head })
    const { now } = fixture.clock
    expect(file).toMatchObject({ ...head, uploadedAt: now, expiresAt: now + 3 * 86_400_000, owner: 'ada@example.org' })
  })

  it('answers the same deal again, also when the parts are gone', async () => {
    const parts = [fakePart('1'), fakePart('2', 5)]
    await record(...parts)
    const { unixfs, pieceV2 } = wholeOf(parts)
    const file = await compose(unixfs, parts)
    fixture.clock.now += 1000
    expect(await compose(unixfs, parts)).toEqual(file)
    expect(await compose(pieceV2, [fakePart('never was')])).toEqual(file)
  })

  it('uses bytes that somebody staged as a whole, and lets go of the parts', async () => {
    const parts = [fakePart('1'), fakePart('2', 5)]
    const { sizeBytes, unixfs, pieceRoot } = wholeOf(parts)
    const piece = { root: Buffer.from(pieceRoot, 'hex'), rawSizeBytes: sizeBytes, subtreeRoots: Buffer.alloc(64) }
    const whole = { ...fakePart('whole', sizeBytes, []), piece }
    await recordPart(fixture, whole, { principal: 'user:2' })
    await record(...parts)
    expect(await compose(unixfs, parts)).toMatchObject({ sha256: whole.sha256, principal: PRINCIPAL })
    expect((await state()).discards.map(({ sha256 }) => sha256).toSorted()).toEqual(
      parts.map(({ sha256 }) => sha256).toSorted(),
    )
  })

  it('refuses parts in another order, and says which id that order has', async () => {
    const parts = [fakePart('1'), fakePart('2')]
    await record(...parts)
    const [right, wrong] = [wholeOf(parts), wholeOf(parts.toReversed())]
    for (const form of ['unixfs', 'pieceV1', 'pieceV2'] as const) {
      expect(await refused(compose(right[form], parts.toReversed()))).toMatchObject({
        code: 'cid_mismatch',
        evidence: { expected: right[form], actual: wrong[form] },
      })
    }
  })

  it('says which id the parts have where they keep another profile than the one of its version', async () => {
    const parts = [fakePart('1', PART_BYTES, ['raw-256k-174']), fakePart('2', PART_BYTES, ['raw-256k-174'])]
    await record(...parts)
    const other = wholeOf([fakePart('3'), fakePart('4')]).unixfs
    const actual = wholeOf(parts, 'raw-256k-174').unixfs
    expect(await refused(compose(other, parts))).toMatchObject({ evidence: { expected: other, actual } })
  })

  it('names the parts that are missing, a hundred at most, before those of others', async () => {
    const foreign = fakePart('foreign')
    await recordPart(fixture, foreign, { principal: 'user:2' })
    const hidden = fakePart('hidden')
    await recordPart(fixture, hidden, { principal: 'user:2', visibility: 'private' })
    const { unixfs } = wholeOf([foreign, hidden])
    expect(await refused(compose(unixfs, [foreign, hidden, hidden]))).toMatchObject({
      code: 'missing_parts',
      evidence: { missing: [hidden.sha256], count: 1 },
    })
    expect(await refused(compose(unixfs, [foreign]))).toMatchObject({
      code: 'foreign_parts',
      evidence: { parts: [foreign.sha256], count: 1 },
    })
    const many = Array.from({ length: 150 }, (_, index) => sha256Hex(Buffer.from(`${index}`)))
    expect(await refused(compose(unixfs, many))).toMatchObject({
      evidence: { missing: many.slice(0, 100), count: 150 },
    })
  })

  it.each([
    ['are not there', undefined],
    ['are cut short', PART_BYTES - 1],
  ])('names the parts whose bytes %s, although all that it needs of them was kept', async (_, storedBytes) => {
    const parts = [fakePart('1'), fakePart('2'), fakePart('3')]
    await record(...parts)
    const [, second] = parts
    if (second === undefined) throw new TypeError('no second part')
    sizes.delete(second.sha256)
    if (storedBytes !== undefined) sizes.set(second.sha256, storedBytes)
    const { unixfs, pieceV1 } = wholeOf(parts)
    for (const cid of [unixfs, pieceV1]) {
      expect(await refused(compose(cid, parts))).toMatchObject({
        code: 'missing_parts',
        evidence: { missing: [second.sha256], count: 1 },
      })
    }
    sizes.set(second.sha256, PART_BYTES)
    expect(await compose(unixfs, parts)).toMatchObject({ sizeBytes: 3 * PART_BYTES })
  })

  it('refuses parts of other sizes than 127 MiB, but for the last', async () => {
    const parts = [fakePart('1'), fakePart('short', PART_BYTES - 1), fakePart('2')]
    await record(...parts)
    expect(await refused(compose(wholeOf([parts[0] ?? fakePart('1')]).unixfs, parts))).toMatchObject({
      code: 'invalid_parts',
      evidence: {
        reason: expect.stringMatching(/^Part 2 of 3 .* has 133169151 bytes\. .* multiple of 133169152 bytes\.$/),
      },
    })
  })

  it('refuses an id that cannot be checked', async () => {
    const part = fakePart('1')
    await record(part)
    expect(await refused(compose('myfile0001', [part]))).toMatchObject({ code: 'invalid_cid' })
  })

  it.each<[string, Options]>([
    ['too_large', { tier: { fileBytes: PART_BYTES } }],
    ['invalid_term', { head: { termDays: 366 } }],
    ['invalid_visibility', { tier: { name: 'sponsored' }, head: { visibility: 'private' } }],
    ['storage_offline', { deps: { blobs: undefined } }],
  ])('refuses what the tier has against it, as %s', async (code, options) => {
    const parts = [fakePart('1'), fakePart('2', 1)]
    await record(...parts)
    expect(await refused(compose(wholeOf(parts).unixfs, parts, options))).toMatchObject({ code })
  })

  it('refuses a version 1 piece CID that is bound to other bytes', async () => {
    const parts = [fakePart('1'), fakePart('2', 1000)]
    const { pieceV1, pieceRoot } = wholeOf(parts)
    const piece = { root: Buffer.from(pieceRoot, 'hex'), rawSizeBytes: 900, subtreeRoots: Buffer.alloc(0) }
    await recordPart(fixture, { ...fakePart('first', 900, []), piece }, { principal: 'user:2' })
    await record(...parts)
    expect(await refused(compose(pieceV1, parts))).toMatchObject({ code: 'cid_conflict', evidence: { cid: pieceV1 } })
  })

  it('names a part that ended while it was being checked', async () => {
    const parts = [fakePart('1'), fakePart('2', 1)]
    await record(...parts)
    const { compositions } = fixture.records
    const key = `sha256:${parts[1]?.sha256}`
    const records: RecordStore = {
      ...fixture.records,
      compositions: {
        ...compositions,
        async commit(commit) {
          await fixture.records.files.remove({ principal: PRINCIPAL, key, now: fixture.clock.now })
          return compositions.commit(commit)
        },
      },
    }
    const error = await compose(wholeOf(parts).unixfs, parts, { deps: { records } }).catch(
      (failure: unknown) => failure,
    )
    expect(error).toMatchObject({ code: 'missing_parts', evidence: { missing: [parts[1]?.sha256], count: 1 } })
    expect((await state()).usage.stored).toEqual({ bytes: PART_BYTES, files: 1 })
  })

  it('composes once, however often it is asked at the same moment', async () => {
    const parts = [fakePart('1'), fakePart('2', 1)]
    await record(...parts)
    const { unixfs } = wholeOf(parts)
    const files = await Promise.all(Array.from({ length: 8 }, () => compose(unixfs, parts)))
    expect(new Set(files.map(({ sequence }) => sequence)).size).toBe(1)
    expect((await state()).usage.stored).toEqual({ bytes: PART_BYTES + 1, files: 1 })
  })

  it('puts 40 parts of 5,080 leaves together in less than 300 ms', async () => {
    const tookMs: number[] = []
    for (const whole of ['a', 'b', 'c']) {
      const parts = Array.from({ length: 40 }, (_, index) => fakePart(`${whole}${index}`))
      await record(...parts)
      const { unixfs } = wholeOf(parts)
      const begin = performance.now()
      const file = await compose(unixfs, parts)
      tookMs.push(performance.now() - begin)
      expect(file.sizeBytes).toBe(40 * PART_BYTES)
    }
    // About a tenth of that where nothing else is going on; of three, one is left alone by whatever else goes on.
    expect(Math.min(...tookMs)).toBeLessThan(300)
  })
})
