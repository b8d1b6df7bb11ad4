import { setTimeout as sleep } from 'node:timers/promises'
import { pieceCidOf } from '@lade/core/content'
import { type AnswerFault, type ProverFaults, startProver } from '@lade/prover'
import { openHttpProver } from '@lade/server/proving'
import { openPlacementFixture, type PlacementFixture } from '@lade/server/testing/placement'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PLAN } from './plan.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { tempDirectory } from './temp-directory.ts'

const PROVERS = 4
/** Of all answers of a prover, and of all transactions, so many go wrong. */
const FAULTY_ANSWERS = 0.12
const REJECTED = 0.05
/** Of all pieces, so many are lost by one of the provers, or rot there. */
const ILL_FATED = 0.15
/** How often a piece is asked for before it is lost. */
const LOST_AFTER = 4
/** Far more than are made, so that none is overlooked. */
const MAX_DATA_SETS = 20
const TIMEOUT_MS = 1_200_000
/** As often as leaves time for everything else. */
const AUDIT_SECONDS = Math.ceil(PLAN.stormFiles / 40)

/** Everything at a hundredth of the time that it takes otherwise. */
const SCHEDULE = {
  firstRetryMs: 50,
  maxRetryMs: 1000,
  maxRetryAfterMs: 500,
  attempts: 6,
  followMs: 100,
  auditRetryMs: [200, 400, 800],
  proofDeadlineMs: 3000,
  callDeadlineMs: 5000,
  removalCheckMs: 1000,
  coolDownMs: 1000,
  reconcileAgainMs: 500,
}

const ANSWER_FAULTS: readonly AnswerFault[] = [
  { kind: 'refuse', when: 'before' },
  { kind: 'refuse', when: 'after' },
  { kind: 'refuse', when: 'before', status: 503, retryAfterSeconds: 1 },
  { kind: 'cut', when: 'before' },
  { kind: 'cut', when: 'after' },
  { kind: 'late', when: 'before', delayMs: 300 },
  { kind: 'late', when: 'after', delayMs: 1500 },
  { kind: 'never', when: 'after' },
  { kind: 'twice' },
]

/** What goes wrong at one of the provers while the storm lasts, and with pieces for good. */
function stormAt(place: number, random: SeededRandom, storm: { isOver: boolean }): ProverFaults {
  const asked = new Map<string, number>()
  return {
    answer: () => (storm.isOver || random.next() > FAULTY_ANSWERS ? undefined : random.pick(ANSWER_FAULTS)),
    isRejected: (txHash) => Number.parseInt(txHash.slice(2, 10), 16) / 2 ** 32 < REJECTED,
    piece(pieceCid) {
      // The end of a piece CID is part of its root, and so as good as random.
      const fate = seededRandom([...pieceCid.slice(-8)].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 0))
      const isIllFated = fate.next() < ILL_FATED && fate.between(0, PROVERS - 1) === place
      if (!isIllFated) return undefined
      if (fate.next() < 0.5) return { kind: 'flipped', offsetBytes: fate.between(0, 400) }
      const times = (asked.get(pieceCid) ?? 0) + 1
      asked.set(pieceCid, times)
      return times > LOST_AFTER ? { kind: 'lost' } : undefined
    },
  }
}

async function startProvers(random: SeededRandom, storm: { isOver: boolean }): Promise<string[]> {
  const started = Array.from({ length: PROVERS }, (_, place) => {
    const faults = stormAt(place, random, storm)
    return startProver({ dir: tempDirectory(), findDelayMs: 20, confirmDelayMs: 100, drainMs: 100, faults })
  })
  const provers = await Promise.all(started)
  onTestFinished(async () => void (await Promise.all(provers.map((prover) => prover.close()))))
  return provers.map(({ url }) => url)
}

/** How often each piece stands in the data sets of a prover, by the prover's own word. Those whose making was rejected are not there. */
async function listedAt(origin: string): Promise<Map<string, number>> {
  const listed = new Map<string, number>()
  for (let id = 1; id <= MAX_DATA_SETS; id += 1) {
    const answer = await fetch(`${origin}/pdp/data-sets/${id}`)
    if (answer.status === 404) continue
    const { pieces } = (await answer.json()) as { pieces: { pieceCid: string }[] }
    for (const { pieceCid } of pieces) listed.set(pieceCid, (listed.get(pieceCid) ?? 0) + 1)
  }
  return listed
}

