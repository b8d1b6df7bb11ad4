import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import type { Prover } from '../proving/prover.ts'
import type { DealRecord } from '../records/record-store.ts'
import { decodeProofs } from './kept-proof.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, provedAt, timesListed } from './testing-placement.ts'

const ONE = 'https://one.example'
const TWO = 'https://two.example'

/** The states that the copies of a deal's only piece are in, by prover. */
function copiesOf({ pieces }: DealRecord): string[] {
  return pieces.flatMap(({ copies }) => copies.map(({ prover, state }) => `${new URL(prover).hostname[0]} ${state}`))
}

function pieceOf({ pieces }: DealRecord): DealRecord['pieces'][number] {
  const [piece] = pieces
  if (piece === undefined) throw new Error('the deal has no piece')
  return piece
}

function pieceCidsOf(prover: FakeProver): string[] {
  return [...prover.parked.keys()]
}

describe('a placement job, when a prover fails', () => {
  let fixture: PlacementFixture
  let one: FakeProver
  let two: FakeProver
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    const [first, second] = fakeProvers(['one', 'two'])
    if (first === undefined || second === undefined) throw new TypeError('two provers')
    one = first
    two = second
  })
  afterEach(() => fixture.close())

  const lastAudit = async (file: { sequence: number }) =>
    (await fixture.records.placements.audits({ file: file.sequence, limit: 1 }))[0]

  describe('moving a copy', () => {
    /** Places a file with both provers at hand; answers the one that has it and the one that has not. */
    async function placed(overrides: Partial<Parameters<PlacementFixture['job']>[1]> = {}) {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one, two], overrides)
      await fixture.pass(job)
      expect(provedAt(await fixture.deal(file))).toEqual([[ONE]])
      return { file, job }
    }

    it('refused for good', async () => {
      one.refuseNext('I do not like it.')
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one, two])
      await fixture.pass(job)
      const deal = await fixture.deal(file)
      expect(copiesOf(deal)).toEqual(['o failed', 't stored'])
      expect(deal.pieces[0]?.copies[0]?.cause).toBe('I do not like it.')
      expect(job.snapshot()).toMatchObject({ copiesMoved: 1, copiesFailed: 1 })
    })

    it('a prover that loses it', async () => {
      const { file, job } = await placed()
      for (const pieceCid of pieceCidsOf(one)) one.lose(pieceCid)
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
      expect(provedAt(await fixture.deal(file))).toEqual([[TWO]])
    })

    it('a prover that lies about its bytes is found out by the next audit, and ends at once', async () => {
      const { file, job } = await placed()
      one.script.liesAboutBytes = true
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
      expect(one.calls.filter(({ method }) => method === 'prove')).toHaveLength(2)
      expect(job.snapshot().audits).toContainEqual({ prover: ONE, passed: 1, failed: 1 })
    })

    it('a prover that lies from the start never makes a deal active', async () => {
      one.script.liesAboutBytes = true
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one])
      const statuses = new Set<string>()
      for (let round = 0; round < 40; round += 1) {
        await fixture.pass(job, 100_000, 50_000)
        statuses.add((await fixture.deal(file)).status)
      }
      expect(statuses).not.toContain('active')
      const audit = await lastAudit(file)
      expect(audit).toMatchObject({
        passed: false,
        cause: expect.stringContaining('does not lead to the root of the piece'),
      })
      expect(decodeProofs(audit?.proof ?? new Uint8Array())).toHaveLength(5)
    })

    it('a prover that does not answer, after three more audits', async () => {
      const { file, job } = await placed()
      one.script.isUnreachable = true
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job, 900_000, 30_000)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
      expect(one.calls.filter(({ method }) => method === 'prove')).toHaveLength(1 + 4)
    })

    it('not for one audit that was not answered', async () => {
      const { file, job } = await placed()
      one.script.isUnreachable = true
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job, 20_000)
      expect((await fixture.deal(file)).status).toBe('proposed')
      one.script.isUnreachable = false
      await fixture.pass(job)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o stored'])
      expect(provedAt(await fixture.deal(file))).toEqual([[ONE]])
    })

    it('a prover that answers after the deadline', async () => {
      const schedule = { proofDeadlineMs: 30, auditRetryMs: [] }
      const { file, job } = await placed({ schedule })
      one.script.delayMs = 120
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
      expect((await lastAudit(file))?.passed).toBe(true)
    })

    it('a prover that never answers, while others go on', async () => {
      const silent: Prover = { ...one, park: () => new Promise(() => {}) }
      const file = await fixture.put(seededBytes(5000, 1))
      const other = await fixture.put(seededBytes(5000, 2))
      const job = fixture.job([silent, two])
      job.start()
      await expect.poll(async () => (await fixture.deal(other)).status, { timeout: 10_000 }).toBe('active')
      expect((await fixture.deal(file)).status).toBe('staged')
      const stopping = performance.now()
      await job.stop()
      expect(performance.now() - stopping).toBeLessThan(2000)
    })

    it('a prover that is not to be reached when it is sent, after about an hour', async () => {
      one.script.isUnreachable = true
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one, two])
      await fixture.pass(job, 30 * 60_000, 30_000)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o pending'])
      await fixture.pass(job, 60 * 60_000, 60_000)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
      expect(one.calls.length).toBeLessThan(20)
    })

    it('a prover that rejects its addition three times', async () => {
      one.script.rejectAdditions = 'Nobody pays for it.'
      const file = await fixture.put(seededBytes(5000, 1))
      await fixture.pass(fixture.job([one, two]), 120_000)
      const deal = await fixture.deal(file)
      expect(copiesOf(deal)).toEqual(['o failed', 't stored'])
      expect(deal.pieces[0]?.copies[0]?.cause).toBe('Nobody pays for it.')
      expect(one.calls.filter(({ method }) => method === 'add')).toHaveLength(3)
    })

    it('a prover that goes away while it adds the piece, which leaves its data set when it is back', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one, two])
      one.script.pendingTurns = 1
      await fixture.pass(job, 20_000)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o adding'])
      one.script.isUnreachable = true
      await fixture.pass(job, 2 * 3_600_000, 60_000)
      const deal = await fixture.deal(file)
      expect(copiesOf(deal)).toEqual(['o failed', 't stored'])
      expect(timesListed([one, two], pieceOf(deal))).toBe(2)
      one.script.isUnreachable = false
      await fixture.pass(job, 1_800_000, 60_000)
      expect(timesListed([one], pieceOf(deal))).toBe(0)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
    })

    it('a prover whose chain rejects an addition unseen, and that is asked for it anew', async () => {
      const asked: string[] = []
      const forgetful: Prover = {
        ...one,
        async progress(addition) {
          asked.push(addition.transaction)
          if (asked.length === 1) return { state: 'pending', transaction: 'anew' }
          return one.progress({ ...addition, transaction: asked[0] ?? '' })
        },
      }
      const file = await fixture.put(seededBytes(5000, 1))
      await fixture.pass(fixture.job([forgetful]), 20_000, 2000)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o stored'])
      expect(asked).toEqual([expect.not.stringMatching('anew'), 'anew'])
    })

    it('a prover that is not configured any more', async () => {
      const { file, job } = await placed()
      await job.stop()
      await fixture.pass(fixture.job([two]))
      expect(copiesOf(await fixture.deal(file))).toEqual(['o failed', 't stored'])
    })

    it('says why no prover is left, goes on slowly, and is active once one takes it', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one, two])
      one.refuseNext('Full.')
      two.refuseNext('Full, too.')
      await fixture.pass(job, 40_000)
      expect(await fixture.deal(file)).toMatchObject({ status: 'failed', cause: expect.stringContaining('Full, too.') })
      await fixture.pass(job, 600_000, 20_000)
      expect((await fixture.deal(file)).status).toBe('active')
      expect(one.calls.length + two.calls.length).toBeLessThan(12)
    })
  })

  describe('an answer that was lost', () => {
    it.each([1, 2, 3, 5, 8])('of the first %i calls changes nothing but the time', async (lostAnswers) => {
      one.script.lostAnswers = lostAnswers
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one])
      await fixture.pass(job, 60_000)
      await fixture.pass(job, 3_000_000, 100_000)
      const deal = await fixture.deal(file)
      expect(deal.status).toBe('active')
      expect(timesListed([one], pieceOf(deal))).toBe(1)
    })
  })
})
