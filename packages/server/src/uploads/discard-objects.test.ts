import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingGround, PRINCIPAL, type StagingGround } from '../testing/running/staging-ground.ts'
import { discardObjects } from './discard-objects.ts'

const BYTES = Buffer.from('first')
const OTHER = Buffer.from('second')

describe('discardObjects', () => {
  let ground: StagingGround
  beforeEach(async () => {
    ground = await openStagingGround()
  })
  afterEach(() => ground.remove())

  const stageAndRemove = async (...bodies: readonly Uint8Array[]) => {
    for (const bytes of bodies) await ground.stage(bytes)
    for (const bytes of bodies) {
      // A millisecond apart, so that the order of removal is known.
      ground.clock.now += 1
      const key = `sha256:${sha256Hex(bytes)}`
      await ground.records.files.remove({ principal: PRINCIPAL, key, now: ground.clock.now })
    }
  }

  it('removes what no file needs, and says how many objects that were', async () => {
    await stageAndRemove(BYTES, OTHER)
    await ground.stage(Buffer.from('needed'))
    expect(await discardObjects(ground)).toBe(2)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(Buffer.from('needed'))])
    expect(await discardObjects(ground)).toBe(0)
  })

  it('removes more than one batch', async () => {
    await stageAndRemove(...Array.from({ length: 130 }, (_, index) => Buffer.from(`body ${index}`)))
    expect(await discardObjects(ground)).toBe(130)
    expect(await ground.blobs.digests()).toEqual([])
  })

  it('leaves what an upload has called off', async () => {
    await stageAndRemove(BYTES)
    await ground.stage(BYTES)
    expect(await discardObjects(ground)).toBe(0)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves bytes for as long as one file of anybody needs them', async () => {
    await ground.stage(BYTES, { tier: { principal: 'user:2' } })
    await stageAndRemove(BYTES)
    expect(await discardObjects(ground)).toBe(0)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves what it took too long ago, and takes it again', async () => {
    await stageAndRemove(BYTES)
    const { discards } = ground.records
    const slow = {
      ...ground,
      removalMs: 20,
      records: { ...ground.records, discards: { ...discards, begin: slowBegin } },
    }
    async function slowBegin(...request: Parameters<typeof discards.begin>): Promise<boolean> {
      const hasBegun = await discards.begin(...request)
      await sleep(30)
      return hasBegun
    }
    expect(await discardObjects(slow)).toBe(0)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
    expect(await discardObjects(ground)).toBe(1)
    expect(await ground.blobs.digests()).toEqual([])
  })

  it('error: a removal that fails is tried again in the next round', async () => {
    await stageAndRemove(BYTES)
    ground.blobs.fail('delete')
    await expect(discardObjects(ground)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await discardObjects(ground)).toBe(1)
    expect(await ground.blobs.digests()).toEqual([])
  })

  it('error: a removal that fails does not hold up the removals behind it', async () => {
    await stageAndRemove(BYTES, OTHER)
    ground.blobs.beforeDelete = (sha256) => {
      if (sha256 === sha256Hex(BYTES)) throw new Error('this one is stuck')
    }
    for (let round = 0; round < 3; round += 1) await discardObjects(ground).catch(() => {})
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('error: bytes whose removal failed can be staged again', async () => {
    await stageAndRemove(BYTES)
    ground.blobs.fail('delete')
    await discardObjects(ground).catch(() => {})
    await discardObjects(ground)
    await ground.stage(BYTES)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('removes nothing twice when two run at once, so that bytes staged after the first removal stay', async () => {
    await stageAndRemove(BYTES)
    let deletes = 0
    ground.blobs.beforeDelete = async () => {
      deletes += 1
      // The second removal, if there is one, comes only after the upload below.
      await sleep(deletes === 1 ? 20 : 300)
    }
    const both = [discardObjects(ground), discardObjects(ground)]
    await both[0]
    await ground.stage(BYTES)
    await Promise.all(both)
    expect(await ground.blobs.digests()).toEqual([sha256Hex(BYTES)])
  })

  it('leaves a removal to the instance that has taken it, and takes it over when that one is deregistered', async () => {
    await stageAndRemove(BYTES)
    const sha256 = sha256Hex(BYTES)
    expect(
      await ground.records.discards.begin({ sha256, put: '', instanceId: 'instance-2', now: ground.clock.now }),
    ).toBe(true)
    expect(await discardObjects(ground)).toBe(0)
    await ground.records.instances.deregister({ instanceId: 'instance-2', now: ground.clock.now })
    expect(await discardObjects(ground)).toBe(1)
  })
})
