import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { leastBytesPerMinute, StallWatch } from './stall-watch.ts'

const KIB = 1024

describe('StallWatch', () => {
  let watch: StallWatch
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) })
    watch = new StallWatch({ idleMs: 30_000, now: Date.now })
  })
  afterEach(() => {
    watch.close()
    vi.useRealTimers()
  })

  it('ends a body that brings nothing for the idle time, and says how much had come', () => {
    const controller = new AbortController()
    const body = watch.watch(controller)
    vi.advanceTimersByTime(10_000)
    body.progress(77)
    vi.advanceTimersByTime(29_000)
    expect(controller.signal.aborted).toBe(false)
    vi.advanceTimersByTime(2000)
    const { reason } = controller.signal
    expect(LadeError.has(reason, 'body_timeout') && reason.evidence.receivedBytes).toBe(77)
    expect(watch.count).toBe(0)
  })

  it('counts no time in which nobody took from the body', () => {
    const controller = new AbortController()
    let isAwaited = false
    const body = watch.watch(controller, () => isAwaited)
    vi.advanceTimersByTime(300_000)
    expect(controller.signal.aborted).toBe(false)
    isAwaited = true
    vi.advanceTimersByTime(28_000)
    expect(controller.signal.aborted).toBe(false)
    vi.advanceTimersByTime(3000)
    expect(controller.signal.aborted).toBe(true)
    body.end()
  })

  it('lets a body go on for hours that brings a little more than the least', () => {
    const controller = new AbortController()
    const body = watch.watch(controller)
    for (let second = 1; second <= 6 * 3600; second += 1) {
      vi.advanceTimersByTime(1000)
      body.progress(second * 1100)
    }
    expect(controller.signal.aborted).toBe(false)
    body.end()
  })

  it('ends a body that drips, in the first minute that brings less than 60 KiB', () => {
    const controller = new AbortController()
    const body = watch.watch(controller)
    let receivedBytes = 0
    const runSeconds = (seconds: number, bytesPerSecond: number) => {
      for (let second = 0; second < seconds; second += 1) {
        receivedBytes += bytesPerSecond
        body.progress(receivedBytes)
        vi.advanceTimersByTime(1000)
      }
    }
    runSeconds(120, 64 * KIB)
    expect(controller.signal.aborted).toBe(false)
    runSeconds(61, 1)
    expect(controller.signal.reason).toMatchObject({ code: 'body_timeout' })
  })

  it('asks more of a big body, and no more than half of 1 Mbit/s of any', () => {
    const [slow, quick] = [new AbortController(), new AbortController()]
    const huge = 5 * 2 ** 30
    const bodies = [watch.watch(slow, undefined, huge), watch.watch(quick, undefined, huge)]
    for (let second = 1; second <= 61; second += 1) {
      bodies[0]?.progress(second * 60_000)
      bodies[1]?.progress(second * 63_000)
      vi.advanceTimersByTime(1000)
    }
    expect([slow.signal.aborted, quick.signal.aborted]).toEqual([true, false])
    const least = [1, 84 * KIB * KIB, 85 * KIB * KIB, 512 * KIB * KIB, huge, 2 ** 40].map(leastBytesPerMinute)
    expect(least).toEqual([60 * KIB, 60 * KIB, 61_895, 372_827, 3_728_270, 3_750_000])
  })

  it('leaves a body alone that has ended', () => {
    const controller = new AbortController()
    const body = watch.watch(controller)
    body.end()
    body.end()
    vi.advanceTimersByTime(600_000)
    expect(controller.signal.aborted).toBe(false)
    expect(watch.count).toBe(0)
  })

  it('watches each body by itself', () => {
    const idle = new AbortController()
    const busy = new AbortController()
    watch.watch(idle)
    const body = watch.watch(busy)
    for (let second = 1; second <= 40; second += 1) {
      vi.advanceTimersByTime(1000)
      body.progress(second * 100 * KIB)
    }
    expect([idle.signal.aborted, busy.signal.aborted]).toEqual([true, false])
    expect(watch.count).toBe(1)
  })

  it('ends every body with the reason of a shutdown', () => {
    const controllers = [new AbortController(), new AbortController()]
    for (const controller of controllers) watch.watch(controller)
    const reason = new LadeError('shutting_down', { retryAfterSeconds: 5 })
    watch.abortAll(reason)
    expect(controllers.map(({ signal }) => signal.reason)).toEqual([reason, reason])
  })

  it('watches nothing any more once it is closed', () => {
    const controller = new AbortController()
    watch.watch(controller)
    watch.close()
    vi.advanceTimersByTime(600_000)
    expect(controller.signal.aborted).toBe(false)
  })

  it('looks more often when the idle time is short', () => {
    const quick = new StallWatch({ idleMs: 400, now: Date.now })
    const controller = new AbortController()
    quick.watch(controller)
    vi.advanceTimersByTime(500)
    expect(controller.signal.aborted).toBe(true)
    quick.close()
  })
})
