import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { utcDay } from '../quotas/utc-day.ts'
import {
  NOTHING_REMAINS,
  openStagingFixture,
  PRINCIPAL,
  type StagingFixture,
} from '../testing/running/staging-fixture.ts'
import { discardObjects } from '../uploads/discard-objects.ts'
import { recover } from './recover.ts'

const BYTES = Buffer.from('left behind')
const SHA256 = sha256Hex(BYTES)

describe('recover', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const run = (alive: readonly string[] = []) =>
    recover({
      records: fixture.records,
      blobs: fixture.blobs,
      instanceId: fixture.instanceId,
      isAlive: async (id) => alive.includes(id),
      now: () => fixture.clock.now,
    })
  const reserve = (instanceId: string, leaseMs = 60_000) =>
    fixture.records.quotas.reserve({
      reservationId: `of-${instanceId}`,
      instanceId,
      principal: PRINCIPAL,
      day: utcDay(fixture.clock.now),
      key: `sha256:${SHA256}`,
      sizeBytes: BYTES.length,
      capBytes: 1000,
      capFiles: 10,
      maxInFlight: 8,
      now: fixture.clock.now,
      leaseUntil: fixture.clock.now + leaseMs,
    })
  /** What a process leaves that dies between making bytes readable and recording their file. */
  const leaveBehind = async (instanceId: string) => {
    await fixture.records.instances.register({ instanceId, now: fixture.clock.now })
    await reserve(instanceId)
    const unfinished = await fixture.blobs.begin({ holder: instanceId, sizeBytes: 5 })
    await unfinished.write(BYTES)
    const pending = await fixture.blobs.begin({ holder: instanceId, sizeBytes: BYTES.length })
    await pending.write(BYTES)
    await fixture.records.quotas.claim({
      reservationId: `of-${instanceId}`,
      key: `sha256:${SHA256}`,
      sha256: SHA256,
      put: '',
    })
    await pending.commit(SHA256)
  }

  it('finds nothing to do where nobody died', async () => {
    expect(await run()).toEqual({ deadInstances: 0, reservations: 0, pendingBlobs: 0 })
    expect(await fixture.records.instances.list()).toEqual([fixture.instanceId])
  })

  it('cleans up after a dead instance: reservations, pending bytes, and bytes without a record', async () => {
    await leaveBehind('instance-2')
    expect(await run()).toEqual({ deadInstances: 1, reservations: 1, pendingBlobs: 1 })
    expect(await fixture.records.instances.list()).toEqual([fixture.instanceId])
    await discardObjects(fixture)
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('leaves everything of a living instance alone', async () => {
    await leaveBehind('instance-2')
    expect(await run(['instance-2'])).toEqual({ deadInstances: 0, reservations: 0, pendingBlobs: 0 })
    await discardObjects(fixture)
    expect(await fixture.remains()).toMatchObject({
      blobs: [SHA256],
      pendingHolders: ['instance-2'],
      reservedBytes: BYTES.length,
    })
  })

  it('leaves its own things alone, whatever is said of it', async () => {
    await reserve(fixture.instanceId)
    await fixture.blobs.begin({ holder: fixture.instanceId, sizeBytes: 5 })
    expect(await run([])).toEqual({ deadInstances: 0, reservations: 0, pendingBlobs: 0 })
    expect(await fixture.remains()).toMatchObject({ pendingHolders: [fixture.instanceId], reservedBytes: BYTES.length })
  })

  it('keeps bytes that a dead instance had made readable and somebody else has recorded', async () => {
    await leaveBehind('instance-2')
    await fixture.stage(BYTES, { tier: { principal: 'user:2' } })
    await run()
    await discardObjects(fixture)
    expect(await fixture.blobs.digests()).toEqual([SHA256])
  })

  it('sweeps pending bytes of a holder that is registered nowhere', async () => {
    await fixture.blobs.begin({ holder: 'forgotten', sizeBytes: 5 })
    expect(await run()).toMatchObject({ deadInstances: 0, pendingBlobs: 1 })
    expect(await fixture.blobs.pendingHolders()).toEqual([])
  })

  it('returns reservations whose lease has ended, also of the living', async () => {
    await fixture.records.instances.register({ instanceId: 'instance-2', now: fixture.clock.now })
    await reserve('instance-2', 60_000)
    fixture.clock.now += 60_000
    expect(await run(['instance-2'])).toMatchObject({ reservations: 0 })
    fixture.clock.now += 1
    expect(await run(['instance-2'])).toMatchObject({ reservations: 1 })
    expect((await fixture.usage()).reservedBytes).toBe(0)
  })

  it('can run twice, and from two instances at once', async () => {
    await leaveBehind('instance-2')
    const found = await Promise.all([run(['instance-3']), run(['instance-3'])])
    expect(found.reduce((sum, { reservations }) => sum + reservations, 0)).toBe(1)
    expect(await run()).toEqual({ deadInstances: 0, reservations: 0, pendingBlobs: 0 })
  })

  it('error: pending bytes that cannot be swept keep their instance known, for the next round', async () => {
    await leaveBehind('instance-2')
    fixture.blobs.fail('sweep')
    await expect(run()).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await fixture.records.instances.list()).toContain('instance-2')
    expect(await run()).toEqual({ deadInstances: 1, reservations: 1, pendingBlobs: 1 })
  })

  it('works without a blob store', async () => {
    await leaveBehind('instance-2')
    const { records, instanceId, clock } = fixture
    const found = await recover({
      records,
      blobs: undefined,
      instanceId,
      isAlive: async () => false,
      now: () => clock.now,
    })
    expect(found).toEqual({ deadInstances: 1, reservations: 1, pendingBlobs: 0 })
  })
})
