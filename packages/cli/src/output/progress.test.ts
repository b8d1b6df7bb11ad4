import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { widthOf } from './printable.ts'
import { createProgress, lineOf } from './progress.ts'
import { TransferRate } from './transfer-rate.ts'

const MIB = 1_048_576

/** One second at 10 MiB/s. */
function tenMibPerSecond(): TransferRate {
  const rate = new TransferRate()
  for (let at = 0; at <= 10; at += 1) rate.add(at * MIB, at * 100)
  return rate
}

describe('TransferRate', () => {
  it('says nothing before half a second', () => {
    const rate = new TransferRate()
    rate.add(0, 0)
    rate.add(1000, 499)
    expect(rate.bytesPerSecond()).toBeUndefined()
  })

  it('is that of the last five seconds', () => {
    const rate = new TransferRate()
    for (let second = 0; second <= 20; second += 1) rate.add(second <= 10 ? second * 1000 : 10_000, second * 1000)
    expect(rate.bytesPerSecond()).toBe(0)
  })
})

describe('lineOf', () => {
  const view = { label: 'Sending', doneBytes: 10 * MIB, totalBytes: 40 * MIB, remark: '2 of 8 parts' }

  it('has bar, share, rate, time left and remark where there is room', () => {
    expect(lineOf(view, tenMibPerSecond(), 100)).toBe(
      'Sending  [========                      ]   25%  10.0 MiB/s  0:03 left  2 of 8 parts',
    )
  })

  it.each([79, 60, 39, 20, 5])('fits into %i columns', (width) => {
    expect(widthOf(lineOf(view, tenMibPerSecond(), width))).toBeLessThanOrEqual(width)
  })

  it('gives up the bar before the numbers', () => {
    expect(lineOf(view, tenMibPerSecond(), 44)).toBe('Sending   25%  10.0 MiB/s  0:03 left')
  })

  it('counts bytes where the whole is not known', () => {
    expect(lineOf({ label: 'Sending', doneBytes: 3 * MIB }, new TransferRate(), 80)).toBe('Sending  3.0 MiB')
  })
})

describe('createProgress', () => {
  function terminal(isTTY: boolean) {
    const chunks: string[] = []
    const stream = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
    return { stream: Object.assign(stream, { isTTY, columns: 80 }), written: () => chunks.join('') }
  }

  it('writes nothing to what is no terminal, or when it is to be quiet', () => {
    for (const [isTTY, isQuiet] of [
      [false, false],
      [true, true],
    ] as const) {
      const { stream, written } = terminal(isTTY)
      const progress = createProgress(stream, { isQuiet })
      progress.show({ label: 'Sending', doneBytes: 1, totalBytes: 2 })
      progress.stop()
      expect(written()).toBe('')
    }
  })

  it('draws one line, and takes it away at the end', () => {
    const { stream, written } = terminal(true)
    const progress = createProgress(stream)
    progress.show({ label: 'Sending', doneBytes: 1, totalBytes: 2 })
    progress.stop()
    expect(written()).toContain('Sending  [')
    expect(written()).not.toContain('\n')
    // Back to the first column, and the line erased.
    expect(written().endsWith('\x1b[1G\x1b[2K')).toBe(true)
  })

  it('makes way for what is to stay', () => {
    const { stream, written } = terminal(true)
    const progress = createProgress(stream)
    progress.show({ label: 'Sending', doneBytes: 1, totalBytes: 2 })
    progress.around(() => stream.write('done: a.txt\n'))
    expect(written().endsWith('\x1b[2Kdone: a.txt\n')).toBe(true)
    progress.show({ label: 'Sending', doneBytes: 2, totalBytes: 2 })
    progress.stop()
    expect(written()).toMatch(/100%[^\n]*$/)
  })
})
