import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RecordStore } from '../records/record-store.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture } from './testing-placement.ts'

const LOOK_MS = 60

let fixture: PlacementFixture
beforeEach(async () => {
  fixture = await openPlacementFixture()
})
afterEach(() => fixture.close())

/** The shortest time from the end of one round's first look, which takes `lookMs`, to the next one, in so many of them. */
async function shortestRestMs(hasCallers: () => boolean, { lookMs = LOOK_MS, rounds = 5 } = {}): Promise<number> {
  const rests: number[] = []
  let endedAt: number | undefined
  const { placements } = fixture.records
  const unenrolled: typeof placements.unenrolled = async (request) => {
    if (endedAt !== undefined) rests.push(performance.now() - endedAt)
    await sleep(lookMs)
    endedAt = performance.now()
    return placements.unenrolled(request)
  }
  const slow = { ...fixture.records, placements: { ...placements, unenrolled } }
  const records: RecordStore = { ...slow, underLease: () => slow }
  const job = fixture.job(fakeProvers(['one']), { records, hasCallers })
  job.start()
  while (rests.length < rounds) {
    job.wake()
    await sleep(5)
  }
  await job.stop()
  return Math.min(...rests)
}

it('rests twice as long as a round while there are callers', async () => {
  expect(await shortestRestMs(() => true)).toBeGreaterThanOrEqual(2 * LOOK_MS - 5)
})

it('rests longer while callers leave the event loop little time idle', async () => {
  const load = setInterval(() => burn(40), 2)
  try {
    expect(await shortestRestMs(() => true, { lookMs: 1, rounds: 2 })).toBeGreaterThanOrEqual(250)
  } finally {
    clearInterval(load)
  }
})

it('rests little while there are none', async () => {
  expect(await shortestRestMs(() => false)).toBeLessThan(2 * LOOK_MS)
})

function burn(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {}
}
