import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { utcDay } from '../quotas/utc-day.ts'
import type { RecordStore } from '../records/record-store.ts'
import { memoryLog } from '../testing/running/running-service.ts'
import { fileRecordOf, openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { LEASE_MS } from '../uploads/admit-upload.ts'
import { Reservations } from '../uploads/reservations.ts'
import { createUpkeep, type UpkeepDeps } from './upkeep.ts'

const BYTES = Buffer.from('kept up')

describe('createUpkeep', () => {
  let fixture: StagingFixture
  let lines: string[]
  let flushes: number
  beforeEach(async () => {
    fixture = await openStagingFixture()
    lines = []
    flushes = 0
  })
  afterEach(() => fixture.remove())

  const upkeepOf = (overrides: Partial<UpkeepDeps> = {}) =>
    createUpkeep({
      records: fixture.records,
      blobs: fixture.blobs,
      reservations: fixture.reservations,
      removing: fixture.removing,
      instanceId: fixture.instanceId,
      isAlive: async () => false,
      now: () => fixture.clock.now,
      graceMs: 0,
      tombstoneMs: 0,
      log: memoryLog(lines),
      flush: async () => {
        flushes += 1
      },
      remind: () => {},
      ...overrides,
    })
  const failing = (quotas: Partial<RecordStore['quotas']>): RecordStore => ({
    ...fixture.records,
    quotas: { ...fixture.records.quotas, ...quotas },
  })
  const down = async (): Promise<never> => {
    throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
  }

  it('ends files past their term, removes their bytes and flushes', async () => {
    await fixture.stage(BYTES, { head: { termDays: 1 } })
    const upkeep = upkeepOf()
    fixture.clock.now += DAY_MS - 1
    await upkeep.round()
    expect(await fixture.blobs.digests()).toEqual([sha256Hex(BYTES)])
    fixture.clock.now += 1
    await upkeep.round()
    expect(await fixture.blobs.digests()).toEqual([])
    const key = `sha256:${sha256Hex(BYTES)}`
    const file = await fixture.records.files.latest({ principal: PRINCIPAL, key, now: fixture.clock.now })
    expect(file).toMatchObject({ end: 'expired', endedAt: file?.expiresAt })
    expect(flushes).toBe(2)
  })

  it('registers again where another instance took this one for dead', async () => {
    const { instances } = fixture.records
    await instances.deregister({ instanceId: fixture.instanceId, now: fixture.clock.now })
    await upkeepOf().round()
    expect(await instances.list()).toContain(fixture.instanceId)
  })

  it('extends the lease of a reservation three times a minute, long before it ends', async () => {
    const { clock, instanceId, records } = fixture
    const startedAt = clock.now
    const quota = { principal: PRINCIPAL, day: utcDay(clock.now), capBytes: 100, capFiles: 1, maxInFlight: 1 }
    const upload = { key: 'opaque:a', sizeBytes: 1, now: clock.now }
    const leaseUntil = clock.now + LEASE_MS
    await records.quotas.reserve({ reservationId: 'r', instanceId, leaseUntil, ...quota, ...upload })
    const upkeep = upkeepOf()
    const extendedAfterMs: number[] = []
    let lastUntil = leaseUntil
    for (; clock.now <= startedAt + 60_000; clock.now += 5000) {
      await upkeep.round()
      const [reservation] = await records.admin.uploads({ limit: 1 })
      const until = reservation?.leaseUntil ?? Number.NaN
      if (until !== lastUntil) extendedAfterMs.push(clock.now - startedAt)
      lastUntil = until
      expect(until - clock.now).toBeGreaterThanOrEqual(LEASE_MS - 15_000)
    }
    expect(extendedAfterMs).toEqual([20_000, 40_000, 60_000])
  })

  it('forgets the tokens of wallets that have expired, and no other', async () => {
    const { now } = fixture.clock
    const token = {
      sub: 'eip155:1:0x',
      email: '',
      label: 'wallet sign-in',
      scopes: ['put'],
      quotaMb: 0,
      issuedAt: now,
      expiresAt: now + 1,
      lastUsedAt: null,
      revokedAt: null,
    }
    const { tokens } = fixture.records
    await tokens.record({ token: { ...token, jti: 'of a wallet' }, forgetAt: now + 1 })
    await tokens.record({ token: { ...token, jti: 'minted' }, forgetAt: null })
    const listed = async () => (await tokens.list({ sub: token.sub })).map(({ jti }) => jti)
    await upkeepOf().round()
    expect(await listed()).toEqual(['minted', 'of a wallet'])
    fixture.clock.now += 1
    await upkeepOf().round()
    expect(await listed()).toEqual(['minted'])
  })

  it('forgets the nonces of wallets that are past their time', async () => {
    const { now } = fixture.clock
    const use = (nonce: string) => fixture.records.nonces.use({ account: 'wallet:1:0x', nonce, until: now + 1 })
    await Promise.all(Array.from({ length: 2_001 }, (_, index) => use(`n${index}`)))
    await upkeepOf().round()
    expect(await use('n0')).toBe(false)
    fixture.clock.now += 1
    await upkeepOf().round()
    expect(await Promise.all([use('n0'), use('n2000')])).toEqual([true, true])
  })

  it('sweeps the blocks of bytes that are gone', async () => {
    const { now } = fixture.clock
    const file = fileRecordOf({ expiresAt: now + 1 })
    const digests = Buffer.alloc(5_000 * 32)
    for (let node = 0; node < 5_000; node += 1) digests.writeUInt32BE(node, 32 * node)
    await fixture.records.quotas.commitAtOnce({
      admit: { ...file, day: '2026-11-21', capBytes: 1000, capFiles: 10, maxInFlight: 1, now },
      commit: {
        now,
        inline: undefined,
        content: {
          pieceRoot: 'cd'.repeat(32),
          pieceSubtreeRoots: new Uint8Array(),
          aliases: [],
          dags: [{ kind: 'import', profile: 'unixfs-v1-2025', digests }],
        },
        file: { ...file, sha256: 'ab'.repeat(32) },
      },
    })
    fixture.clock.now += 1
    await upkeepOf().round()
    expect(await fixture.records.blocks.sweep({ limit: 10 })).toBe(0)
  })

  it('keeps what was charged on the day of an expired file', async () => {
    await fixture.stage(BYTES, { head: { termDays: 1 } })
    fixture.clock.now += 2 * DAY_MS
    await upkeepOf().round()
    expect(await fixture.remains()).toMatchObject({ chargedBytes: BYTES.length, storedFiles: 0, drift: [] })
  })

  it('keeps the reservations of this instance alive, however long an upload takes', async () => {
    const upkeep = upkeepOf()
    let rounds = 0
    fixture.blobs.beforeCommit = async () => {
      for (rounds = 0; rounds < 5; rounds += 1) {
        fixture.clock.now += 50_000
        await upkeep.round()
      }
    }
    await expect(fixture.stage(BYTES)).resolves.toHaveProperty('file')
    expect(rounds).toBe(5)
  })

  it('error: a reservation whose release failed is returned in the end, without a restart', async () => {
    let failures = 2
    const { release } = fixture.records.quotas
    const records = failing({
      release: (request) => {
        failures -= 1
        return failures < 0 ? release(request) : down()
      },
    })
    const reservations = new Reservations(records)
    fixture.prover.refuseNext('no')
    await expect(fixture.stage(BYTES, { deps: { records, reservations } })).rejects.toMatchObject({
      code: 'stage_failed',
    })
    const upkeep = upkeepOf({ records, reservations })
    await upkeep.round()
    expect((await fixture.usage()).reservedBytes).toBe(BYTES.length)
    await upkeep.round()
    expect((await fixture.usage()).reservedBytes).toBe(0)
  })

  it('error: bytes that cannot be removed do not keep the other steps from their work', async () => {
    await fixture.stage(BYTES, { head: { termDays: 1 } })
    fixture.clock.now += DAY_MS
    fixture.blobs.fail('delete', 100)
    await upkeepOf().round()
    expect(flushes).toBe(1)
    expect(lines.join('')).toContain('injected: delete')
  })

  it('error: pending bytes that cannot be swept do not keep files from expiring', async () => {
    await fixture.stage(BYTES, { head: { termDays: 1 } })
    fixture.clock.now += DAY_MS
    await fixture.records.instances.register({ instanceId: 'dead', now: fixture.clock.now })
    fixture.blobs.fail('sweep', 100)
    await upkeepOf().round()
    expect(await fixture.blobs.digests()).toEqual([])
    expect(flushes).toBe(1)
  })

  it('error: records that cannot be written fail the round', async () => {
    await expect(upkeepOf({ records: failing({ extendLeases: down }) }).round()).rejects.toMatchObject({
      code: 'storage_failed',
    })
  })

  it('logs what it recovered, and nothing in a quiet round', async () => {
    await upkeepOf().round()
    expect(lines).toEqual([])
    await fixture.records.instances.register({ instanceId: 'dead', now: fixture.clock.now })
    await upkeepOf().round()
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ deadInstances: 1, reservations: 0, pendingBlobs: 0 }),
    ])
  })

  it('repeats rounds, also after one that failed, which it logs', async () => {
    const upkeep = upkeepOf({
      flush: async () => {
        flushes += 1
        if (flushes === 1) throw new Error('the first flush fails')
      },
    })
    upkeep.start(5)
    while (flushes < 3) await sleep(5)
    await upkeep.stop()
    const logged = lines.map((line) => JSON.parse(line))
    expect(logged).toHaveLength(1)
    expect(JSON.stringify(logged[0])).toContain('the first flush fails')
  })

  it('leaves to the next round what takes a step longer than a second, and begins that one at once', async () => {
    let batches = 6
    const expire: RecordStore['files']['expire'] = async ({ limit }) => {
      await sleep(300)
      batches -= 1
      return batches > 0 ? limit : 0
    }
    const flushedAt: number[] = []
    const upkeep = upkeepOf({
      records: { ...fixture.records, files: { ...fixture.records.files, expire } },
      flush: async () => void flushedAt.push(performance.now()),
    })
    const intervalMs = 3000
    upkeep.start(intervalMs)
    while (flushedAt.length < 1) await sleep(5)
    expect(batches).toBeGreaterThan(0)
    while (flushedAt.length < 2) await sleep(5)
    await upkeep.stop()
    const [first = 0, second = Infinity] = flushedAt
    expect(second - first).toBeLessThan(intervalMs)
  })

  it('stops after the round that is under way, and starts no other', async () => {
    let isRunning = false
    const upkeep = upkeepOf({
      flush: async () => {
        isRunning = true
        await sleep(50)
        flushes += 1
        isRunning = false
      },
    })
    upkeep.start(1)
    while (!isRunning) await sleep(1)
    await upkeep.stop()
    expect([isRunning, flushes]).toEqual([false, 1])
    await sleep(30)
    expect(flushes).toBe(1)
  })

  it('can be stopped before it was started, and twice', async () => {
    const upkeep = upkeepOf()
    await upkeep.stop()
    upkeep.start(1)
    await sleep(20)
    await upkeep.stop()
    expect(flushes).toBe(0)
  })

  it('works without a blob store', async () => {
    await upkeepOf({ blobs: undefined }).round()
    expect(flushes).toBe(1)
  })
})