interface StormFile {
  readonly sequence: number
  readonly copies: number
}

/** One sentence for each file that is not where it should be. */
async function misplaced(fixture: PlacementFixture, origins: readonly string[], files: readonly StormFile[]) {
  const listed = await Promise.all(origins.map(listedAt))
  const deals = await fixture.records.placements.deals(files.map(({ sequence }) => sequence))
  return deals.flatMap(({ file, status, pieces, copiesWanted }) => {
    const held = pieces.flatMap(({ copies }) =>
      copies.filter(({ endedAt, provedAt }) => endedAt === null && provedAt !== null),
    )
    const [piece] = pieces
    const times = piece === undefined ? [] : listed.map((at) => at.get(pieceCidOf(piece)) ?? 0)
    const total = times.reduce((sum, count) => sum + count, 0)
    const isRight = status === 'active' && held.length === copiesWanted && total === copiesWanted
    const provers = held.map(({ prover }) => prover)
    return isRight ? [] : [`file ${file} is ${status}, wants ${copiesWanted}, held at ${provers}, listed ${times}`]
  })
}

describe('provers that fail at random', () => {
  test('end with exactly the copies that are wanted of every file, each of them proved', async () => {
    const random = seededRandom(runSeed)
    const storm = { isOver: false }
    const origins = await startProvers(random, storm)
    const fixture = await openPlacementFixture()
    onTestFinished(() => fixture.close())
    const now = (): number => Date.now()
    const times = { connectMs: 1000, headMs: 1000, bodyMs: 1000, idleMs: 1000 }
    const provers = origins.map((origin) =>
      openHttpProver({
        origin,
        kind: 'reference',
        times,
        transactionMs: 2000,
        retryDelayMs: 50,
        parkMs: 10_000,
        findMs: 1000,
        pollMs: 50,
        breaker: { openMs: 200 },
      }),
    )
    onTestFinished(async () => void (await Promise.all(provers.map((prover) => prover.close()))))

    const files: StormFile[] = []
    const job = fixture.job(provers, { now, schedule: SCHEDULE, copies: 1, auditSeconds: AUDIT_SECONDS })
    job.start()
    fixture.clock.now = Date.now()
    for (let number = 0; number < PLAN.stormFiles; number += 1) {
      const bytes = Buffer.alloc(random.between(400, 6000), `file ${number} of ${runSeed} `)
      const { sequence } = await fixture.put(bytes)
      files.push({ sequence, copies: 1 + (number % 3) })
      job.wake()
    }
    const end = performance.now() + TIMEOUT_MS
    // Each has been active once: that all are at one moment would be too much to ask of a storm.
    const unraised = new Map(files.map(({ sequence, copies }) => [sequence, copies]))
    const inactive = new Set(unraised.keys())
    while (inactive.size > 0 && performance.now() < end) {
      for (const [file, copies] of unraised) {
        if (await fixture.records.placements.want({ file, copies, now: now() })) unraised.delete(file)
      }
      await sleep(500)
      for (const { file, status } of await fixture.records.placements.deals([...inactive])) {
        if (status === 'active' && !unraised.has(file)) inactive.delete(file)
      }
    }
    expect([...inactive], `seed ${runSeed}`).toEqual([])
    storm.isOver = true
    // What the storm has lost is found by the audits, and what it has left behind is removed.
    let wrong: readonly string[]
    do {
      await sleep(1000)
      wrong = await misplaced(fixture, origins, files)
    } while (wrong.length > 0 && performance.now() < end)
    expect(wrong, `seed ${runSeed}`).toEqual([])
    const { copiesMoved, audits } = job.snapshot()
    expect(copiesMoved).toBeGreaterThan(0)
    expect(audits.reduce((sum, { failed }) => sum + failed, 0)).toBeGreaterThan(0)
    process.stdout.write(`${JSON.stringify({ files: files.length, ...job.snapshot() })}\n`)
    await job.stop()
  })
})
