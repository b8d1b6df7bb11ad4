import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { QuotaLimit } from '../records/record-store.ts'
import { headOf, openStagingFixture, type StagingFixture, tierOf } from '../testing/running/staging-fixture.ts'
import { admitUpload, agreeTerms, overQuota, type UploadHead } from './admit-upload.ts'
import type { UploadTier } from './upload-tier.ts'

const BYTES = Buffer.alloc(100)
const sponsored = { name: 'sponsored', owner: null, defaultTermDays: 7, maxTermDays: 7 } as const

describe('admitUpload', () => {
  let fixture: StagingFixture
  let ids = 0
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const admit = (tier: Partial<UploadTier> = {}, head: Partial<UploadHead> = {}, isStorageBound = true) => {
    const { records, moderation, reservations, instanceId, clock } = fixture
    const newId = () => {
      ids += 1
      return `upload-${ids}`
    }
    const input = { tier: tierOf(tier), head: headOf(BYTES, undefined, head), isStorageBound }
    return admitUpload({ records, moderation, reservations, instanceId, now: () => clock.now, newId }, input)
  }
  const refusal = (...input: Parameters<typeof admit>) =>
    admit(...input).then(
      () => 'admitted',
      (error) => error.code,
    )

  it('reserves the bytes, for the term of the tier', async () => {
    expect(await admit()).toMatchObject({ termDays: 30 })
    expect((await fixture.usage()).reservedBytes).toBe(100)
  })

  it('gives the term asked for, and the default of the tier otherwise', async () => {
    expect((await admit({}, { termDays: 365 })).termDays).toBe(365)
    expect((await admit(sponsored)).termDays).toBe(7)
  })

  it('admits exactly up to the cap', async () => {
    await admit({ dailyBytes: 300 })
    await admit({ dailyBytes: 300 }, { sizeBytes: 200 })
    expect(await refusal({ dailyBytes: 300 }, { sizeBytes: 1 })).toBe('quota_exceeded')
  })

  it('charges the UTC day of admission, so that a full day is empty again at midnight', async () => {
    fixture.clock.now = Date.UTC(2026, 10, 21, 23, 59, 59, 999)
    await admit({ dailyBytes: 100 })
    expect(await refusal({ dailyBytes: 100 })).toBe('quota_exceeded')
    fixture.clock.now += 1
    expect(await refusal({ dailyBytes: 100 })).toBe('admitted')
  })

  it('refuses in the order of the contract: the first of several reasons is the answer', async () => {
    // Each column is one reason; taking them away from the left uncovers the next refusal.
    await admit({ ...sponsored, dailyBytes: 100, concurrency: 1 })
    const tier = { ...sponsored, fileBytes: 10, dailyBytes: 100, concurrency: 1 }
    expect(await refusal(tier, { visibility: 'private', termDays: 8 }, false)).toBe('invalid_visibility')
    expect(await refusal(tier, { termDays: 8 }, false)).toBe('invalid_term')
    expect(await refusal(tier, {}, false)).toBe('too_large')
    expect(await refusal({ ...tier, fileBytes: 1000 }, {}, false)).toBe('storage_offline')
    expect(await refusal({ ...tier, fileBytes: 1000 })).toBe('too_many_uploads')
    expect(await refusal({ ...tier, fileBytes: 1000, concurrency: 2 })).toBe('rate_limited')
    expect(await refusal({ ...tier, fileBytes: 1000, concurrency: 2, dailyBytes: 200 })).toBe('admitted')
  })

  it('refuses without a trace', async () => {
    await refusal({ dailyBytes: 99 })
    await refusal({ fileBytes: 99 })
    await refusal({}, {}, false)
    expect((await fixture.usage()).reservedBytes).toBe(0)
  })

  it('lets a file of exactly the largest size in', async () => {
    expect(await refusal({ fileBytes: 100 })).toBe('admitted')
    expect(await refusal({ fileBytes: 99 })).toBe('too_large')
  })
})

