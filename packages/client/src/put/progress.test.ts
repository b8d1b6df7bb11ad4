import { describe, expect, it } from 'vitest'
import type { PutProgress } from '../options.ts'
import { ProgressMeter } from './progress.ts'

const MIB = 1_048_576

function meterWith() {
  const reports: PutProgress[] = []
  const meter = new ProgressMeter(
    (progress) => reports.push(progress),
    (error) => {
      throw error
    },
  )
  return { meter, reports }
}

describe('ProgressMeter', () => {
  it('keeps what was sent of a part when less of it is sent again', () => {
    const { meter, reports } = meterWith()
    meter.known(20, 2)
    meter.sending(0, 9)
    meter.sending(0, 2)
    meter.sending(1, 5)
    meter.composing()
    expect(reports.at(-1)).toMatchObject({ phase: 'composing', sentBytes: 14 })
  })

  it('does not go back to an earlier phase', () => {
    const { meter, reports } = meterWith()
    meter.composing()
    meter.sending(0, 1)
    meter.hashed(1)
    meter.done(1, false)
    expect(reports.map(({ phase }) => phase)).toEqual(['composing', 'done'])
  })

  it('reports no more often than every 50 ms within a phase', () => {
    const { meter, reports } = meterWith()
    const begun = performance.now()
    for (let count = 0; count < 10_000; count += 1) meter.hashed(MIB)
    expect(reports.length).toBeLessThanOrEqual(1 + (performance.now() - begun) / 50)
    expect(reports.length).toBeGreaterThan(0)
  })

  it('counts what was found as there, whatever had been sent by then', () => {
    const { meter, reports } = meterWith()
    meter.known(30, 3)
    meter.arrived(1, 10, 'sent')
    meter.done(30, true)
    expect(reports.at(-1)).toMatchObject({ sentBytes: 30, parts: { total: 3, sent: 1, found: 2 } })
  })
})
