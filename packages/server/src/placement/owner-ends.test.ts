import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { openLocalProver } from '../proving/drivers/local/local-prover.ts'
import type { Prover } from '../proving/prover.ts'
import { localPieces } from './local-pieces.ts'
import type { PlacementJob } from './placement-job.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, provedAt } from './testing-placement.ts'

/** What the owners of files end is no failure of a prover: nothing is counted that the alerts of operators read. */

let fixture: PlacementFixture
let local: Prover
beforeEach(async () => {
  fixture = await openPlacementFixture()
  local = openLocalProver({ readPiece: localPieces(fixture) })
})
afterEach(() => fixture.close())

const DUE_AGAIN_MS = 1.2 * DAY_MS

/** What happens while this process is audited, before and after it has looked for the bytes. */
interface Meanwhile {
  readonly before?: () => Promise<void>
  readonly after?: () => Promise<void>
}

/** A job whose only prover is this process. A small piece is read from the records; a bigger one the prover finds itself. */
function jobDuring({ before = async () => {}, after = async () => {} }: Meanwhile): PlacementJob {
  const around = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    await before()
    try {
      return await ask()
    } finally {
      await after()
    }
  }
  const { records } = fixture
  const underLease: typeof records.underLease = (fence) => {
    const leased = records.underLease(fence)
    const inlineBytes = (object: string) => around(() => leased.files.inlineBytes(object))
    return { ...leased, files: { ...leased.files, inlineBytes } }
  }
  const prove: Prover['prove'] = (question, options) => around(() => local.prove(question, options))
  return fixture.job([{ ...local, prove }], { records: { ...records, underLease } })
}

const SIZES = [
  ['a small file', 5000],
  ['a file of two sections', 150_000],
] as const

function expectNoFinding(job: PlacementJob): void {
  const { audits, copiesFailed } = job.snapshot()
  expect([copiesFailed, audits.filter(({ failed }) => failed > 0)]).toEqual([0, []])
  expect(fixture.logLines.filter((line) => line.includes('audit failed'))).toEqual([])
}

it.each(SIZES)('%s that is removed before its prover looks for it', async (_, sizeBytes) => {
  const file = await fixture.put(seededBytes(sizeBytes, 1))
  const job = jobDuring({ before: () => fixture.remove(file) })
  await fixture.pass(job)
  expectNoFinding(job)
  const { copies } = await fixture.records.placements.counts()
  expect(copies).toEqual([{ prover: 'local', state: 'released', count: 1 }])
})

it.each(SIZES)(
  '%s that is removed, and uploaded again before its prover says that it has nothing',
  async (_, sizeBytes) => {
    const bytes = seededBytes(sizeBytes, 1)
    const file = await fixture.put(bytes)
    let again: typeof file | undefined
    const job = jobDuring({
      before: async () => {
        if (again === undefined) await fixture.remove(file)
      },
      after: async () => {
        again ??= await fixture.put(bytes)
      },
    })
    await fixture.pass(job)
    expectNoFinding(job)
    if (again === undefined) throw new Error('nothing was asked')
    expect(provedAt(await fixture.deal(again))).toEqual([['local']])
  },
)

it('a file of an aggregate that this service holds beside a prover; the other files get another aggregate', async () => {
  const provers = [...fakeProvers(['one']), local]
  const gone = await fixture.put(seededBytes(3000, 1))
  const stays = await fixture.put(seededBytes(3000, 2))
  const job = fixture.job(provers, { copies: 2, aggregateBelowBytes: 10_000, aggregateSeconds: 1 })
  await fixture.pass(job, 120_000)
  expect(provedAt(await fixture.deal(stays))).toEqual([['https://one.example', 'local']])
  await fixture.remove(gone)
  fixture.clock.now += DUE_AGAIN_MS
  await fixture.pass(job, 240_000)
  expectNoFinding(job)
  expect(provedAt(await fixture.deal(stays))).toEqual([['https://one.example', 'local']])
  expect(job.snapshot().aggregatesDissolved).toBe(1)
})

it('a file of an aggregate that is removed before the aggregate was sent', async () => {
  const [one] = fakeProvers(['one'])
  if (one === undefined) throw new TypeError('one prover')
  one.script.isUnreachable = true
  const gone = await fixture.put(seededBytes(3000, 1))
  await fixture.put(seededBytes(3000, 2))
  const job = fixture.job([one], { aggregateBelowBytes: 10_000, aggregateSeconds: 1 })
  await fixture.pass(job, 20_000)
  await fixture.remove(gone)
  one.script.isUnreachable = false
  await fixture.pass(job, 600_000)
  expectNoFinding(job)
})

it('is told from a loss: a prover that has nothing of a live file fails its audit', async () => {
  const [one] = fakeProvers(['one'])
  if (one === undefined) throw new TypeError('one prover')
  await fixture.put(seededBytes(5000, 1))
  const job = fixture.job([one])
  await fixture.pass(job)
  for (const pieceCid of one.parked.keys()) one.lose(pieceCid)
  fixture.clock.now += DUE_AGAIN_MS
  await fixture.pass(job)
  expect(job.snapshot()).toMatchObject({ copiesFailed: 1, audits: [{ passed: 1, failed: 1 }] })
})
