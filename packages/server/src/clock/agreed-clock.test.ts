import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgreedClock, SAMPLE_MS, TOLERANCE_MS, type Verdict } from './agreed-clock.ts'
import type { ClockStep, LastSeen } from './clock-marks.ts'
import { FakeRunningTime } from './testing-running-time.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [10 * MINUTE, -10 * MINUTE, 2 * DAY, -2 * DAY, 400 * DAY]

/** A machine with a clock that can be set, and records that keep what clocks write. */
class Machine {
  readonly running = new FakeRunningTime()
  /** The source is this far ahead of the true time. */
  aheadMs = 0
  trueMs = NOW
  seen: LastSeen | undefined
  step: ClockStep | undefined
  clock = this.#start('a').clock

  #start(by: string): { clock: AgreedClock; verdict: Verdict } {
    const clock = new AgreedClock({ by, running: this.running })
    const verdict = clock.begin(this.reading)
    this.#act(clock, verdict)
    this.seen = clock.lastSeen()
    return { clock, verdict }
  }

  get reading() {
    return { sourceMs: this.trueMs + this.aheadMs, seen: this.seen, step: this.step }
  }

  /** Starts the service again. */
  restart(): Verdict {
    const { clock, verdict } = this.#start('a')
    this.clock = clock
    return verdict
  }

  pass(ms: number): void {
    this.running.pass(ms)
    this.trueMs += ms
  }

  /** The machine is off for so long. */
  reboot(ms: number): void {
    this.trueMs += ms
    this.running.reboot()
  }

  /** One sample, with all that it leads to. */
  sample(clock = this.clock): Verdict['kind'] {
    this.pass(SAMPLE_MS)
    const verdict = clock.observe(this.reading)
    this.#act(clock, verdict)
    this.seen = clock.lastSeen()
    return verdict.kind
  }

  /** Samples for so long, in few steps, and answers what they came to. */
  live(ms: number): Set<Verdict['kind']> {
    const verdicts = new Set<Verdict['kind']>()
    for (const end = this.trueMs + ms; this.trueMs < end; ) {
      this.pass(Math.min(MINUTE, end - this.trueMs))
      verdicts.add(this.sample())
    }
    return verdicts
  }

  #act(clock: AgreedClock, verdict: Verdict): void {
    if (!('step' in verdict)) return
    if (verdict.kind === 'believes') clock.believe()
    this.step = verdict.step
  }

  get errorMs(): number {
    return this.clock.now() - this.trueMs
  }
}

