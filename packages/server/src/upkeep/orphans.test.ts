import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryLog } from '../testing/running/running-service.ts'
import { openStagingFixture, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { discardObjects } from '../uploads/discard-objects.ts'
import { createDamageControl } from './damage.ts'
import { allowOrphans } from './orphans.ts'
import { createScrub, type Scrub } from './scrub.ts'

describe('blobs that the records do not know', () => {
  let fixture: StagingFixture
  let scrub: Scrub
  let lines: string[]

  beforeEach(async () => {
    fixture = await openStagingFixture()
    lines = []
    scrub = scrubFor(7)
    await scrub.round()
  })
  afterEach(async () => {
    await scrub.stop()
    await fixture.remove()
  })

  const scrubFor = (orphanDays: number, instanceId = fixture.instanceId): Scrub => {
    const { records, blobs, clock } = fixture
    const parts = { records, blobs, log: memoryLog(lines), now: () => clock.now }
    return createScrub({ ...parts, damage: createDamageControl(parts), instanceId, days: 1, orphanDays })
  }
  const leave = async (text: string): Promise<string> => {
    const bytes = Buffer.from(text)
    const pending = await fixture.blobs.begin({ holder: 'gone', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256Hex(bytes))
    return sha256Hex(bytes)
  }
  const leaveMany = async (count: number, name: string): Promise<string[]> => {
    const digests: string[] = []
    for (let index = 0; index < count; index += 1) digests.push(await leave(`${name} ${index}`))
    return digests
  }
  const walk = async (days = 1): Promise<void> => {
    fixture.clock.now += days * DAY_MS
    await scrub.round()
    await discardObjects(fixture)
  }

  it('are kept for as many days as are configured, and removed then', async () => {
    const orphan = await leave('orphan')
    for (let day = 1; day <= 7; day += 1) {
      await walk()
      expect(await fixture.blobs.digests(), `day ${day}`).toEqual([orphan])
      expect(await scrub.orphans()).toEqual({ waiting: 1, isStopped: false })
    }
    await walk()
    expect(await fixture.blobs.digests()).toEqual([])
    expect(await scrub.orphans()).toEqual({ waiting: 0, isStopped: false })
  })

  it('are kept for good with 0', async () => {
    await scrub.stop()
    scrub = scrubFor(0, 'instance-2')
    const orphan = await leave('orphan')
    await walk()
    await walk(36_500)
    expect(await fixture.blobs.digests()).toEqual([orphan])
  })

  it('are no orphans any more once somebody uploads the same bytes', async () => {
    const orphan = await leave('orphan')
    await walk()
    await fixture.stage(Buffer.from('orphan'))
    expect(await scrub.orphans()).toMatchObject({ waiting: 0 })
    await walk(8)
    expect(await fixture.blobs.digests()).toEqual([orphan])
  })

  it('stop all removal of orphans when a walk meets many of them, until the operator agrees', async () => {
    await fixture.stage(Buffer.from('needed'))
    const many = await leaveMany(101, 'orphan')
    await walk()
    expect(await scrub.orphans()).toEqual({ waiting: 0, isStopped: true })
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 50, msg: expect.stringContaining('lade doctor --adopt') }),
    )
    // Neither time nor another process goes on by itself.
    await scrub.stop()
    scrub = scrubFor(7, 'instance-2')
    for (let days = 0; days < 4; days += 1) await walk(10)
    expect((await fixture.blobs.digests()).length).toBe(102)
    expect(await scrub.orphans()).toEqual({ waiting: 0, isStopped: true })

    await allowOrphans(fixture.records.inventory, many.length)
    await walk()
    expect(await scrub.orphans()).toEqual({ waiting: 101, isStopped: false })
    await walk(8)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(Buffer.from('needed'))])
  })

  it('are removed up to a hundred, or a hundredth of what is stored', async () => {
    await leaveMany(100, 'orphan')
    await walk()
    expect(await scrub.orphans()).toEqual({ waiting: 100, isStopped: false })
  })
})