describe('too_large', () => {
  const MB = 1_048_576
  const refusalOf = (tier: Partial<UploadTier>, head: Partial<UploadHead>) => {
    try {
      agreeTerms({ tier: tierOf(tier), head: headOf(BYTES, undefined, head), isStorageBound: true }, 0)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  it('says how large the file is, what the limit is, and what a token would allow', () => {
    const withToken = { fileBytes: 5 * 1024 * MB, dailyBytes: 1024 * MB }
    expect(refusalOf({ ...sponsored, fileBytes: 100 * MB, withToken }, { sizeBytes: 110 * MB })).toBe(
      'The file is 110 MB; without a token, the limit is 100 MB. With a token, the limit is 5 GiB.',
    )
    expect(refusalOf({ fileBytes: 100 * MB }, { sizeBytes: 100 * MB + 1 })).toMatch(
      /^The file is 104,857,601 bytes; the limit is 104,857,600 bytes\./,
    )
  })
})

describe('overQuota', () => {
  const now = Date.UTC(2026, 10, 21, 23, 59, 0)

  it('is rate_limited for an address and quota_exceeded for a user, with what is used and when to come again', () => {
    const over = { unit: 'bytes', used: 7, limit: 1_000_000 } as const
    const refused = { outcome: 'over_quota', usedBytes: 7, over } as const
    const evidence = { ...over, retryAfterSeconds: 60, remaining: 999_993, size: 1_000_000 }
    const asking = { sizeBytes: 1_000_000 }
    const tier = { dailyBytes: 1_000_000 }
    const refusals = [
      overQuota({ ...asking, tier: tierOf({ ...sponsored, ...tier }) }, refused, now),
      overQuota({ ...asking, tier: tierOf(tier) }, refused, now),
    ]
    expect(refusals.map(({ code }) => code)).toEqual(['rate_limited', 'quota_exceeded'])
    for (const refusal of refusals) expect(refusal.evidence).toMatchObject(evidence)
  })

  it('says in words when it is the files that are used up, or what a whole network has', () => {
    const files = { unit: 'files', used: 2000, limit: 2000 } as const
    const asking = { tier: tierOf(sponsored), sizeBytes: 10 }
    const error = overQuota(asking, { outcome: 'over_quota', usedBytes: 7, over: files }, now)
    expect(error.message).toBe(
      '2,000 of 2,000 files used today from this IP address. The quota resets at 00:00 UTC. A token has its own quota.',
    )
    expect(error.evidence).toMatchObject({ ...files, usedBytes: 7 })
    const shared = { unit: 'bytes', used: 90, limit: 100, network: 'ip:2001:db8:1::/48' } as const
    const other = overQuota(asking, { outcome: 'over_quota', usedBytes: 0, over: shared }, now)
    expect(other.message).toMatch(/^All addresses in 2001:db8:1::\/48 together used 90 bytes of 100 bytes today; /)
    expect(other.evidence).toMatchObject({ used: 90, limit: 100, usedBytes: 0, network: '2001:db8:1::/48' })
  })

  const GIB = 1024 ** 3
  const refusalOf = (changes: Partial<UploadTier>, sizeBytes: number, limit: Partial<QuotaLimit> = {}) => {
    const tier = tierOf({ dailyBytes: GIB, ...changes })
    const over = { unit: 'bytes', used: 0, limit: tier.dailyBytes, ...limit } as const
    return overQuota({ tier, sizeBytes }, { outcome: 'over_quota', usedBytes: 0, over }, now)
  }

  it('does not say when to come again to a file that no day has room for, but what helps', () => {
    const refusal = refusalOf({}, 5 * GIB)
    expect(refusal.evidence).not.toHaveProperty('retryAfterSeconds')
    expect(refusal.message).toBe(
      "This file (5 GiB) is larger than a day's quota (1 GiB). Upload parts over several days and compose them, or ask the operator for a larger quota.",
    )
  })

  it.each<[string, Partial<UploadTier>, string]>([
    ['a wallet without USDC', { name: 'wallet', owner: '0xA', dailyBytes: 0 }, 'The wallet 0xA holds no USDC'],
    ['a user without a quota', { dailyBytes: 0 }, 'Your daily quota is 0. Ask the operator for a higher limit.'],
    [
      'an address whose user could log in',
      { ...sponsored, withToken: { fileBytes: GIB, dailyBytes: 2 * GIB } },
      'Log in: a token has 2 GiB a day.',
    ],
    ['a wallet with too little', { name: 'wallet' }, 'Add USDC to the wallet'],
  ])('says to %s what to do', (_title, tier, sentence) => {
    expect(refusalOf(tier, 1.5 * GIB).message).toContain(sentence)
  })

  it.each<[string, Partial<UploadTier>, Partial<QuotaLimit>, string]>([
    [
      'a token without a quota',
      {},
      { which: 'token', limit: 0 },
      'The token has a daily quota of 0. Use another token.',
    ],
    [
      'a token that is too small',
      {},
      { which: 'token', limit: 10 },
      "is larger than a day's quota of this token (10 bytes).",
    ],
    [
      'a token that is used up',
      {},
      { which: 'token', used: GIB, limit: 2 * GIB },
      'used today by this token; this upload is',
    ],
    [
      'a user with much stored',
      {},
      { which: 'stored', used: 5, limit: 9 },
      '5 bytes of 9 bytes stored; this upload is 1.5 GiB. Remove files,',
    ],
    [
      'an address with much stored',
      sponsored,
      { which: 'stored', used: 5, limit: 9 },
      '5 bytes of 9 bytes stored from this IP address;',
    ],
  ])('names the limit of %s', (_title, tier, limit, sentence) => {
    const refusal = refusalOf(tier, 1.5 * GIB, limit)
    expect(refusal.message).toContain(sentence)
    expect(refusal.evidence).toMatchObject({ which: limit.which, usedBytes: 0, limitBytes: GIB })
    expect('retryAfterSeconds' in refusal.evidence).toBe(limit.limit === 2 * GIB)
  })
})
