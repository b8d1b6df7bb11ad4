import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { type FindObjectsInput, findOwnObjects, findVisibleObjects } from './find-objects.ts'

const BYTES = Buffer.from('an object')
const OBJECT = { oid: sha256Hex(BYTES), size: BYTES.length }
const RENEW_DAYS = 336

let fixture: StagingFixture
let wakes: number
beforeEach(async () => {
  fixture = await openStagingFixture()
  wakes = 0
})
afterEach(() => fixture.remove())

function find(which: typeof findOwnObjects, more: Partial<FindObjectsInput> = {}) {
  const { records, moderation, clock } = fixture
  const placementJob = {
    wake: () => {
      wakes += 1
    },
  }
  const input = { objects: [OBJECT], principal: PRINCIPAL, renewDays: RENEW_DAYS, now: clock.now, ...more }
  return which({ records, moderation, placementJob }, input)
}

async function endsIn(): Promise<number> {
  const file = await fixture.records.files.latest({
    principal: PRINCIPAL,
    key: `sha256:${OBJECT.oid}`,
    now: fixture.clock.now,
  })
  return ((file?.expiresAt ?? 0) - fixture.clock.now) / DAY_MS
}

describe.each([
  ['a push', findOwnObjects],
  ['a fetch', findVisibleObjects],
])('%s', (_, which) => {
  test('renews the term of what it finds, also beyond the longest term from the upload', async () => {
    await fixture.stage(BYTES, { head: { termDays: 300 } })
    for (const days of [0, 200, 300, 300]) {
      fixture.clock.now += days * DAY_MS
      expect(await find(which)).toMatchObject([{ outcome: 'found' }])
      expect(await endsIn()).toBe(RENEW_DAYS)
    }
    expect(wakes).toBe(4)
    // The same day, nothing is written.
    await find(which)
    expect(wakes).toBe(4)
  })

  test('leaves the term to a caller who may not extend it', async () => {
    await fixture.stage(BYTES, { head: { termDays: 30 } })
    await find(which, { renewDays: undefined })
    expect(await endsIn()).toBe(30)
  })

  test('error: does not find what has ended', async () => {
    await fixture.stage(BYTES, { head: { termDays: 30 } })
    fixture.clock.now += 30 * DAY_MS
    const [found] = await find(which)
    expect(found).toEqual(which === findOwnObjects ? { outcome: 'absent' } : { outcome: 'ended', end: 'expired' })
  })
})

test('a fetch does not renew the files of others', async () => {
  await fixture.stage(BYTES, { head: { termDays: 30 } })
  expect(await find(findVisibleObjects, { principal: 'user:other' })).toMatchObject([{ outcome: 'found' }])
  expect(await endsIn()).toBe(30)
})
