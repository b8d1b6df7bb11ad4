import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryLog } from '../testing/running/running-service.ts'
import { openStagingFixture, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { discardObjects } from '../uploads/discard-objects.ts'
import { createDamageControl, type DamageControl } from './damage.ts'
import { createScrub, type Scrub } from './scrub.ts'

describe('createScrub on staged files', () => {
  let fixture: StagingFixture
  let damage: DamageControl
  let scrub: Scrub

  beforeEach(async () => {
    fixture = await openStagingFixture()
    const { records, blobs, instanceId, clock } = fixture
    const parts = { blobs, log: memoryLog([]), now: () => clock.now }
    damage = createDamageControl(parts)
    scrub = createScrub({ ...parts, records, damage, instanceId, days: 1 })
    await scrub.round()
  })
  afterEach(async () => {
    await scrub.stop()
    await fixture.remove()
  })

  /** Makes bytes readable under a digest, as a medium that changed them or a process that died would have. */
  const leave = async (bytes: Uint8Array, sha256 = sha256Hex(bytes)) => {
    const pending = await fixture.blobs.begin({ holder: 'gone', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256)
    return sha256
  }
  const walk = async () => {
    fixture.clock.now += DAY_MS
    return scrub.round()
  }

  it('puts wrong bytes away, and the next upload of the right ones serves the files of all', async () => {
    const [right, damaged] = [Buffer.from('stays right'), Buffer.from('goes wrong!')]
    await fixture.stage(right, { tier: { principal: 'user:1' } })
    await fixture.stage(damaged, { tier: { principal: 'user:1' } })
    await leave(Buffer.from('GOES WRONG!'), sha256Hex(damaged))
    expect(await walk()).toBe(true)
    expect(damage.counters()).toMatchObject({ quarantined: 1, missing: 0 })
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(right)])

    await walk()
    expect(damage.counters()).toMatchObject({ quarantined: 1, missing: 1 })
    await fixture.stage(damaged, { tier: { principal: 'user:2' } })
    await walk()
    expect(damage.counters()).toMatchObject({ quarantined: 1, missing: 1 })
    expect(await scrub.lastFinishedAt()).toBe(fixture.clock.now)
  })

  it('has bytes removed that nobody needs, and keeps those of files and of uploads that end meanwhile', async () => {
    const kept = Buffer.from('kept')
    await fixture.stage(kept)
    const orphan = await leave(Buffer.from('left behind by a process that died'))
    const uploading = Buffer.from('being uploaded')
    let isScrubbed = false
    fixture.blobs.beforeCommit = async () => {
      if (isScrubbed) return
      isScrubbed = true
      // Readable before its record is there.
      await leave(uploading)
      await walk()
    }
    await fixture.stage(uploading)
    expect(isScrubbed).toBe(true)
    await discardObjects(fixture)
    expect(await fixture.blobs.digests()).toContain(orphan)
    fixture.clock.now += 30 * DAY_MS
    await discardObjects(fixture)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(kept), sha256Hex(uploading)].sort())
    expect(await fixture.records.quotas.checkDrift()).toEqual([])
  })
})
