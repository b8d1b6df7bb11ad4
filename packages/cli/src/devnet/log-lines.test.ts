import { describe, expect, it } from 'vitest'
import { shownLogLine } from './log-lines.ts'

describe('shownLogLine', () => {
  it.each([
    [
      { level: 30, msg: 'request', method: 'POST', path: '/api/upload', status: 200, durationMs: 12.3 },
      'POST /api/upload 200, 12 ms',
    ],
    [{ level: 30, msg: 'the console is at /' }, undefined],
    [
      { level: 40, msg: 'the chain is not usable; retrying', reason: 'HTTP request failed.' },
      'the chain is not usable; retrying: HTTP request failed.',
    ],
    [{ level: 50, msg: 'sweep', err: { message: 'ENOSPC' } }, 'sweep: ENOSPC'],
    [{ level: 50, msg: 'alone' }, 'alone'],
  ])('shows %j as %j', (line, shown) => {
    expect(shownLogLine(JSON.stringify(line))).toBe(shown)
  })

  it('shows what is no log as it is, but for what a terminal would obey', () => {
    expect(shownLogLine('node: bad option')).toBe('node: bad option')
    expect(shownLogLine('5')).toBe('5')
    expect(shownLogLine('  ')).toBeUndefined()
    expect(shownLogLine('\u001b[2J gone')).not.toContain('\u001b')
  })
})
