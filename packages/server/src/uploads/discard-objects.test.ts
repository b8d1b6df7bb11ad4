import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { discardObjects } from './discard-objects.ts'

const BYTES = Buffer.from('first')
const OTHER = Buffer.from('second')

describe('discardObjects', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const stageAndRemove = async (...bodies: readonly Uint8Array[]) => {
    for (const bytes of bodies) await fixture.stage(bytes)
    for (const bytes of bodies) {
      // A millisecond apart, so that the order of removal is known.
      fixture.clock.now += 1
      const key = `sha256:${sha256Hex(bytes)}`
      await fixture.records.files.remove({ principal: PRINCIPAL, key, now: fixture.clock.now })
    }
  }

  it('removes what no file needs, and says how many objects that were', async () => {
    await stageAndRemove(BYTES, OTHER)
    await fixture.stage(Buffer.from('needed'))
    expect(await discardObjects(fixture)).toBe(2)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(Buffer.from('needed'))])
    expect(await discardObjects(fixture)).toBe(0)
  })

  it('removes more than one batch', async () => {
    await stageAndRemove(...Array.from({ length: 130 }, (_, index) => Buffer.from(`body ${index}`)))
    expect(await discardObjects(fixture)).toBe(130)
    expect(await fixture.blobs.digests()).toEqual([])
  })

  it('removes one batch where there is no time for more, and the rest the next time', async () => {
    await stageAndRemove(...Array.from({ length: 130 }, (_, index) => Buffer.from(`body ${index}`)))
    expect(await discardObjects({ ...fixture, isOver: () => true })).toBe(100)
    expect(await discardObjects(fixture)).toBe(30)
  })

  it('leaves what an upload has called off', async () => {
    await stageAndRemove(BYTES)
    await fixture.stage(BYTES)
    expect(await discardObjects(fixture)).toBe(0)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves bytes for as long as one file of anybody needs them', async () => {
    await fixture.stage(BYTES, { tier: { principal: 'user:2' } })
    await stageAndRemove(BYTES)
    expect(await discardObjects(fixture)).toBe(0)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves what it took too long ago, and takes it again', async () => {
    await stageAndRemove(BYTES)
    const { discards } = fixture.records
    const slow = {
      ...fixture,
      removalMs: 20,
      records: { ...fixture.records, discards: { ...discards, begin: slowBegin } },
    }
    async function slowBegin(...request: Parameters<typeof discards.begin>): Promise<boolean> {
      const hasBegun = await discards.begin(...request)
      await sleep(30)
      return hasBegun
    }
    expect(await discardObjects(slow)).toBe(0)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
    expect(await discardObjects(fixture)).toBe(1)
    expect(await fixture.blobs.digests()).toEqual([])
  })

  it('error: a removal that fails is tried again in the next round', async () => {
    await stageAndRemove(BYTES)
    fixture.blobs.fail('delete')
    await expect(discardObjects(fixture)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await discardObjects(fixture)).toBe(1)
    expect(await fixture.blobs.digests()).toEqual([])
  })

  it('error: a removal that fails does not hold up the removals behind it', async () => {
    await stageAndRemove(BYTES, OTHER)
    fixture.blobs.beforeDelete = (sha256) => {
      if (sha256 === sha256Hex(BYTES)) throw new Error('this one is stuck')
    }
    for (let round = 0; round < 3; round += 1) await discardObjects(fixture).catch(() => {})
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('error: bytes whose removal failed can be staged again', async () => {
    await stageAndRemove(BYTES)
    fixture.blobs.fail('delete')
    await discardObjects(fixture).catch(() => {})
    await discardObjects(fixture)
    await fixture.stage(BYTES)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('removes nothing twice when two run at once, so that bytes staged after the first removal stay', async () => {
    await stageAndRemove(BYTES)
    let deletes = 0
    fixture.blobs.beforeDelete = async () => {
      deletes += 1
      // The second removal, if there is one, comes only after the upload below.
      await sleep(deletes === 1 ? 20 : 300)
    }
    const both = [discardObjects(fixture), discardObjects(fixture)]
    await both[0]
    await fixture.stage(BYTES)
    await Promise.all(both)
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves a removal to the instance that has taken it, and takes it over when that one is deregistered', async () => {
    await stageAndRemove(BYTES)
    const sha256 = sha256Hex(BYTES)
    expect(
      await fixture.records.discards.begin({ sha256, put: '', instanceId: 'instance-2', now: fixture.clock.now }),
    ).toBe(true)
    expect(await discardObjects(fixture)).toBe(0)
    await fixture.records.instances.deregister({ instanceId: 'instance-2', now: fixture.clock.now })
    expect(await discardObjects(fixture)).toBe(1)
  })
})