describe('the agreed time', () => {
  it('is that of the source, and goes on between two looks at it', () => {
    const machine = new Machine()
    expect(machine.errorMs).toBe(0)
    machine.pass(1234)
    expect(machine.clock.now()).toBe(NOW + 1234)
    expect(machine.sample()).toBe('agrees')
    expect(machine.clock.endsAt()).toBeUndefined()
  })

  it.each([-59_000, -2500, -1, 1, 2500, 59_000])('follows a difference of %d ms, and never goes backwards', (ms) => {
    const machine = new Machine()
    machine.aheadMs = ms
    let last = machine.clock.now()
    for (let look = 0; look < 120; look += 1) {
      expect(machine.sample()).toBe('agrees')
      expect(machine.clock.now()).toBeGreaterThanOrEqual(last)
      last = machine.clock.now()
    }
    expect(machine.errorMs).toBe(ms)
  })

  it.each(STEPS)(
    'goes on without a step of %d ms, holds the ends of files, and is free an hour after it is back',
    (ms) => {
      const machine = new Machine()
      machine.live(10 * MINUTE)
      machine.aheadMs = ms
      const before = machine.clock.now()
      expect(machine.sample()).toBe('doubts')
      for (let look = 0; look < 30; look += 1) expect(machine.sample()).toBe('agrees')
      expect(machine.errorMs).toBe(0)
      expect(machine.clock.endsAt()).toBe(before + SAMPLE_MS)
      expect(machine.clock.sourceAheadMs()).toBe(ms)
      machine.aheadMs = 0
      expect(machine.sample()).toBe('returned')
      expect(machine.errorMs).toBe(0)
      machine.live(58 * MINUTE)
      expect(machine.clock.endsAt()).toBe(before + SAMPLE_MS)
      machine.live(4 * MINUTE)
      expect(machine.clock.endsAt()).toBeUndefined()
      expect(machine.clock.sourceAheadMs()).toBe(0)
    },
  )

  it.each([
    [10 * MINUTE, HOUR],
    [-10 * MINUTE, HOUR],
    [3 * HOUR, 3 * HOUR],
    [2 * DAY, DAY],
    [-2 * DAY, DAY],
    [400 * DAY, DAY],
  ])('takes a step of %d ms that has been steady for %d ms', (ms, waitMs) => {
    const machine = new Machine()
    machine.aheadMs = ms
    machine.live(waitMs - 2 * MINUTE)
    expect(machine.errorMs).toBe(0)
    expect(machine.clock.endsAt()).toBeDefined()
    expect(machine.live(6 * MINUTE)).toContain('believes')
    expect(machine.errorMs).toBe(ms)
    expect(machine.clock.endsAt()).toBeUndefined()
    expect(machine.live(HOUR)).toEqual(new Set(['agrees']))
  })

  it('takes a step that the operator believes', () => {
    const machine = new Machine()
    machine.aheadMs = 400 * DAY
    machine.live(MINUTE)
    const { step, seen } = machine
    machine.step = step && seen && { ...step, isBelieved: true, believedAt: seen.at }
    expect(machine.sample()).toBe('believes')
    expect([machine.errorMs, machine.clock.endsAt()]).toEqual([400 * DAY, undefined])
  })

  it('begins to wait again when the source moves again', () => {
    const machine = new Machine()
    machine.aheadMs = 2 * DAY
    machine.live(23 * HOUR)
    machine.aheadMs = 400 * DAY
    expect(machine.live(23 * HOUR)).not.toContain('believes')
    expect(machine.errorMs).toBe(0)
    expect(machine.step?.from).toBeLessThan(NOW + HOUR)
  })

  it.each(STEPS)('knows a step of %d ms that it meets at a restart of the service from the uptime', (ms) => {
    const machine = new Machine()
    machine.pass(40 * DAY)
    expect(machine.restart().kind).toBe('agrees')
    expect([machine.errorMs, machine.clock.endsAt()]).toEqual([0, undefined])
    machine.aheadMs = ms
    machine.pass(5000)
    expect(machine.restart().kind).toBe('doubts')
    machine.live(HOUR / 2)
    machine.restart()
    expect([machine.errorMs, machine.clock.endsAt() !== undefined]).toEqual([0, true])
    machine.aheadMs = 0
    expect(machine.sample()).toBe('returned')
    expect(machine.errorMs).toBe(0)
  })

  it.each([
    [30 * 1000, 0],
    [10 * MINUTE, HOUR],
    [16 * HOUR, 16 * HOUR],
    [40 * DAY, DAY],
  ])('after %d ms off is right at once, and files end %d ms later', (offMs, waitMs) => {
    const machine = new Machine()
    const before = machine.clock.now()
    machine.reboot(offMs)
    expect(machine.restart().kind).toBe(waitMs === 0 ? 'agrees' : 'waits')
    expect(machine.errorMs).toBe(0)
    expect(machine.clock.endsAt()).toBe(waitMs === 0 ? undefined : before)
    machine.live(waitMs / 2)
    expect(machine.restart().kind).toBe('agrees')
    expect(machine.clock.endsAt()).toBe(waitMs === 0 ? undefined : before)
    machine.live(waitMs / 2 + 5 * MINUTE)
    expect([machine.errorMs, machine.clock.endsAt()]).toEqual([0, undefined])
  })

  it('leaves a wrong time that it took at the start as soon as the clock is right', () => {
    const machine = new Machine()
    const before = machine.clock.now()
    machine.reboot(MINUTE)
    machine.aheadMs = 400 * DAY
    machine.restart()
    machine.live(MINUTE)
    expect(machine.clock.endsAt()).toBe(before)
    machine.aheadMs = 0
    expect(machine.sample()).toBe('returned')
    expect([machine.errorMs, machine.clock.endsAt()]).toEqual([0, before])
  })

  it('goes on from the last-seen time when the clock is behind it after a reboot', () => {
    const machine = new Machine()
    machine.reboot(MINUTE)
    machine.aheadMs = -20 * 365 * DAY
    expect(machine.restart().kind).toBe('doubts')
    expect(machine.errorMs).toBe(-MINUTE)
  })

  it('is one for instances that start, notice a step, and take it at different moments', () => {
    const machine = new Machine()
    const other = new AgreedClock({ by: 'b', running: machine.running })
    other.begin(machine.reading)
    machine.aheadMs = -2 * DAY
    machine.sample()
    expect(machine.sample(other)).toBe('agrees')
    expect(other.endsAt()).toBe(machine.clock.endsAt())
    machine.live(DAY - 3 * MINUTE)
    machine.sample(other)
    expect(Math.abs(other.now() - machine.trueMs)).toBeLessThan(2)
    machine.live(5 * MINUTE)
    expect(machine.sample(other)).toBe('believes')
    expect(other.now()).toBe(machine.clock.now())
  })

  it('of a process that was paused is taken over from the others', () => {
    const machine = new Machine()
    const pausedTime = new FakeRunningTime()
    const paused = new AgreedClock({ by: 'b', running: pausedTime })
    paused.begin(machine.reading)
    machine.live(3 * HOUR)
    pausedTime.pass(SAMPLE_MS)
    expect(paused.observe(machine.reading)).toEqual({ kind: 'joins' })
    expect(paused.now()).toBe(machine.clock.now())
  })

  it('is that of the source when a step is taken that the source went back from meanwhile', () => {
    const machine = new Machine()
    machine.aheadMs = 60_001
    machine.restart()
    machine.live(1_258_173)
    // What is left of the step is within the tolerance, and the hour ends.
    machine.aheadMs = 36_749
    machine.live(2_361_079)
    machine.aheadMs = 57_652
    machine.restart()
    machine.pass(1)
    machine.sample()
    expect(machine.errorMs).toBeLessThanOrEqual(57_652)
  })

  it('until it takes a step, stays within the tolerance and the drift of the true time, whatever the source does', () => {
    const move = fc.record({
      aheadMs: fc.oneof(
        fc.integer({ min: -2 * TOLERANCE_MS, max: 2 * TOLERANCE_MS }),
        fc.integer({ min: -500 * DAY, max: 500 * DAY }),
      ),
      forMs: fc.integer({ min: 1, max: 50 * MINUTE }),
      isRestart: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 20 }), (moves) => {
        const machine = new Machine()
        let last = machine.clock.now()
        for (const { aheadMs, forMs, isRestart } of moves) {
          machine.aheadMs = aheadMs
          const end = machine.trueMs + forMs
          if (isRestart && machine.restart().kind === 'believes') return
          while (machine.trueMs < end) {
            machine.pass(Math.min(MINUTE, end - machine.trueMs))
            if (machine.sample() === 'believes') return
            const mostMs = TOLERANCE_MS + 0.001 * (machine.trueMs - NOW) + 1
            expect(Math.abs(machine.errorMs)).toBeLessThanOrEqual(mostMs)
            if (!isRestart) expect(machine.clock.now()).toBeGreaterThanOrEqual(last)
            last = machine.clock.now()
            const endsAt = machine.clock.endsAt()
            if (endsAt !== undefined) expect(endsAt).toBeLessThanOrEqual(machine.clock.now())
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
