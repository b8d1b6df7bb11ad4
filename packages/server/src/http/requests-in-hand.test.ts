import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RequestsInHand } from './requests-in-hand.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('has callers from the first request until a second after the last one has ended', () => {
  const requests = new RequestsInHand()
  expect(requests.areThere).toBe(false)
  requests.begin()
  requests.begin()
  vi.advanceTimersByTime(60_000)
  expect(requests.areThere).toBe(true)
  requests.end()
  vi.advanceTimersByTime(60_000)
  expect(requests.areThere).toBe(true)
  requests.end()
  vi.advanceTimersByTime(999)
  expect(requests.areThere).toBe(true)
  vi.advanceTimersByTime(1)
  expect(requests.areThere).toBe(false)
})
