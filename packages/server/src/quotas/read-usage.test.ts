import { DAY_MS } from '@lade/core/time'
import { usageResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { readUsage } from './read-usage.ts'
import { utcDay } from './utc-day.ts'

describe('readUsage', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const read = (quotaBytes = 1000, quotaFiles = 10, days?: string) =>
    readUsage(fixture.records, {
      principal: PRINCIPAL,
      userId: '1',
      email: 'ada@example.org',
      quotaBytes,
      quotaFiles,
      now: fixture.clock.now,
      days,
    })

  it('shows seven empty days to somebody who staged nothing', async () => {
    const usage = await read()
    expect(usageResult.parse(usage)).toEqual(usage)
    expect(usage).toMatchObject({
      quotaBytes: 1000,
      today: {
        date: '2026-11-21',
        bytes: 0,
        files: 0,
        reservedBytes: 0,
        remainingBytes: 1000,
        filesLimit: 10,
        reservedFiles: 0,
        remainingFiles: 10,
        resetsAt: '2026-11-22T00:00:00.000Z',
      },
      quotaMb: 0,
      last7DaysTotalBytes: 0,
      stored: { bytes: 0, files: 0 },
    })
    expect(usage.last7Days).toEqual(usage.days)
    expect(usage.days.map(({ date }) => date)).toEqual([
      '2026-11-15',
      '2026-11-16',
      '2026-11-17',
      '2026-11-18',
      '2026-11-19',
      '2026-11-20',
      '2026-11-21',
    ])
  })

  it('lists as many days as asked, and adds up seven of them all the same', async () => {
    await fixture.stage(Buffer.alloc(5))
    fixture.clock.now += 10 * DAY_MS
    await fixture.stage(Buffer.alloc(3))
    const month = await read(1000, 10, '30')
    expect(month.days).toHaveLength(30)
    expect(month.days.filter(({ bytes }) => bytes > 0).map(({ bytes }) => bytes)).toEqual([5, 3])
    expect([month.last7DaysTotalBytes, month.last7Days?.length]).toEqual([3, 7])
    expect((await read(1000, 10, '1')).days).toEqual([expect.objectContaining({ bytes: 3 })])
    for (const days of ['0', '91', '1.5', '-1', 'x']) {
      await expect(read(1000, 10, days)).rejects.toMatchObject({ code: 'bad_request' })
    }
  })

  it('counts today, the last seven days and what is stored, each by itself', async () => {
    for (const sizeBytes of [1, 2, 4, 8, 16, 32, 64, 128]) {
      await fixture.stage(Buffer.alloc(sizeBytes))
      fixture.clock.now += DAY_MS
    }
    fixture.clock.now -= DAY_MS
    const usage = await read()
    expect(usage.days.map(({ bytes }) => bytes)).toEqual([2, 4, 8, 16, 32, 64, 128])
    expect(usage.last7DaysTotalBytes).toBe(254)
    expect(usage.today).toMatchObject({ bytes: 128, files: 1, remainingBytes: 872 })
    expect(usage.stored).toEqual({ bytes: 255, files: 8, limitBytes: null })
  })

  it('takes what uploads in flight hold from what remains', async () => {
    await fixture.stage(Buffer.alloc(100))
    const { clock, records, instanceId } = fixture
    await records.quotas.reserve({
      reservationId: 'r',
      instanceId,
      principal: PRINCIPAL,
      day: utcDay(clock.now),
      key: 'opaque:inflight01',
      sizeBytes: 300,
      capBytes: 1000,
      capFiles: 10,
      maxInFlight: 8,
      now: clock.now,
      leaseUntil: clock.now + 1,
    })
    expect((await read()).today).toMatchObject({ bytes: 100, reservedBytes: 300, remainingBytes: 600 })
    expect((await read()).today).toMatchObject({ files: 1, reservedFiles: 1, remainingFiles: 8 })
  })

  it('never shows less than nothing when the quota was lowered', async () => {
    await fixture.stage(Buffer.alloc(100))
    await fixture.stage(Buffer.alloc(101))
    expect((await read(50, 1)).today).toMatchObject({ remainingBytes: 0, remainingFiles: 0 })
  })

  it('keeps a removed file charged, and stored no more', async () => {
    const bytes = Buffer.alloc(100)
    await fixture.stage(bytes)
    const key = `sha256:${sha256Hex(bytes)}`
    await fixture.records.files.remove({ principal: PRINCIPAL, key, now: fixture.clock.now })
    expect(await read()).toMatchObject({ today: { bytes: 100, files: 1 }, stored: { bytes: 0, files: 0 } })
  })
})
