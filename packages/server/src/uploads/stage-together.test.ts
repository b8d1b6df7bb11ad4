import { LadeError } from '@lade/core/errors'
import { BodyBill } from '@lade/node/budget/body-bill'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  headOf,
  NOTHING_REMAINS,
  openStagingFixture,
  type StagingFixture,
  tierOf,
} from '../testing/running/staging-fixture.ts'
import type { AtOnceDeps } from './stage-at-once.ts'
import { type StagedTogether, stageTogether } from './stage-together.ts'
import type { UploadTier } from './upload-tier.ts'

const BODIES = ['one', 'two', 'three'].map((text) => Buffer.from(text))

describe('stageTogether', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const stage = (
    bodies: readonly { readonly bytes: Uint8Array; readonly cid?: string }[],
    { tier, deps }: { readonly tier?: Partial<UploadTier>; readonly deps?: Partial<AtOnceDeps> } = {},
  ): Promise<readonly StagedTogether[]> => {
    const { records, moderation, blobs } = fixture
    const budget = { require: () => {}, spend: () => {}, takeBack: () => {} }
    return stageTogether(
      { records, moderation, blobs, now: () => fixture.clock.now, ...deps },
      {
        tier: tierOf(tier),
        uploads: bodies.map(({ bytes, cid }) => ({
          head: { ...headOf(bytes, cid), sizeBytes: bytes.length },
          inline: Uint8Array.from(bytes),
          bill: new BodyBill({ budget, principal: tierOf(tier).principal }),
        })),
      },
    )
  }
  const told = (results: readonly StagedTogether[]) =>
    results.map((result) => (LadeError.is(result) ? result.code : result && (result.isNew ? 'new' : 'known')))

  it('keeps each file by itself, with its charge', async () => {
    const results = await stage(BODIES.map((bytes) => ({ bytes })))
    expect(told(results)).toEqual(['new', 'new', 'new'])
    for (const bytes of BODIES) {
      expect(Buffer.from((await fixture.records.files.inlineBytes(sha256Hex(bytes))) ?? [])).toEqual(bytes)
    }
    expect(await fixture.remains()).toEqual({ ...NOTHING_REMAINS, chargedBytes: 11, storedFiles: 3 })
    expect(told(await stage(BODIES.map((bytes) => ({ bytes }))))).toEqual(['known', 'known', 'known'])
  })

  it('refuses wrong bytes, and what the quota has no room for, and keeps the others', async () => {
    const [one, two, three] = BODIES.map((bytes) => ({ bytes }))
    if (one === undefined || two === undefined || three === undefined) throw new TypeError('there are three')
    const wrong = { bytes: two.bytes, cid: sha256Hex(one.bytes) }
    expect(told(await stage([one, wrong, two, three], { tier: { dailyBytes: 7 } }))).toEqual([
      'new',
      'cid_mismatch',
      'new',
      'quota_exceeded',
    ])
    expect(await fixture.remains()).toEqual({ ...NOTHING_REMAINS, chargedBytes: 6, storedFiles: 2 })
  })

  it('leaves to others what takedowns have come for meanwhile', async () => {
    const { content, callers, refresh } = fixture.moderation
    const old = {
      takedownRevision: content.takedownRevision - 1,
      ofId: () => undefined,
      ofUpload: async () => undefined,
    }
    const moderation = { content: old, callers, refresh } as never
    expect(told(await stage([{ bytes: BODIES[0] ?? Buffer.of() }], { deps: { moderation } }))).toEqual([undefined])
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('leaves to others what the records could not decide about, and what the disk has no room for', async () => {
    const { records, blobs } = fixture
    const fail = async () => Promise.reject(new LadeError('storage_failed', { retryAfterSeconds: 5 }))
    const quotas = { ...records.quotas, commitTogether: fail }
    const uploads = BODIES.map((bytes) => ({ bytes }))
    const nothing = [undefined, undefined, undefined]
    expect(told(await stage(uploads, { deps: { records: { ...records, quotas } } }))).toEqual(nothing)
    expect(told(await stage(uploads, { deps: { blobs: { ...blobs, requireRoom: fail } } }))).toEqual(nothing)
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('fails by what is none of its errors', async () => {
    const quotas = { ...fixture.records.quotas, commitTogether: () => Promise.reject(new TypeError('a bug')) }
    const records = { ...fixture.records, quotas }
    await expect(stage([{ bytes: Buffer.from('one') }], { deps: { records } })).rejects.toThrow('a bug')
  })
})
