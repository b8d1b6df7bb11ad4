import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryLog } from '../testing/running/running-service.ts'
import { openStagingFixture, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { heldRecords } from './held-records.ts'
import { type Clock, type ClockDeps, openClock } from './keep-clock.ts'
import { FakeRunningTime } from './testing-running-time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('openClock', () => {
  let fixture: StagingFixture
  let running: FakeRunningTime
  let lines: string[]
  let clock: Clock
  /** The system clock, which tests set. */
  let systemMs: number

  const open = (deps: Partial<ClockDeps> = {}): Promise<Clock> =>
    openClock({
      records: fixture.records,
      instanceId: 'instance-1',
      log: memoryLog(lines),
      source: () => systemMs,
      running,
      everyMs: 3_600_000,
      ...deps,
    })

  beforeEach(async () => {
    fixture = await openStagingFixture()
    running = new FakeRunningTime()
    lines = []
    systemMs = fixture.clock.now
    clock = await open()
  })

  afterEach(async () => {
    await clock.close()
    await fixture.remove()
  })

  const pass = async (ms: number, everyMs = MINUTE): Promise<void> => {
    for (let left = ms; left > 0; left -= everyMs) {
      running.pass(Math.min(left, everyMs))
      systemMs += Math.min(left, everyMs)
      await clock.sample()
    }
  }
  const logged = (): string[] => lines.map((line) => String(JSON.parse(line).msg))

  it('says once that the clock made a step, and once that it is back', async () => {
    await pass(5 * MINUTE)
    systemMs += 400 * DAY
    await pass(5 * MINUTE)
    expect(clock.state()).toEqual({ offsetMs: 400 * DAY, isDeletionPaused: true })
    expect(clock.now()).toBe(systemMs - 400 * DAY)
    systemMs -= 400 * DAY
    await pass(5 * MINUTE)
    expect(logged()).toEqual([expect.stringContaining('made a step'), expect.stringContaining('is back')])
    await pass(HOUR)
    expect(clock.state()).toEqual({ offsetMs: 0, isDeletionPaused: false })
  })

  it('keeps the doubt over a restart, and gives files that were staged meanwhile their whole term', async () => {
    systemMs += 3 * HOUR
    await pass(HOUR)
    fixture.clock.now = clock.now()
    const { file } = await fixture.stage(Buffer.from('staged while time is behind'))
    await clock.close()
    clock = await open()
    expect(clock.state()).toEqual({ offsetMs: 3 * HOUR, isDeletionPaused: true })
    await pass(2 * HOUR + 5 * MINUTE)
    expect(clock.state()).toEqual({ offsetMs: 0, isDeletionPaused: false })
    expect(clock.now()).toBe(systemMs)
    const kept = await fixture.records.files.bySequence(file.sequence)
    expect(kept?.expiresAt).toBe(file.expiresAt + 3 * HOUR)
    await pass(5 * MINUTE)
    expect(await fixture.records.files.bySequence(file.sequence)).toEqual(kept)
  })

  it('takes the time of the last upload for the last-seen time of an older version', async () => {
    const { file } = await fixture.stage(Buffer.from('staged long ago'))
    await clock.close()
    await fixture.records.inventory.setMark({ name: 'clock-seen', value: '' })
    systemMs += 400 * DAY
    clock = await open()
    expect(clock.now()).toBe(systemMs)
    expect(clock.endsAt()).toBe(file.uploadedAt)
  })

  it('goes on while the records fail, and asks a source that is slow again', async () => {
    const failing = {
      ...fixture.records.inventory,
      async setMark(): Promise<void> {
        throw new LadeError('storage_failed', { retryAfterSeconds: 5 })
      },
    }
    const slow = {
      ...fixture.records,
      inventory: failing,
      async time() {
        running.pass(60_000)
        systemMs += 60_000
        return systemMs
      },
    }
    let asked = 0
    const records = { ...slow, time: async () => (asked++ === 0 ? slow.time() : systemMs) }
    const own = await open({ records })
    expect(asked).toBe(2)
    expect(own.now()).toBe(systemMs)
    await own.close()
  })

  it('prefers the clock of the records to that of the system', async () => {
    const own = await open({ records: { ...fixture.records, time: async () => systemMs + 30_000 } })
    expect(own.now()).toBe(systemMs + 30_000)
    await own.close()
  })
})

describe('heldRecords', () => {
  it('end no file, remove no bytes, and let leases run out, while the ends of files wait', async () => {
    const fixture = await openStagingFixture()
    try {
      const { file } = await fixture.stage(Buffer.alloc(200_000, 1))
      const { principal, key, expiresAt } = file
      let endsAt: number | undefined = fixture.now()
      const records = heldRecords(fixture.records, () => endsAt)
      const later = expiresAt + 400 * DAY
      expect(await records.files.expire({ now: later, limit: 10 })).toBe(0)
      expect(await records.files.serving({ key, now: later })).toMatchObject({ outcome: 'found' })
      expect(await records.files.latest({ principal, key, now: later })).toEqual(file)
      expect(await records.files.list({ principal, now: later, limit: 10, ended: 'live' })).toEqual([file])
      const own = records.underLease(() => undefined)
      expect(await own.files.serving({ key, now: later })).toMatchObject({ outcome: 'found' })
      expect(await records.leases.take({ name: 'scrub', holder: 'a', now: 0, until: 1 })).toBeDefined()
      expect(await records.leases.take({ name: 'scrub', holder: 'b', now: later, until: later })).toBeDefined()
      const removed = await records.files.remove({ principal, key, now: later })
      expect(removed).toMatchObject({ end: 'removed', endedAt: later })
      const due = { instanceId: fixture.instanceId, now: later, limit: 10 }
      expect(await records.discards.pending(due), 'what its owner removed goes at once').toHaveLength(1)
      endsAt = undefined
      expect(await records.files.serving({ key, now: later })).toEqual({ outcome: 'gone', end: 'removed' })
    } finally {
      await fixture.remove()
    }
  })
})
