import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  headOf,
  NOTHING_REMAINS,
  openStagingFixture,
  PRINCIPAL,
  type StagingFixture,
  tierOf,
} from '../testing/running/staging-fixture.ts'
import type { SizedHead } from './admit-upload.ts'
import { type AtOnceDeps, stageAtOnce } from './stage-at-once.ts'
import type { UploadTier } from './upload-tier.ts'

const BYTES = Buffer.from('all here already')
const OTHER = Buffer.from('something else!!')
const SHA256 = sha256Hex(BYTES)
const OPAQUE = 'myfile0001'

interface Options {
  readonly cid?: string
  readonly tier?: Partial<UploadTier>
  readonly head?: Partial<SizedHead>
  readonly deps?: Partial<AtOnceDeps>
}

describe('stageAtOnce', () => {
  let fixture: StagingFixture
  let taken: number
  beforeEach(async () => {
    fixture = await openStagingFixture()
    taken = 0
  })
  afterEach(() => fixture.remove())

  const stage = (bytes: Uint8Array, { cid, tier, head, deps }: Options = {}) =>
    stageAtOnce(
      {
        records: fixture.records,
        moderation: fixture.moderation,
        blobs: fixture.blobs,
        now: () => fixture.clock.now,
        ...deps,
      },
      { tier: tierOf(tier), head: { ...headOf(bytes, cid), sizeBytes: bytes.length, ...head } },
      () => {
        taken += 1
        return Uint8Array.from(bytes)
      },
    )

  it('keeps the bytes in the records with their charge, and never holds a reservation', async () => {
    const { file, usedBytes } = await stage(BYTES)
    expect([file.sha256, usedBytes]).toEqual([SHA256, BYTES.length])
    expect(Buffer.from((await fixture.records.files.inlineBytes(SHA256)) ?? [])).toEqual(BYTES)
    expect(await fixture.remains()).toEqual({ ...NOTHING_REMAINS, chargedBytes: BYTES.length, storedFiles: 1 })
  })

  it('answers a repetition with the first deal, in this way and in the other, and charges nothing', async () => {
    const { file } = await stage(BYTES)
    expect((await stage(BYTES)).file).toEqual(file)
    expect((await fixture.stage(BYTES, { deps: { inlineBytes: 100 } })).file).toEqual(file)
    expect(await fixture.remains()).toMatchObject({ chargedBytes: BYTES.length, storedFiles: 1 })
  })

  it('admits exactly up to the cap, however many arrive at once', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => Buffer.from(`body ${String(index).padStart(5, '0')}`))
    const outcomes = await Promise.allSettled(bodies.map((bytes) => stage(bytes, { tier: { dailyBytes: 70 } })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'quota_exceeded' })
    }
    expect(await fixture.remains()).toMatchObject({ chargedBytes: 70, reservedBytes: 0, drift: [] })
  })

  it.each<[string, string, Options]>([
    ['too large a file', 'too_large', { tier: { fileBytes: 1 } }],
    [
      'a private file without a token',
      'invalid_visibility',
      { tier: { name: 'sponsored' }, head: { visibility: 'private' } },
    ],
    ['too long a term', 'invalid_term', { head: { termDays: 366 } }],
    ['a file without storage', 'storage_offline', { deps: { blobs: undefined } }],
  ])('refuses %s as %s before it takes the body', async (_title, code, options) => {
    await expect(stage(BYTES, options)).rejects.toMatchObject({ code })
    expect([taken, fixture.prover.calls]).toEqual([0, []])
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it.each<[string, string, Options]>([
    ['a file over the cap', 'quota_exceeded', { tier: { dailyBytes: 1 } }],
    ['one upload too many', 'too_many_uploads', { tier: { concurrency: 0 } }],
  ])('refuses %s as %s, and leaves nothing', async (_title, code, options) => {
    await expect(stage(BYTES, options)).rejects.toMatchObject({ code })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('refuses a full day before it says anything about the bytes', async () => {
    const wrong = { cid: sha256Hex(OTHER), tier: { dailyBytes: 1 } }
    await expect(stage(BYTES, wrong)).rejects.toMatchObject({ code: 'quota_exceeded' })
  })

  it('refuses bytes that do not hash to the cid, and leaves nothing', async () => {
    await expect(stage(BYTES, { cid: sha256Hex(OTHER) })).rejects.toMatchObject({
      code: 'cid_mismatch',
      evidence: { expected: sha256Hex(OTHER), actual: SHA256 },
    })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('refuses other bytes under an opaque id that is taken, and charges nothing', async () => {
    await stage(BYTES, { cid: OPAQUE, tier: { principal: 'user:2' } })
    await expect(stage(OTHER, { cid: OPAQUE })).rejects.toMatchObject({ code: 'cid_conflict' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('keeps one of two different bodies that claim one opaque id at once', async () => {
    const outcomes = await Promise.allSettled([
      stage(BYTES, { cid: OPAQUE }),
      stage(OTHER, { cid: OPAQUE, tier: { principal: 'user:2' } }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'cid_conflict' } })
  })

  it('removes small bytes with their last file', async () => {
    await stage(BYTES)
    await fixture.records.files.remove({ principal: PRINCIPAL, key: `sha256:${SHA256}`, now: fixture.clock.now })
    expect(await fixture.records.files.inlineBytes(SHA256)).toBeUndefined()
  })
})
