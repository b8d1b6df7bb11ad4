import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../blobs/blob-store.ts'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { openLocalProver } from '../proving/drivers/local/local-prover.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import type { CopyRecord, DealRecord } from '../records/record-store.ts'
import { localPieces } from './local-pieces.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, provedAt, timesListed } from './testing-placement.ts'

const ONE = 'https://one.example'
const _TWO = 'https://two.example'

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

describe('a placement job', () => {
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

  describe('placing', () => {
    it('sends a new file, adds it to a data set, and has it proved', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one])
      await fixture.pass(job)
      const deal = await fixture.deal(file)
      expect(deal).toMatchObject({ status: 'active', copiesWanted: 1 })
      expect(deal.pieces[0]?.copies[0]).toMatchObject({ state: 'stored', prover: ONE, dataSetId: '1', pieceId: '0' })
      expect(deal.pieces[0]?.copies[0]?.retrievableAt).toBe(deal.pieces[0]?.copies[0]?.provedAt)
      expect(one.calls.filter(({ method }) => method === 'park')).toMatchObject([
        { sourceUrl: `https://stage.example/piece/${pieceCidsOf(one)[0]}` },
      ])
      expect(job.snapshot().audits).toEqual([{ prover: ONE, passed: 1, failed: 0 }])
    })

    it('reads a small file in the storage once to prove it to itself', async () => {
      const file = await fixture.put(seededBytes(100_000, 1), { isBlob: true })
      let reads = 0
      const open: BlobStore['open'] = (sha256) => {
        reads += 1
        return fixture.blobs.open(sha256)
      }
      const blobs = { ...fixture.blobs, open }
      const local = openLocalProver({ readPiece: localPieces({ records: fixture.records, blobs }) })
      await fixture.pass(fixture.job([local], { blobs }))
      const [copy] = pieceOf(await fixture.deal(file)).copies
      expect(copy).toMatchObject({ state: 'stored', retrievableAt: copy?.provedAt, provedAt: expect.any(Number) })
      expect(reads).toBe(1)
    })

    it('is proposed once it was sent, and active only with a proof', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      one.script.pendingTurns = 8
      one.script.liesAboutBytes = true
      const job = fixture.job([one], { schedule: { coolDownMs: DAY_MS, reconcileAgainMs: DAY_MS } })
      const statuses: string[] = []
      for (let round = 0; round < 12; round += 1) {
        await fixture.pass(job, 10_000)
        statuses.push((await fixture.deal(file)).status)
      }
      expect([...new Set(statuses)]).toEqual(['proposed', 'staged', 'failed'])
    })

    it('keeps a private file here', async () => {
      const file = await fixture.put(seededBytes(5000, 1), { visibility: 'private' })
      await fixture.pass(fixture.job([one]))
      expect(await fixture.deal(file)).toMatchObject({ status: 'staged', pieces: [] })
      expect(one.calls).toEqual([])
    })

    it('spreads files over provers', async () => {
      for (let seed = 1; seed <= 6; seed += 1) await fixture.put(seededBytes(500, seed))
      await fixture.pass(fixture.job([one, two]))
      expect([one.parked.size, two.parked.size]).toEqual([3, 3])
    })

    it('asks no prover for a piece that is too small or too big for it', async () => {
      const [small] = fakeProvers(['small'], { limits: { maximumBytes: 1000 } })
      const [big] = fakeProvers(['big'], { limits: { minimumBytes: 1001 } })
      if (small === undefined || big === undefined) throw new TypeError('two provers')
      const files = [await fixture.put(seededBytes(1000, 1)), await fixture.put(seededBytes(1001, 2))]
      const placements = fixture.records.placements
      const enrolments = files.map((file) => ({
        file: file.sequence,
        copiesWanted: 1,
        as: {
          kind: 'pieces' as const,
          pieces: [{ pieceRoot: file.pieceRoot ?? '', sizeBytes: file.sizeBytes, object: file.object, offsetBytes: 0 }],
        },
      }))
      await placements.enrol({ now: fixture.clock.now, upTo: files[1]?.sequence ?? 0, enrolments })
      await fixture.pass(fixture.job([small, big]))
      expect(await Promise.all(files.map(async (file) => provedAt(await fixture.deal(file))))).toEqual([
        [['https://small.example']],
        [['https://big.example']],
      ])
    })

    it('needs no waiting, sending or slicing where this process is the only prover', async () => {
      const file = await fixture.put(seededBytes(50, 1))
      const content = seededBytes(50, 1)
      const local = openLocalProver({
        readPiece: async () => ({
          sizeBytes: 50,
          read: async (offset, length) => content.subarray(offset, offset + length),
        }),
      })
      const asked: string[] = []
      const park = async (): Promise<void> => void asked.push('park')
      const add = async (): Promise<string> => {
        asked.push('add')
        return '0x00'
      }
      const job = fixture.job([{ ...local, park, add }], { aggregateBelowBytes: 1_000_000 })
      await job.round()
      expect(pieceOf(await fixture.deal(file)).copies).toMatchObject([{ state: 'stored', dataSetId: null }])
      await fixture.pass(job)
      expect(await fixture.deal(file)).toMatchObject({ status: 'active', pieces: [{ source: { kind: 'object' } }] })
      expect(asked).toEqual([])
    })

    it('goes on with a copy of its own that is to be sent, as an older version left it', async () => {
      const file = await fixture.put(seededBytes(500, 1))
      const { placements } = fixture.records
      const { now } = fixture.clock
      const { sequence, object, pieceRoot, sizeBytes } = file
      const pieces = [{ pieceRoot: pieceRoot ?? '', sizeBytes, object, offsetBytes: 0 }]
      const enrolments = [{ file: sequence, copiesWanted: 1, as: { kind: 'pieces' as const, pieces } }]
      await placements.enrol({ now, upTo: sequence, enrolments })
      const { id: piece } = pieceOf(await fixture.deal(file))
      await placements.reconcile({ piece, add: ['local'], release: [], nextAt: null, failure: null, now })
      await fixture.pass(fixture.job([openLocalProver({ readPiece: localPieces(fixture) })]))
      expect(provedAt(await fixture.deal(file))).toEqual([['local']])
      await fixture.remove(file)
      await fixture.pass(
        fixture.job([openLocalProver({ readPiece: localPieces(fixture) })], { instanceId: 'instance-1' }),
      )
      expect(await placements.removable({ now: fixture.clock.now, limit: 10 })).toEqual([])
    })

    it('puts several pieces into one addition, and makes one data set', async () => {
      for (let seed = 1; seed <= 5; seed += 1) await fixture.put(seededBytes(500, seed))
      await fixture.pass(fixture.job([one]))
      const late = await fixture.put(seededBytes(500, 6))
      await fixture.pass(fixture.job([one], { instanceId: 'instance-1' }))
      expect([...one.dataSets.values()].map((pieces) => pieces.length)).toEqual([6])
      expect((await fixture.deal(late)).status).toBe('active')
    })

    it('gives both users of the same bytes one piece', async () => {
      const bytes = seededBytes(5000, 1)
      const files = [await fixture.put(bytes), await fixture.put(bytes, { principal: 'user:2' })]
      await fixture.pass(fixture.job([one]))
      const deals = await Promise.all(files.map((file) => fixture.deal(file)))
      expect(deals.map(({ status }) => status)).toEqual(['active', 'active'])
      expect(one.calls.filter(({ method }) => method === 'park')).toHaveLength(1)
    })
  })

  describe('redundancy', () => {
    const names = ['one', 'two', 'three']

    it('places two copies with two of three provers, and keeps two when one fails', async () => {
      const provers = fakeProvers(names)
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job(provers, { copies: 2 })
      await fixture.pass(job)
      const [held = []] = provedAt(await fixture.deal(file))
      expect(held).toHaveLength(2)
      const failing = provers.find(({ name }) => name === held[0])
      if (failing !== undefined) failing.script.liesAboutBytes = true
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job)
      const [after = []] = provedAt(await fixture.deal(file))
      expect(after).toHaveLength(2)
      expect(after).not.toContain(held[0])
    })

    it('is raised and lowered, and what is too much leaves the data set', async () => {
      const provers = fakeProvers(names)
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job(provers)
      await fixture.pass(job)
      const want = (copies: number) =>
        fixture.records.placements.want({ file: file.sequence, copies, now: fixture.clock.now })
      const listed = async () => timesListed(provers, pieceOf(await fixture.deal(file)))
      await want(3)
      await fixture.pass(job)
      expect(provedAt(await fixture.deal(file))[0]).toHaveLength(3)
      expect(await listed()).toBe(3)
      await want(1)
      await fixture.pass(job)
      expect(provedAt(await fixture.deal(file))[0]).toHaveLength(1)
      expect(await listed()).toBe(1)
    })

    it('is as much as there are provers, and stays active', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one], { copies: 2 })
      await fixture.pass(job, 60_000)
      await fixture.pass(job, 3_600_000, 100_000)
      expect(await fixture.deal(file)).toMatchObject({ status: 'active', cause: null })
    })
  })

  describe('a file that is removed', () => {
    it('releases its copies, and provers are told', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one])
      await fixture.pass(job)
      const piece = pieceOf(await fixture.deal(file))
      await fixture.remove(file)
      one.script.isUnreachable = true
      await fixture.pass(job)
      expect(timesListed([one], piece)).toBe(1)
      one.script.isUnreachable = false
      await fixture.pass(job, 1_000_000, 50_000)
      expect(timesListed([one], piece)).toBe(0)
      expect(copiesOf(await fixture.deal(file))).toEqual(['o released'])
    })

    it('keeps the copy that somebody else needs', async () => {
      const bytes = seededBytes(5000, 1)
      const [mine, theirs] = [await fixture.put(bytes), await fixture.put(bytes, { principal: 'user:2' })]
      const job = fixture.job([one])
      await fixture.pass(job)
      await fixture.remove(mine)
      await fixture.pass(job)
      expect(copiesOf(await fixture.deal(theirs))).toEqual(['o stored'])
    })
  })

  describe('auditing', () => {
    it('repeats every day, give or take a tenth, with another seed', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job([one])
      const seeds = new Set<string | null | undefined>()
      for (let day = 0; day < 10; day += 1) {
        await fixture.pass(job, DAY_MS, 3_600_000)
        seeds.add((await lastAudit(file))?.seed)
      }
      const audits = await fixture.records.placements.audits({ file: file.sequence, limit: 100 })
      expect(audits.length).toBeGreaterThanOrEqual(10)
      expect(audits.length).toBeLessThanOrEqual(12)
      expect(seeds.size).toBeGreaterThanOrEqual(8)
      const gaps = audits.slice(1).map(({ at }, index) => (audits[index]?.at ?? 0) - at)
      for (const gap of gaps) expect(Math.abs(gap - DAY_MS)).toBeLessThanOrEqual(0.1 * DAY_MS + 3_600_000)
    })

    it('compares bytes where a prover proves to its own chain only', async () => {
      const [curio] = fakeProvers(['curio'], { auditedBy: 'retrieval' })
      if (curio === undefined) throw new TypeError('a prover')
      const file = await fixture.put(seededBytes(500_000, 1), { isBlob: true })
      const job = fixture.job([curio])
      await fixture.pass(job)
      expect(await fixture.deal(file)).toMatchObject({ status: 'active' })
      expect(curio.calls.filter(({ method }) => method === 'prove')).toEqual([])
      curio.script.liesAboutBytes = true
      fixture.clock.now += 1.1 * DAY_MS
      await fixture.pass(job)
      const failed: CopyRecord[] = (await fixture.deal(file)).pieces.flatMap(({ copies }) =>
        copies.filter(({ state }) => state === 'failed'),
      )
      expect(failed[0]?.cause).toMatch(/^The 65536 bytes at offset \d+ differ from the piece\.$/)
    })
  })

  describe('the lease', () => {
    it('lets one of two processes work, and the other one take over', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      const first = fixture.job([one], { instanceId: 'instance-1' })
      const second = fixture.job([one], { instanceId: 'instance-2' })
      expect(await first.round()).toMatchObject({ isMine: true })
      expect(await second.round()).toEqual({ isMine: false, isBusy: false })
      await first.stop()
      expect(await second.round()).toMatchObject({ isMine: true })
      await fixture.pass(second)
      expect((await fixture.deal(file)).status).toBe('active')
    })

    it('of a process that died runs out', async () => {
      const dead = fixture.job([one], { instanceId: 'instance-1' })
      const second = fixture.job([one], { instanceId: 'instance-2' })
      await dead.round()
      fixture.clock.now += 9000
      expect(await second.round()).toMatchObject({ isMine: false })
      fixture.clock.now += 1001
      expect(await second.round()).toMatchObject({ isMine: true })
    })
  })

  it('goes on after a step that fails, and says so in the log', async () => {
    const file = await fixture.put(seededBytes(5000, 1))
    let failures = 2
    const placements = {
      ...fixture.records.placements,
      unreconciled: async (request: { now: number; limit: number }) => {
        failures -= 1
        if (failures >= 0) throw new Error('the records are tired')
        return fixture.records.placements.unreconciled(request)
      },
    }
    const tired = { ...fixture.records, placements }
    const records = { ...tired, underLease: () => tired }
    await fixture.pass(fixture.job([one], { records }), 90_000)
    expect((await fixture.deal(file)).status).toBe('active')
    expect(fixture.logLines.filter((line) => line.includes('the records are tired'))).toHaveLength(2)
  })

  it('runs the proposer of deals in the same lease, as often as it asks', async () => {
    let rounds = 0
    const proposer = {
      round: async () => {
        rounds += 1
        return { nextInMs: 20 }
      },
    }
    const job = fixture.job([one], { proposer })
    const follower = fixture.job([one], { proposer, instanceId: 'instance-2' })
    job.start()
    await expect.poll(() => rounds, { timeout: 5000 }).toBeGreaterThan(0)
    await job.round()
    expect(await follower.round()).toMatchObject({ isMine: false })
    await job.stop()
  })

  it('is woken by what comes', async () => {
    const job = fixture.job([one])
    job.start()
    await new Promise((resolve) => setTimeout(resolve, 200))
    const file = await fixture.put(seededBytes(5000, 1))
    const startedAt = performance.now()
    job.wake()
    await expect.poll(async () => (await fixture.records.placements.deals([file.sequence])).length).toBe(1)
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })
})
