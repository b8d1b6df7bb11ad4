import { expect, it } from 'vitest'
import { DURATION_BOUNDS_SECONDS, RequestCounters } from './request-counters.ts'

const REQUEST = { route: '/p/{cid}', method: 'GET', status: 200, durationMs: 1, bytesIn: 100, bytesOut: 1000 }

it('adds up requests by route, method and status', () => {
  const counters = new RequestCounters()
  counters.add(REQUEST)
  counters.add({ ...REQUEST, status: 404 })
  counters.add({ ...REQUEST, status: 404 })
  counters.add({ ...REQUEST, method: 'HEAD' })
  const [gets, heads] = counters.routes()
  expect(gets).toMatchObject({ route: '/p/{cid}', method: 'GET', bytesIn: 300, bytesOut: 3000 })
  expect([...(gets?.byStatus ?? [])]).toEqual([
    [200, 1],
    [404, 2],
  ])
  expect(heads).toMatchObject({ method: 'HEAD', bytesOut: 1000 })
})

it('puts a duration into the bucket of the first bound that it does not exceed', () => {
  const counters = new RequestCounters()
  for (const durationMs of [0, 5, 5.1, 100, 600_000, 600_001]) counters.add({ ...REQUEST, durationMs })
  const [{ durations, durationSeconds } = { durations: [], durationSeconds: 0 }] = counters.routes()
  const at = (seconds: number) => durations[DURATION_BOUNDS_SECONDS.indexOf(seconds)]
  expect([at(0.005), at(0.025), at(0.1), at(600), durations.at(-1)]).toEqual([2, 1, 1, 1, 1])
  expect(durationSeconds).toBeCloseTo(1200.1111, 3)
})

it('has one label for all methods that callers make up, and for all paths that are none', () => {
  const counters = new RequestCounters()
  for (const method of ['PROPFIND', 'M-SEARCH', undefined]) counters.add({ ...REQUEST, route: undefined, method })
  expect(counters.routes().map(({ route, method }) => `${method} ${route}`)).toEqual(['other unmatched'])
})
