import { LadeError } from '@lade/core/errors'
import { expect, test } from 'vitest'
import { retryNotes } from './retry-notes.ts'

const error = new LadeError('unreachable', { url: 'http://127.0.0.1:8080', reason: 'The connection failed.' })
const NOTE = 'Retrying. Cannot reach http://127.0.0.1:8080. The connection failed.'

function notesOf(options: { isQuiet?: boolean } = {}) {
  const notes: string[] = []
  const clock = { nowMs: 0 }
  const onRetry = retryNotes({
    terminal: { note: (line) => notes.push(line) },
    progress: { around: (write) => write() },
    isQuiet: false,
    nowMs: () => clock.nowMs,
    ...options,
  })
  return { notes, clock, onRetry }
}

test('a wait of less than two seconds is not reported', () => {
  const { notes, onRetry } = notesOf()
  onRetry({ error, delayMs: 1_999 })
  expect(notes).toEqual([])
  onRetry({ error, delayMs: 2_000 })
  expect(notes).toEqual([NOTE])
})

test('waits within half a minute share one line, also those of different requests', () => {
  const { notes, clock, onRetry } = notesOf()
  for (let request = 0; request < 4; request += 1) onRetry({ error, delayMs: 4_000 })
  clock.nowMs = 29_999
  onRetry({ error, delayMs: 10_000 })
  expect(notes).toEqual([NOTE])
  clock.nowMs = 30_000
  onRetry({ error, delayMs: 10_000 })
  expect(notes).toEqual([NOTE, NOTE])
})

test('a quiet command writes nothing', () => {
  const { notes, onRetry } = notesOf({ isQuiet: true })
  onRetry({ error, delayMs: 10_000 })
  expect(notes).toEqual([])
})

test('what the service says is no command to the terminal', () => {
  const { notes, onRetry } = notesOf()
  onRetry({ error: new LadeError('unexpected_answer', { httpStatus: 502, reason: 'a\u202e\x1b[2Jb' }), delayMs: 2_000 })
  expect(notes).toEqual([expect.stringContaining('a\\u202e\\x1b[2Jb')])
})
