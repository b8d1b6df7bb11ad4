import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RecordStore } from '../records/record-store.ts'
import type { BlobFault } from '../testing/doubles/faulty-blob-store.ts'
import {
  headOf,
  NOTHING_REMAINS,
  openStagingFixture,
  PRINCIPAL,
  type StagingFixture,
  tierOf,
} from '../testing/running/staging-fixture.ts'
import { admitUpload } from './admit-upload.ts'
import { discardObjects } from './discard-objects.ts'
import { stageUpload } from './stage-upload.ts'

const BYTES = Buffer.from('some bytes that are staged')
const OTHER = Buffer.from('other bytes')
const SHA256 = sha256Hex(BYTES)
const OPAQUE = 'myfile0001'

describe('stageUpload', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const failure = (run: Promise<unknown>): Promise<unknown> =>
    run.then(
      () => {
        throw new Error('the upload was taken')
      },
      (error: unknown) => error,
    )
  const discard = () => discardObjects(fixture)
  const failing = (fault: Partial<RecordStore['quotas']>): RecordStore => ({
    ...fixture.records,
    quotas: { ...fixture.records.quotas, ...fault },
  })
  const down = async (): Promise<never> => {
    throw new LadeError('storage_failed', { retryAfterSeconds: 5 })
  }

  it('keeps the bytes, the record and the charge, and nothing pending', async () => {
    const { file, usedBytes } = await fixture.stage(BYTES)
    expect(file).toMatchObject({ sha256: SHA256, sizeBytes: BYTES.length, principal: PRINCIPAL, termDays: 30 })
    expect(file.expiresAt - file.uploadedAt).toBe(30 * 86_400_000)
    expect(usedBytes).toBe(BYTES.length)
    expect(await fixture.remains()).toEqual({
      ...NOTHING_REMAINS,
      blobs: [SHA256],
      chargedBytes: BYTES.length,
      storedFiles: 1,
    })
  })

  it('keeps small bytes in the records, and the blob store empty', async () => {
    await fixture.stage(BYTES, { deps: { inlineBytes: BYTES.length } })
    expect(await fixture.records.files.inlineBytes(SHA256)).toEqual(BYTES)
    expect(await fixture.blobs.digests()).toEqual([])
  })

  it('answers a repetition with the first deal, and charges nothing', async () => {
    const first = await fixture.stage(BYTES)
    const again = await fixture.stage(BYTES)
    expect(again.file).toEqual(first.file)
    expect(await fixture.remains()).toMatchObject({ chargedBytes: BYTES.length, storedFiles: 1 })
  })

  it('hands the bytes to a prover before it answers, and says in the records that it has them', async () => {
    const { file, isPlaced } = await fixture.stage(BYTES)
    const pieceCid = pieceCidOf({ pieceRoot: file.pieceRoot ?? '', sizeBytes: BYTES.length })
    expect(isPlaced).toBe(true)
    expect([...fixture.prover.parked]).toEqual([[pieceCid, BYTES]])
    const [deal] = await fixture.records.placements.deals([file.sequence])
    expect(deal).toMatchObject({ status: 'proposed', copiesWanted: 1 })
    expect(deal?.pieces).toMatchObject([{ copies: [{ prover: 'reference', state: 'parked' }] }])
  })

  it('has one deal id while the file is live, and another one for another caller and after its end', async () => {
    const { file } = await fixture.stage(BYTES)
    const again = await fixture.stage(BYTES)
    expect(again.file.dealId).toBe(file.dealId)
    const other = await fixture.stage(BYTES, { tier: { principal: 'user:2' } })
    await fixture.records.files.remove({ principal: PRINCIPAL, key: file.key, now: fixture.clock.now })
    const later = await fixture.stage(BYTES)
    expect(new Set([file, other.file, later.file].map(({ dealId }) => dealId)).size).toBe(3)
  })

  it('hands private bytes and small ones to nobody', async () => {
    await fixture.stage(BYTES, { head: { visibility: 'private' } })
    await fixture.stage(BYTES, { tier: { principal: 'user:2' }, deps: { inlineBytes: BYTES.length } })
    expect(fixture.prover.calls).toEqual([])
  })

  it('error: what the prover refuses leaves nothing and charges nothing', async () => {
    fixture.prover.refuseNext('too small')
    expect(await failure(fixture.stage(BYTES, { cid: OPAQUE }))).toMatchObject({
      code: 'stage_failed',
      evidence: { reason: 'too small' },
    })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    await expect(fixture.stage(OTHER, { cid: OPAQUE })).resolves.toHaveProperty('file')
  })

  describe.each([
    ['in the blob store', 0],
    ['in the records', 1_000_000],
  ])('with objects %s', (_title, inlineBytes) => {
    const stage = (bytes: Uint8Array, options: Parameters<StagingFixture['stage']>[1] = {}) =>
      fixture.stage(bytes, { ...options, deps: { inlineBytes, ...options.deps } })

    it('refuses bytes that do not hash to the cid, naming both in its form', async () => {
      const error = await failure(stage(BYTES, { cid: sha256Hex(OTHER), head: { sizeBytes: BYTES.length } }))
      expect(error).toMatchObject({ code: 'cid_mismatch', evidence: { expected: sha256Hex(OTHER), actual: SHA256 } })
      expect(fixture.prover.calls).toEqual([])
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })

    it.each([
      ['short', -1, 'bad_request'],
      ['long', 1, 'incomplete_body'],
    ])('refuses a body for which the declared length is too %s', async (_title, extra, code) => {
      const error = await failure(stage(BYTES, { head: { sizeBytes: BYTES.length + extra } }))
      expect(error).toMatchObject({ code })
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })

    it('error: a body that breaks off leaves nothing', async () => {
      const body = Readable.from(
        (async function* () {
          yield BYTES.subarray(0, 4)
          throw new Error('ECONNRESET')
        })(),
      )
      expect(await failure(stage(BYTES, { body }))).toMatchObject({ code: 'incomplete_body' })
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })

    it('error: an upload that is ended from outside fails with that reason and leaves nothing', async () => {
      const controller = new AbortController()
      const reason = new LadeError('body_timeout', { receivedBytes: 0 })
      const staging = failure(stage(BYTES, { body: new Readable({ read() {} }), signal: controller.signal }))
      await sleep(20)
      controller.abort(reason)
      expect(await staging).toBe(reason)
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })

    it('refuses other bytes under an opaque id that is taken, and leaves no orphan', async () => {
      await stage(BYTES, { cid: OPAQUE })
      const error = await failure(stage(OTHER, { cid: OPAQUE, tier: { principal: 'user:2' } }))
      expect(error).toMatchObject({ code: 'cid_conflict', evidence: { cid: OPAQUE, actual: sha256Hex(OTHER) } })
      await discard()
      expect(await fixture.blobs.digests()).toEqual(inlineBytes === 0 ? [SHA256] : [])
      expect((await fixture.usage('user:2')).reservedBytes).toBe(0)
    })

    it('error: records that cannot commit leave nothing once they work again', async () => {
      const error = await failure(stage(BYTES, { deps: { records: failing({ commit: down }) } }))
      expect(error).toMatchObject({ code: 'storage_failed' })
      await discard()
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })

    it('error: an upload whose reservation was returned meanwhile is lease_lost, and leaves nothing', async () => {
      const records = failing({
        async commit(commit) {
          await fixture.records.quotas.release({ reservationId: commit.reservationId, now: fixture.clock.now })
          return fixture.records.quotas.commit(commit)
        },
      })
      expect(await failure(stage(BYTES, { deps: { records } }))).toMatchObject({ code: 'lease_lost' })
      await discard()
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
    })
  })

  it.each<BlobFault>(['begin', 'write', 'flush', 'commit', 'after-commit'])(
    'error: a store that fails at %s leaves nothing',
    async (fault) => {
      fixture.blobs.fail(fault)
      expect(await failure(fixture.stage(BYTES))).toMatchObject({ code: 'storage_failed' })
      await discard()
      expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
      await expect(fixture.stage(BYTES)).resolves.toHaveProperty('file')
    },
  )

  it('error: a store that cannot even forget still returns the reservation, under the first error', async () => {
    fixture.prover.refuseNext('no')
    fixture.blobs.fail('abort')
    expect(await failure(fixture.stage(BYTES))).toMatchObject({ code: 'stage_failed' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('error: records that cannot claim leave nothing', async () => {
    const error = await failure(fixture.stage(BYTES, { deps: { records: failing({ claim: down }) } }))
    expect(error).toMatchObject({ code: 'storage_failed' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('error: records that cannot take the release answer the first error', async () => {
    fixture.prover.refuseNext('no')
    const error = await failure(fixture.stage(BYTES, { deps: { records: failing({ release: down }) } }))
    expect(error).toMatchObject({ code: 'stage_failed' })
    expect(await fixture.blobs.pendingHolders()).toEqual([])
  })

  it('error: a reservation that is gone when the bytes are announced is lease_lost', async () => {
    const records = failing({ claim: async () => ({ outcome: 'lost' }) })
    expect(await failure(fixture.stage(BYTES, { deps: { records } }))).toMatchObject({ code: 'lease_lost' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('error: bytes that become readable after their reservation was returned are removed again', async () => {
    fixture.blobs.beforeCommit = async () => {
      await fixture.records.quotas.releaseExpired({ now: fixture.clock.now + 3_600_000 })
      await discard()
    }
    expect(await failure(fixture.stage(BYTES))).toMatchObject({ code: 'lease_lost' })
    await discard()
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('refuses other bytes under an opaque id that was taken after they had become readable, and removes them', async () => {
    fixture.blobs.beforeCommit = async () => {
      fixture.blobs.beforeCommit = () => {}
      await fixture.stage(BYTES, { cid: OPAQUE, tier: { principal: 'user:2' } })
    }
    expect(await failure(fixture.stage(OTHER, { cid: OPAQUE }))).toMatchObject({ code: 'cid_conflict' })
    await discard()
    expect(await fixture.remains()).toEqual({ ...NOTHING_REMAINS, blobs: [SHA256] })
  })

  it('waits while the same bytes are being removed, and keeps them then', async () => {
    await fixture.stage(BYTES)
    await fixture.records.files.remove({ principal: PRINCIPAL, key: `sha256:${SHA256}`, now: fixture.clock.now })
    let isDeleting = false
    fixture.blobs.beforeDelete = async () => {
      isDeleting = true
      await sleep(100)
      isDeleting = false
    }
    const removing = discard()
    while (!isDeleting) await sleep(1)
    await fixture.stage(BYTES)
    expect(isDeleting).toBe(false)
    await removing
    expect(await fixture.blobs.digests()).toEqual([SHA256])
  })

  it('error: gives up when the same bytes are being removed for seconds on end, and leaves nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      let asked = 0
      const records = failing({
        claim: async () => {
          asked += 1
          return { outcome: 'busy' }
        },
      })
      const staging = failure(fixture.stage(BYTES, { deps: { records } }))
      let isSettled = false
      staging.finally(() => {
        isSettled = true
      })
      while (!isSettled) await vi.advanceTimersByTimeAsync(100)
      expect(await staging).toMatchObject({ code: 'storage_failed' })
      expect(asked).toBeGreaterThan(100)
    } finally {
      vi.useRealTimers()
    }
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('error: stops waiting for the removal of the same bytes when the upload is ended, and leaves nothing', async () => {
    const reason = new LadeError('request_timeout', {})
    const ending = new AbortController()
    let asked = 0
    const records = failing({
      claim: async () => {
        asked += 1
        if (asked === 2) ending.abort(reason)
        return { outcome: 'busy' }
      },
    })
    expect(await failure(fixture.stage(BYTES, { deps: { records }, signal: ending.signal }))).toBe(reason)
    expect(asked).toBe(2)
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  it('counts a repetition whose file was removed meanwhile, and refuses it when it no longer fits', async () => {
    const tier = { dailyBytes: BYTES.length }
    await fixture.stage(BYTES, { tier })
    fixture.blobs.beforeCommit = async () => {
      await fixture.records.files.remove({ principal: PRINCIPAL, key: `sha256:${SHA256}`, now: fixture.clock.now })
    }
    expect(await failure(fixture.stage(BYTES, { tier }))).toMatchObject({ code: 'quota_exceeded' })
    fixture.blobs.beforeCommit = () => {}
    await discard()
    expect(await fixture.remains()).toEqual({ ...NOTHING_REMAINS, chargedBytes: BYTES.length })
  })

  it('leaves no bytes twice when a repetition of small bytes goes to the blob store', async () => {
    await fixture.stage(BYTES, { deps: { inlineBytes: BYTES.length } })
    await fixture.stage(BYTES)
    await fixture.records.files.remove({ principal: PRINCIPAL, key: `sha256:${SHA256}`, now: fixture.clock.now })
    await discard()
    expect(await fixture.blobs.digests()).toEqual([])
  })

  it('says that it wants the body once, and not before the store can take it', async () => {
    const controller = new AbortController()
    const { records, moderation, reservations, removing, blobs, proverStaging, instanceId, clock } = fixture
    for (const inlineBytes of [0, 1_000_000]) {
      const deps = {
        records,
        moderation,
        reservations,
        removing,
        blobs,
        proverStaging,
        instanceId,
        now: () => clock.now,
        hashers: hashContentHere,
        inlineBytes,
        newId: () => `u-${inlineBytes}`,
      }
      const admission = await admitUpload(deps, { tier: tierOf(), head: headOf(BYTES), isStorageBound: true })
      let asked = 0
      const body = new Readable({ read() {} })
      const onReady = () => {
        asked += 1
        body.push(BYTES)
        body.push(null)
      }
      await stageUpload(deps, { admission, body, signal: controller.signal, onProgress: () => {}, onReady })
      expect(asked).toBe(1)
    }
  })
})
