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

/** The shortest time from the end of one round's first look to the next one, in five of them. */
async function shortestRestMs(hasCallers: () => boolean): Promise<number> {
  const rests: number[] = []
  let endedAt: number | undefined
  const { placements } = fixture.records
  const unenrolled: typeof placements.unenrolled = async (request) => {
    if (endedAt !== undefined) rests.push(performance.now() - endedAt)
    await sleep(LOOK_MS)
    endedAt = performance.now()
    return placements.unenrolled(request)
  }
  const slow = { ...fixture.records, placements: { ...placements, unenrolled } }
  const records: RecordStore = { ...slow, underLease: () => slow }
  const job = fixture.job(fakeProvers(['one']), { records, hasCallers })
  job.start()
  while (rests.length < 5) {
    job.wake()
    await sleep(5)
  }
  await job.stop()
  return Math.min(...rests)
}

it('rests twice as long as a round while there are callers', async () => {
  expect(await shortestRestMs(() => true)).toBeGreaterThanOrEqual(2 * LOOK_MS - 5)
})

it('rests little while there are none', async () => {
  expect(await shortestRestMs(() => false)).toBeLessThan(2 * LOOK_MS)
})
