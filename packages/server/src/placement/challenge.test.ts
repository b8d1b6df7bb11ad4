import { createHash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { challengeIndex, leafCount, verifyInclusion, verifyLeafProof } from '@lade/core/piece'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import { pieceNamed } from '../proving/piece-name.ts'
import type { Prover } from '../proving/prover.ts'
import type { FileRecord } from '../records/record-store.ts'
import { type ProvenFile, proveFile, seedOf } from './challenge.ts'
import { challengeQueues } from './challenge-queues.ts'
import { Outages } from './outages.ts'
import { DEFAULT_SCHEDULE } from './placement-schedule.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture } from './testing-placement.ts'

describe('proveFile', () => {
  let fixture: PlacementFixture
  let provers: FakeProver[]
  let budget: WorkBudget
  let queueOf: ReturnType<typeof challengeQueues>
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    provers = fakeProvers(['one', 'two'])
    budget = new WorkBudget({ log: fixture.log, networkOf: () => undefined })
    queueOf = challengeQueues(budget)
  })
  afterEach(() => fixture.close())

  const nobodyGone = new AbortController().signal
  const prove = (
    file: FileRecord,
    nonce: string,
    { principal = 'ip:192.0.2.7', signal = nobodyGone, asked = provers as readonly Prover[] } = {},
  ): Promise<ProvenFile> =>
    proveFile(
      {
        records: fixture.records,
        provers: asked,
        budget,
        queueOf,
        now: () => fixture.clock.now,
        schedule: DEFAULT_SCHEDULE,
        outages: new Outages(),
        signal: new AbortController().signal,
      },
      { file: file.sequence, visibility: file.visibility, nonce, principal, signal },
    )
  const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

  /** Checks an answer from nothing but the nonce and core, as anybody can. */
  function expectProven({ seed, pieceCid, height, proofs }: ProvenFile, nonce: string): void {
    const expected = createHash('sha256').update('lade possession').update(Buffer.of(0)).update(nonce).digest()
    expect(seed).toBe(`0x${expected.toString('hex')}`)
    const { root, rawSizeBytes } = pieceNamed(pieceCid)
    expect(proofs).toHaveLength(5)
    for (const [proofIndex, { leafIndex, leaf, proof }] of proofs.entries()) {
      const challengeRange = BigInt(leafCount(rawSizeBytes))
      expect(leafIndex).toBe(Number(challengeIndex({ seed: expected, dataSetId: 0n, proofIndex, challengeRange })))
      const checked = { root, height, leafIndex, leaf: bytesOf(leaf), proof: proof.map(bytesOf) }
      expect(verifyLeafProof(checked)).toBe(true)
    }
  }

  it('answers a proof that anybody can check', async () => {
    const file = await fixture.put(seededBytes(5000, 1))
    await fixture.pass(fixture.job(provers))
    const proven = await prove(file, 'ünïcode')
    expectProven(proven, 'ünïcode')
    expect(proven.inclusion).toBeUndefined()
    expect(proven.prover).toBe('https://one.example')
  })

  it('of a small file proves the aggregate, and that the file is in it', async () => {
    const files = [await fixture.put(seededBytes(500, 1)), await fixture.put(seededBytes(700, 2))]
    await fixture.pass(fixture.job(provers, { aggregateBelowBytes: 1000, aggregateSeconds: 0 }))
    const [file] = files as [FileRecord]
    const proven = await prove(file, 'n')
    expectProven(proven, 'n')
    const { inclusion } = proven
    if (inclusion === undefined) throw new Error('no inclusion')
    const pathOf = ({ position, siblings }: { position: number; siblings: readonly string[] }) => ({
      position,
      siblings: siblings.map(bytesOf),
    })
    const piece = pieceNamed(inclusion.pieceCid)
    expect(Buffer.from(piece.root).toString('hex')).toBe(file.pieceRoot)
    const proof = { segment: pathOf(inclusion.segment), entry: pathOf(inclusion.entry) }
    expect(verifyInclusion({ aggregate: pieceNamed(proven.pieceCid), piece, proof })).toBe(true)
  })

  it('asks the next prover when one does not answer or lies, and has the liar audited', async () => {
    const file = await fixture.put(seededBytes(5000, 1))
    const job = fixture.job(provers, { copies: 2 })
    await fixture.pass(job)
    const [one, two] = provers as [FakeProver, FakeProver]
    one.script.isUnreachable = true
    expect((await prove(file, 'a')).prover).toBe(two.name)
    one.script.isUnreachable = false
    one.script.liesAboutBytes = true
    expect((await prove(file, 'b')).prover).toBe(two.name)
    await fixture.pass(job, 10_000)
    const [deal] = await fixture.records.placements.deals([file.sequence])
    expect(deal?.pieces[0]?.copies.map(({ state }) => state)).toEqual(['failed', 'stored'])
  })

  it('error: not_placed before a copy was proved, prove_failed when no answer holds', async () => {
    const file = await fixture.put(seededBytes(5000, 1))
    const failureOf = (nonce: string) => prove(file, nonce).catch((error: unknown) => error)
    const unplaced = await failureOf('n')
    expect(LadeError.has(unplaced, 'not_placed') && unplaced.evidence).toEqual({ dealStatus: 'staged' })
    const secret = await fixture.put(seededBytes(5000, 2), { visibility: 'private' })
    await expect(prove(secret, 'n')).rejects.toThrow('The file is private, and provers get only public files.')
    await fixture.pass(fixture.job(provers))
    for (const prover of provers) prover.script.liesAboutBytes = true
    const failed = await failureOf('n')
    expect(LadeError.has(failed, 'prove_failed') && failed.evidence.reason).toContain(
      'does not lead to the root of the piece',
    )
  })

  describe('many challenges', () => {
    /** The provers with answers to challenges that come when they are let go, and what is under way there. */
    function heldProvers() {
      const { promise: letGo, resolve: release } = Promise.withResolvers<void>()
      const underWay: string[] = []
      const ended: string[] = []
      const held = (prover: FakeProver): Prover => ({
        ...prover,
        async prove(question, options) {
          underWay.push(prover.name)
          options?.signal?.addEventListener('abort', () => ended.push(prover.name))
          await letGo
          return prover.prove(question, options)
        },
      })
      return { asked: provers.map(held), underWay, ended, release }
    }
    const HERE = { timeout: 10_000 }
    const inHand = (prover: Prover | undefined): number => queueOf(prover?.name ?? '').size

    it('of one principal run two at a time, four wait, and more are refused; others have their turn', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      await fixture.pass(fixture.job(provers))
      const { asked, underWay, release } = heldProvers()
      const own = Array.from({ length: 7 }, (_, index) => prove(file, `n${index}`, { asked }))
      const outcomes = Promise.allSettled(own)
      await expect.poll(() => inHand(provers[0]), HERE).toBe(6)
      expect(underWay).toHaveLength(2)
      const other = prove(file, 'n', { asked, principal: 'ip:198.51.100.1' })
      await expect.poll(() => underWay.length, HERE).toBe(3)
      release()
      expectProven(await other, 'n')
      const refused = (await outcomes).filter((outcome) => outcome.status === 'rejected')
      expect(refused).toHaveLength(1)
      expect(refused[0]?.reason).toMatchObject({
        code: 'over_budget',
        evidence: { work: 'challenge', unit: 'requests', used: 6, limit: 6, retryAfterSeconds: 1 },
      })
    })

    it('at a prover that is slow hold up nobody at another one', async () => {
      const [one, two] = provers as [FakeProver, FakeProver]
      const file = await fixture.put(seededBytes(5000, 1))
      const job = fixture.job(provers)
      await fixture.pass(job)
      one.refuseNext('full')
      const lone = await fixture.put(seededBytes(6000, 3))
      await fixture.pass(job)
      const { asked, underWay, release } = heldProvers()
      const principals = Array.from({ length: 10 }, (_, index) => `ip:198.51.100.${index}`)
      const slow = principals.map((principal) => prove(file, principal, { asked, principal }))
      await expect.poll(() => inHand(one), HERE).toBe(10)
      expect(underWay).toEqual(Array(8).fill(one.name))
      expectProven(await prove(lone, 'n', { asked: [asked[0] as Prover, two] }), 'n')
      release()
      await Promise.all(slow)
    })

    it('end when nobody waits for them, and leave their places to others', async () => {
      const file = await fixture.put(seededBytes(5000, 1))
      await fixture.pass(fixture.job(provers))
      const { asked, underWay, ended, release } = heldProvers()
      const controller = new AbortController()
      const { signal } = controller
      const gone = [1, 2, 3].map((index) => prove(file, `n${index}`, { asked, signal }))
      const outcomes = Promise.allSettled(gone)
      await expect.poll(() => inHand(provers[0]), HERE).toBe(3)
      expect(underWay).toHaveLength(2)
      controller.abort(new Error('gone'))
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      expect(ended).toHaveLength(2)
      const last = prove(file, 'last', { asked })
      await expect.poll(() => underWay.length, HERE).toBe(3)
      release()
      expectProven(await last, 'last')
    })

    it('are charged, and refused while a principal is over its budget', async () => {
      const file = await fixture.put(seededBytes(3_000_000, 1))
      await fixture.pass(fixture.job(provers))
      const principal = 'ip:192.0.2.7'
      await prove(file, 'n')
      // Two for checking the answer, and at least one for each MiB that was read.
      expect(budget.usedMs(principal)).toBeGreaterThan(4)
      expect(budget.counters().spent.get('challenge')?.unpaidMs).toBeGreaterThan(3)
      budget.spend({ principal, work: 'challenge', processorMs: 5000 })
      await expect(prove(file, 'n')).rejects.toMatchObject({ code: 'over_budget', evidence: { work: 'challenge' } })
      expectProven(await prove(file, 'n', { principal: 'ip:198.51.100.1' }), 'n')
    })
  })

  it('refuses nonces that are no nonces', async () => {
    const file = await fixture.put(seededBytes(5000, 1))
    await expect(prove(file, '')).rejects.toThrow(TypeError)
    await expect(prove(file, 'n'.repeat(129))).rejects.toThrow(TypeError)
    expect(seedOf('n')).toHaveLength(32)
  })
})
