import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Caller, send, sponsoredCaller, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { type FakeClock, fakeClock, faketime } from './fake-clock.ts'
import { describeScenario } from './harness.ts'
import { brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { FULL_PLAN_ONLY, PLAN } from './plan.ts'
import { MAIN, type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const MINUTE = 60
const DAY = 86_400
const JUMPS = [400 * DAY, -2 * DAY, 10 * MINUTE, 2 * DAY, -10 * MINUTE] as const
/** More than a round of upkeep and two looks at the clock. */
const ROUND_MS = 7000
const SIZES = [100, 5000, 70_000, 300_000]

/** How the service meets the jump. */
const MEETINGS = [
  'restarted after it',
  'started again under it',
  'running',
  'running, and again later',
  'with uploads under way',
] as const

interface Try {
  readonly jump: number
  readonly meeting: (typeof MEETINGS)[number]
  readonly isSetBack: boolean
}

/** The tries in the order of how much they show; a start does a round of upkeep before anything else. */
const TRIES: readonly Try[] = [true, false].flatMap((isSetBack) =>
  MEETINGS.flatMap((meeting) => JUMPS.map((jump) => ({ jump, meeting, isSetBack }))),
)

class Run {
  readonly ledger = new Ledger()
  readonly dataDir = tempDirectory()
  readonly clock: FakeClock = fakeClock()
  server!: ServerProcess
  callers: Caller[] = []

  async start(): Promise<void> {
    this.server = await startServer({ dataDir: this.dataDir, env: this.clock.env })
  }

  async restart(): Promise<void> {
    await this.server.stop()
    await this.start()
  }

  /** Files of a day, and of the default term, in the database and on the disk. */
  async stage(): Promise<void> {
    const { ledger, server } = this
    for (const caller of this.callers) {
      for (const sizeBytes of SIZES) {
        await ledger.upload(server.url, caller, newContent(sizeBytes))
        const ofADay = { ...caller, headers: { ...caller.headers, 'X-Term-Days': '1' } }
        await ledger.upload(server.url, ofADay, newContent(sizeBytes))
      }
    }
    expect(ledger.notAcked).toEqual([])
  }

  async broken(): Promise<string[]> {
    return brokenInvariants(this.server, this.ledger)
  }

  /** What the service says of its clock. */
  async readiness(): Promise<{ status: number; clock: unknown }> {
    const answer = await send(this.server.url, 'GET', '/readyz')
    return { status: answer.status, clock: JSON.parse(answer.body.toString()).clock }
  }
}

async function meet(run: Run, { jump, meeting }: Try): Promise<void> {
  switch (meeting) {
    case 'restarted after it':
      run.clock.set(jump)
      return run.restart()
    case 'started again under it':
      await run.server.kill()
      run.clock.set(jump)
      return run.start()
    case 'running':
      run.clock.set(jump)
      await sleep(ROUND_MS)
      return
    case 'running, and again later':
      run.clock.set(jump)
      await sleep(ROUND_MS)
      run.clock.set(2 * jump)
      await sleep(ROUND_MS)
      return
    case 'with uploads under way': {
      const staged = run.stage()
      await sleep(30)
      run.clock.set(jump)
      await staged
      await sleep(ROUND_MS)
    }
  }
}

describeScenario({ id: 'clock-jumps', name: 'a system clock that jumps', needs: [faketime] }, () => {
  test.each(TRIES.slice(0, PLAN.clockJumps))(
    'loses no file: $jump s, $meeting, set back: $isSetBack',
    async (tried) => {
      const run = new Run()
      await run.start()
      run.callers = [sponsoredCaller('192.0.2.1'), await tokenCaller(run.server.url)]
      await run.stage()
      await meet(run, tried)
      const during = await run.readiness()
      expect(during).toMatchObject({ status: 200, clock: { deletionPaused: true } })
      expect(await run.broken(), run.server.log()).toEqual([])
      // Tokens are in force, and uploads are taken and charged as ever.
      await run.stage()
      if (tried.isSetBack) {
        run.clock.set(0)
        if (tried.meeting.startsWith('re') || tried.meeting.startsWith('st')) await run.restart()
        else await sleep(ROUND_MS)
        await run.stage()
      }
      await run.ledger.upload(run.server.url, sponsoredCaller('192.0.2.2'), newContent(100_000))
      expect(run.ledger.notAcked).toEqual([])
      expect(await run.broken(), run.server.log()).toEqual([])
      expect(run.server.log()).toMatch(/the clock/)
      expect(await run.server.stop()).toEqual({ code: 0, signal: null })
    },
  )

  test.runIf(PLAN.isFull)(
    'files that ended under a clock that the operator believed come back when it is set right',
    FULL_PLAN_ONLY,
    async () => {
      const run = new Run()
      await run.start()
      run.callers = [sponsoredCaller('192.0.2.1')]
      await run.stage()
      const acceptClock = async (): Promise<void> => {
        await expect.poll(async () => (await run.readiness()).clock).toMatchObject({ deletionPaused: true })
        const flags = ['--accept-clock', '--yes', '--data-dir', run.dataDir]
        const { PATH = '' } = process.env
        await promisify(execFile)(process.execPath, [MAIN, 'doctor', ...flags], { env: { PATH, ...run.clock.env } })
        await expect.poll(async () => (await run.readiness()).clock).toEqual({ aheadSeconds: 0, deletionPaused: false })
      }
      const statuses = async (): Promise<Set<number>> => {
        const answers = run.ledger.stagings.map(({ content }) => send(run.server.url, 'GET', `/p/${content.cid}`))
        return new Set((await Promise.all(answers)).map(({ status }) => status))
      }
      run.clock.set(2 * DAY)
      await acceptClock()
      expect(await statuses(), 'those of a day and those of thirty').toEqual(new Set([200, 410]))
      await expect.poll(() => readDataDirectory(run.dataDir).files.filter(({ isLive }) => !isLive)).toHaveLength(4)
      run.clock.set(0)
      await acceptClock()
      await expect.poll(statuses).toEqual(new Set([200]))
      expect(await run.broken(), run.server.log()).toEqual([])
      expect(await run.server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
