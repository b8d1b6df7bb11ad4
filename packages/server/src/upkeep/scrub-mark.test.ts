import { DAY_MS } from '@lade/core/time'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueBefore, isWholeWalkDue, newScrubMark, readScrubMark, writeScrubMark } from './scrub-mark.ts'

describe('dueBefore', () => {
  const mark = newScrubMark(1_000_000)
  const after = (days: number) => dueBefore(mark, 30 * DAY_MS, 1_000_000 + days * DAY_MS)

  it('grows with the time that has passed, and reaches every digest at the end of the period', () => {
    expect(after(0)).toBe('000000000000')
    expect(after(15)).toBe('800000000000')
    expect(after(30) > 'f'.repeat(64)).toBe(true)
    expect(isWholeWalkDue(mark, 30 * DAY_MS, 1_000_000 + 30 * DAY_MS - 1)).toBe(false)
    const days = fc.double({ min: 0, max: 40, noNaN: true })
    fc.assert(
      fc.property(days, days, (one, other) => {
        expect(after(Math.min(one, other)) <= after(Math.max(one, other))).toBe(true)
      }),
    )
  })

  it('has nothing due when the clock was put back', () => {
    expect(after(-3)).toBe('000000000000')
  })
})

describe('readScrubMark', () => {
  it('reads what was written', () => {
    const tally = { blobs: 1, bytes: 2, wrong: 3, missing: 4, orphans: 5 }
    for (const mark of [newScrubMark(5), newScrubMark(5, 4), { ...newScrubMark(7, 6), after: 'ab', tally }]) {
      expect(readScrubMark(writeScrubMark(mark))).toEqual(mark)
    }
  })

  it('takes no mark and a mark that it does not understand for none', () => {
    for (const text of [
      undefined,
      '',
      '{',
      'null',
      '{}',
      '{"startedAt":"1","after":""}',
      '{"startedAt":1,"after":2}',
    ]) {
      expect(readScrubMark(text)).toBeUndefined()
    }
  })
})
