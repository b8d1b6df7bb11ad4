import { blake3Cid, type ContentId, parseContentId } from '@lade/core/content'
import { MAX_PARTS, PART_BYTES } from '@lade/core/wire'
import { FairQueue } from '@lade/node/budget/fair-queue'
import { type SpentWork, WorkBudget } from '@lade/node/budget/work-budget'
import { blake3 } from '@lade/node/hashing/blake'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { hexOf } from '@lade/node/hashing/hex'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { patternBytes } from '../retrieval/testing-dags.ts'
import { fakePart, recordPart, wholeOf } from '../testing/running/fake-parts.ts'
import { openStagingFixture, PRINCIPAL, type StagingFixture, tierOf } from '../testing/running/staging-fixture.ts'
import { type ComposeDeps, composeFile } from './compose-file.ts'
import type { UploadTier } from './upload-tier.ts'

const WIDE = { fileBytes: 2 ** 42, dailyBytes: 2 ** 42 }

describe('what a composition costs', () => {
  let fixture: StagingFixture
  let budget: WorkBudget
  let spent: SpentWork[]
  beforeEach(async () => {
    fixture = await openStagingFixture()
    budget = new WorkBudget({ log: { warn: () => {} }, networkOf: () => undefined })
    spent = []
    const { spend } = budget
    vi.spyOn(budget, 'spend').mockImplementation((work) => {
      spent.push(work)
      spend.call(budget, work)
    })
  })
  afterEach(() => fixture.remove())

  const compose = (
    cid: string,
    parts: readonly ContentId[],
    { tier, deps }: { readonly tier?: Partial<UploadTier>; readonly deps?: Partial<ComposeDeps> } = {},
  ) =>
    composeFile(
      {
        records: fixture.records,
        moderation: fixture.moderation,
        reservations: fixture.reservations,
        blobs: { ...fixture.blobs, stat: async (sha256) => ({ sha256, put: '', sizeBytes: PART_BYTES }) },
        hashers: hashContentHere,
        instanceId: fixture.instanceId,
        now: () => fixture.clock.now,
        newId: () => crypto.randomUUID(),
        budget,
        readings: new FairQueue({ work: 'compose', budget, slots: 4, slotsPerPrincipal: 1 }),
        ...deps,
      },
      {
        tier: tierOf({ ...WIDE, ...tier }),
        head: {
          cid: idOf(cid),
          contentType: 'video/mp4',
          filename: null,
          visibility: 'public',
          termDays: undefined,
        },
        parts,
        signal: new AbortController().signal,
      },
    )
  const failure = (attempt: Promise<unknown>) =>
    attempt.then(
      () => {
        throw new Error('it was composed')
      },
      (error: unknown) => error,
    )

  describe('a part that is repeated', () => {
    const part = fakePart('part')
    const repeated = Array.from({ length: 40 }, () => part)
    const ids = repeated.map(({ sha256 }) => idOf(sha256))
    const { unixfs, sizeBytes } = wholeOf(repeated)

    it('is charged every time but the first, and looked up once', async () => {
      await recordPart(fixture, part)
      const find = vi.spyOn(fixture.records.compositions, 'find')
      const file = await compose(unixfs, ids)
      expect(file.sizeBytes).toBe(sizeBytes)
      expect(find.mock.calls.flatMap(([{ keys }]) => keys)).toEqual([idOf(unixfs).key, `sha256:${part.sha256}`])
      const { days, stored } = await fixture.usage()
      expect([days[0]?.bytes, stored]).toEqual([sizeBytes, { bytes: sizeBytes, files: 1 }])
      expect(await compose(unixfs, ids, { tier: { dailyBytes: 0 } })).toEqual(file)
      expect((await fixture.usage()).days[0]?.bytes).toBe(sizeBytes)
      expect(await fixture.records.quotas.checkDrift()).toEqual([])
    })

    it('is refused when the day has no room for it, before anything of it is looked at but its size', async () => {
      await recordPart(fixture, part)
      const stat = vi.fn()
      const factsOf = vi.spyOn(fixture.records.compositions, 'factsOf')
      const deps = { blobs: { ...fixture.blobs, stat } }
      expect(await failure(compose(unixfs, ids, { tier: { dailyBytes: sizeBytes - 1 }, deps }))).toMatchObject({
        code: 'quota_exceeded',
        evidence: { used: PART_BYTES, limit: sizeBytes - 1 },
        message: expect.stringContaining('used today; this upload is'),
      })
      expect(await failure(compose(unixfs, ids, { tier: { fileBytes: sizeBytes - 1 }, deps }))).toMatchObject({
        code: 'too_large',
      })
      expect([stat.mock.calls.length, factsOf.mock.calls.length]).toEqual([0, 0])
      expect(await compose(unixfs, ids, { tier: { dailyBytes: sizeBytes } })).toMatchObject({ sizeBytes })
    })

    it('is refused by the transaction when the day fills up meanwhile', async () => {
      await recordPart(fixture, part)
      const stat = async (sha256: string) => {
        await recordPart(fixture, fakePart('other'))
        return { sha256, put: '', sizeBytes: PART_BYTES }
      }
      const refused = compose(unixfs, ids, {
        tier: { dailyBytes: sizeBytes, name: 'sponsored' },
        deps: { blobs: { ...fixture.blobs, stat } },
      })
      expect(await failure(refused)).toMatchObject({ code: 'rate_limited', evidence: { used: 2 * PART_BYTES } })
      expect((await fixture.usage()).stored.files).toBe(2)
    })
  })

  it('draws a refusal of thousands of parts on the budget: little, and then no more', async () => {
    const rounds = 10
    const refuse = (round: number) =>
      compose(
        sha256Hex(Buffer.from(`${round}`)),
        Array.from({ length: MAX_PARTS }, (_, index) => idOf(sha256Hex(Buffer.from(`${round} ${index}`)))),
      )
    for (let round = 0; round < rounds; round += 1) {
      expect(await failure(refuse(round))).toMatchObject({ code: 'missing_parts', evidence: { count: MAX_PARTS } })
    }
    expect(spent.every(({ principal, work }) => principal === PRINCIPAL && work === 'compose')).toBe(true)
    const spentMs = spent.reduce((sum, { processorMs }) => sum + processorMs, 0)
    expect(spentMs).toBeGreaterThan(0)
    expect(spentMs / rounds).toBeLessThan(50)

    budget.spend({ principal: PRINCIPAL, work: 'compose', processorMs: 20_000 })
    const find = vi.spyOn(fixture.records.compositions, 'find')
    expect(await failure(refuse(0))).toMatchObject({ code: 'over_budget', evidence: { work: 'compose' } })
    expect(find).not.toHaveBeenCalled()
    expect(
      await failure(
        compose(sha256Hex(Buffer.from('x')), [idOf(sha256Hex(Buffer.from('y')))], { tier: { principal: 'user:2' } }),
      ),
    ).toMatchObject({ code: 'missing_parts' })
  })

  describe('that reads', () => {
    // So many that hashing them takes several ticks, by which some kernels count the time of a thread.
    const part = patternBytes(8_000_000)
    const right = blake3Cid(hexOf(blake3.of(part)))
    const wrong = blake3Cid(hexOf(blake3.of(patternBytes(9))))
    const parts = [idOf(sha256Hex(part))]
    beforeEach(async () => {
      await fixture.stage(part, { tier: WIDE, deps: { inlineBytes: 10_000_000 } })
    })
    /** How often what was read has been made unpaid, and that the bytes had paid for all of it before. */
    const unpaidReadings = (takeBack: MockInstance<WorkBudget['takeBack']>) =>
      takeBack.mock.calls.map(([{ principal, work, paidMs }]) => ({ principal, work, isPaid: paidMs > 0 }))

    it('is paid by the parts when there is a new file, and by nothing when there is none', async () => {
      const deps = { blobs: fixture.blobs }
      const takeBack = vi.spyOn(budget, 'takeBack')
      const unpaid = { principal: PRINCIPAL, work: 'compose', isPaid: true }
      expect(await failure(compose(wrong, parts, { deps }))).toMatchObject({ code: 'cid_mismatch' })
      expect(unpaidReadings(takeBack)).toEqual([unpaid])
      // One part is a file of the same bytes already.
      await compose(right, parts, { deps })
      expect(unpaidReadings(takeBack)).toEqual([unpaid, unpaid])
      await fixture.records.files.remove({
        principal: PRINCIPAL,
        key: `sha256:${sha256Hex(part)}`,
        now: fixture.clock.now,
      })
      await fixture.stage(part, { cid: 'myfile0001', tier: WIDE, deps: { inlineBytes: 10_000_000 } })
      const other = blake3Cid(hexOf(blake3.of(part)))
      expect(await compose(other, [idOf('myfile0001')], { deps })).toMatchObject({ sizeBytes: part.length })
      expect(unpaidReadings(takeBack)).toEqual([unpaid, unpaid])
    })

    it('waits for the one before, and is refused when that has used up the budget', async () => {
      const readings = new FairQueue({ work: 'compose', budget, slots: 4, slotsPerPrincipal: 1 })
      let reading = 0
      let most = 0
      const hashers: ComposeDeps['hashers'] = (...args) => {
        reading += 1
        most = Math.max(most, reading)
        const hasher = hashContentHere(...args)
        return {
          ...hasher,
          update: (bytes) => hasher.update(bytes),
          digests: () => hasher.digests(),
          discard: () => {
            reading -= 1
            hasher.discard()
          },
        }
      }
      const attempts = Array.from({ length: 3 }, () =>
        failure(compose(wrong, parts, { deps: { blobs: fixture.blobs, readings, hashers } })),
      )
      const codes = (await Promise.all(attempts)).map((error) => (error as { code?: string }).code)
      expect([codes, most, reading]).toEqual([['cid_mismatch', 'cid_mismatch', 'cid_mismatch'], 1, 0])

      const emptying: ComposeDeps['hashers'] = (...args) => {
        budget.spend({ principal: PRINCIPAL, work: 'hash', processorMs: 20_000 })
        return hashContentHere(...args)
      }
      const both = [0, 1].map(() =>
        failure(compose(wrong, parts, { deps: { blobs: fixture.blobs, readings, hashers: emptying } })),
      )
      const after = (await Promise.all(both)).map((error) => (error as { code?: string }).code)
      expect(after).toEqual(['cid_mismatch', 'over_budget'])
    })
  })
})

function idOf(cid: string): ContentId {
  return parseContentId(cid, sha256Hex)
}
