import { createHash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { memoryLog } from '../testing/running/running-service.ts'
import { createDamageControl, type DamageControl } from './damage.ts'
import { createScrub, type Scrub, type ScrubDeps } from './scrub.ts'
import { readScrubMark } from './scrub-mark.ts'
import { type MemoryInventory, openMemoryInventory } from './testing-inventory.ts'

const DAYS = 10

describe('createScrub', () => {
  let blobs: BlobStore
  let records: MemoryInventory
  let damage: DamageControl
  let lines: string[]
  let clock: { now: number }

  beforeEach(() => {
    blobs = openMemoryBlobStore()
    records = openMemoryInventory()
    lines = []
    clock = { now: Date.UTC(2026, 10, 21) }
    damage = createDamageControl({ blobs, log: memoryLog(lines), now: () => clock.now })
  })

  const scrubOf = (overrides: Partial<ScrubDeps> = {}): Scrub =>
    createScrub({
      records,
      blobs,
      damage,
      instanceId: 'instance-1',
      days: DAYS,
      now: () => clock.now,
      log: memoryLog(lines),
      mostBytesPerSecond: 10_000_000_000,
      ...overrides,
    })
  /** Stores bytes, under their digest or another, and records them unless told otherwise. */
  const put = async (bytes: Uint8Array, { sha256 = sha256Hex(bytes), isNeeded = true } = {}): Promise<string> => {
    const pending = await blobs.begin({ holder: 'test', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256)
    if (isNeeded) records.needed.set(sha256, bytes.length)
    return sha256
  }
  const putMany = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => put(Buffer.from(`blob ${index}`))))
  /** The same store, which notes what is opened. */
  const watched = () => {
    const opened: string[] = []
    const store: BlobStore = {
      ...blobs,
      async open(sha256) {
        opened.push(sha256)
        return blobs.open(sha256)
      },
    }
    return { opened, store }
  }
  const mark = () => readScrubMark(records.marks.get('scrub'))
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

  it('reads every blob once in a period, in order, spread over it', async () => {
    const digests = (await putMany(400)).sort()
    const { opened, store } = watched()
    const scrub = scrubOf({ blobs: store })
    await scrub.round()
    expect(opened).toEqual([])
    for (let day = 1; day <= DAYS; day += 1) {
      clock.now += DAY_MS
      await scrub.round()
      const share = opened.length / digests.length
      expect(Math.abs(share - day / DAYS), `day ${day}`).toBeLessThan(0.1)
    }
    expect(opened).toEqual(digests)
    expect(scrub.scrubbedBytes()).toBe([...records.needed.values()].reduce((sum, bytes) => sum + bytes, 0))
    expect(await scrub.lastFinishedAt()).toBe(clock.now)
    expect(mark()).toMatchObject({ startedAt: clock.now, after: '', tally: { blobs: 0 } })
    expect(logged()).toEqual([
      expect.objectContaining({ level: 30, blobs: 400, wrong: 0, missing: 0, orphans: 0, tookDays: DAYS }),
    ])
  })

  it('does what is late in one go, and more than one page of it', async () => {
    await putMany(1203)
    for (let index = 0; index < 700; index += 1) records.needed.set(sha256Hex(Buffer.from(`lost ${index}`)), 1)
    const scrub = scrubOf()
    await scrub.round()
    clock.now += 2 * DAYS * DAY_MS
    await scrub.round()
    expect(damage.counters()).toMatchObject({ missing: 700, quarantined: 0 })
    expect(logged().at(-2)).toMatchObject({ level: 30, blobs: 1203, missing: 700, tookDays: 20 })
    expect(logged().at(-1)).toMatchObject({ level: 40, days: DAYS })
  })

  it('puts wrong bytes away, in whatever size they are', async () => {
    const right = Buffer.from('as it should be')
    const wrong = [Buffer.from('as it should bE'), Buffer.from('as it'), Buffer.from('as it should be and more')]
    for (const bytes of wrong) {
      const sha256 = await put(bytes, { sha256: sha256Hex(right) })
      records.needed.set(sha256, right.length)
      const scrub = scrubOf()
      await scrub.round()
      clock.now += DAYS * DAY_MS
      await scrub.round()
      expect(await blobs.stat(sha256)).toBeUndefined()
      await scrub.stop()
    }
    expect(damage.counters()).toMatchObject({ quarantined: 3, missing: 0 })
  })

  it('goes on where another process stopped', async () => {
    const digests = (await putMany(100)).sort()
    const [one, other] = [watched(), watched()]
    const first = scrubOf({ blobs: one.store })
    await first.round()
    clock.now += 4 * DAY_MS
    await first.round()
    await first.stop()
    const second = scrubOf({ blobs: other.store, instanceId: 'instance-2' })
    clock.now += 6 * DAY_MS
    expect(await second.round()).toBe(true)
    expect([...one.opened, ...other.opened]).toEqual(digests)
    expect(one.opened.length).toBeGreaterThan(10)
    expect(other.opened.length).toBeGreaterThan(10)
  })

  it('leaves the work to the process that has the lease, until it ends or is gone', async () => {
    await put(Buffer.from('watched over'))
    const [first, second] = [scrubOf(), scrubOf({ instanceId: 'instance-2' })]
    expect(await first.round()).toBe(true)
    expect(await second.round()).toBe(false)
    await first.stop()
    expect(await second.round()).toBe(true)
    clock.now += DAY_MS
    expect(await scrubOf({ instanceId: 'instance-3' }).round()).toBe(true)
  })

  it('ends its walk when another process took the lease meanwhile, and does not move the mark', async () => {
    await putMany(50)
    const scrub = scrubOf({
      blobs: {
        ...blobs,
        async open(sha256) {
          records.take('scrub', 'instance-2')
          clock.now += 30_000
          return blobs.open(sha256)
        },
      },
    })
    await scrub.round()
    const before = mark()
    clock.now += DAYS * DAY_MS
    expect(await scrub.round()).toBe(false)
    expect(mark()).toEqual(before)
  })

  it('plans the removal of blobs that nobody needs, and of no others', async () => {
    await put(Buffer.from('needed'))
    const orphan = await put(Buffer.from('orphan'), { isNeeded: false })
    const claimed = await put(Buffer.from('on its way'), { isNeeded: false })
    records.claimed.add(claimed)
    const scrub = scrubOf()
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect([...records.orphans.keys()]).toEqual([orphan])
    expect(logged().at(-1)).toMatchObject({ orphans: 1, blobs: 1 })
  })

  it('does not take what comes or goes while it looks for missing', async () => {
    const coming = Buffer.from('coming')
    const going = sha256Hex(Buffer.from('going'))
    records.needed.set(sha256Hex(coming), coming.length)
    records.needed.set(going, 5)
    const scrub = scrubOf({
      blobs: {
        ...blobs,
        async stat(sha256) {
          if (sha256 === going) records.needed.delete(going)
          else await put(coming)
          return blobs.stat(sha256)
        },
      },
    })
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect(damage.counters().missing).toBe(0)
  })

  it('reports a right blob whose record says another size', async () => {
    const sha256 = await put(Buffer.from('ten bytes!'))
    records.needed.set(sha256, 11)
    const scrub = scrubOf()
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect(damage.counters()).toMatchObject({ missing: 1, quarantined: 0 })
    expect(logged()).toContainEqual(expect.objectContaining({ level: 50, sha256, recordedBytes: 11, storedBytes: 10 }))
  })

  it('error: one blob that cannot be read is counted and passed by', async () => {
    const digests = (await putMany(20)).sort()
    const bad = digests[7] ?? ''
    const open = async (sha256: string) => {
      if (sha256 === bad) throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
      return blobs.open(sha256)
    }
    const store = { ...blobs, open }
    damage = createDamageControl({ blobs: store, log: memoryLog(lines), now: () => clock.now })
    const scrub = scrubOf({ blobs: store })
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect(damage.counters()).toMatchObject({ unreadable: 1, quarantined: 0 })
    expect(logged().at(-1)).toMatchObject({ blobs: 20, wrong: 1 })
  })

  it('error: a store that is down ends the round, and the next one goes on from there', async () => {
    const digests = (await putMany(20)).sort()
    let isDown = false
    const down = async (): Promise<void> => {
      if (isDown) throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
    }
    const opened: string[] = []
    const store: BlobStore = {
      ...blobs,
      check: down,
      async open(sha256) {
        isDown ||= opened.length === 9
        await down()
        opened.push(sha256)
        return blobs.open(sha256)
      },
    }
    const scrub = scrubOf({ blobs: store })
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await expect(scrub.round()).rejects.toSatisfy((error) => LadeError.has(error, 'storage_failed'))
    expect(mark()?.after).toBe(digests[8])
    expect(damage.counters().unreadable).toBe(0)
    isDown = false
    opened.push('')
    await scrub.round()
    expect(opened.filter((sha256) => sha256 !== '')).toEqual(digests)
  })

  it('stops in the middle of a blob, and keeps the place', async () => {
    await putMany(10)
    const scrub = scrubOf({ mostBytesPerSecond: 2 })
    await scrub.round()
    const place = mark()
    clock.now += DAYS * DAY_MS
    scrub.start()
    await expect.poll(() => scrub.scrubbedBytes()).toBeGreaterThan(0)
    const startedAt = performance.now()
    await scrub.stop()
    expect(performance.now() - startedAt).toBeLessThan(1000)
    expect(mark()).toEqual(place)
    expect(lines).toEqual([])
  })

  it('does nothing when it is off', async () => {
    await put(Buffer.from('left alone'))
    const scrub = scrubOf({ days: 0 })
    scrub.start()
    expect(await scrub.round()).toBe(false)
    await scrub.stop()
    expect(records.marks.size).toBe(0)
    expect(await scrub.lastFinishedAt()).toBeUndefined()
  })

  it('reads files that are in the records, reports wrong ones, and forgets damage that was repaired', async () => {
    damage = createDamageControl({ blobs, records, log: memoryLog(lines), now: () => clock.now })
    const [right, wrong] = [Buffer.from('right'), Buffer.from('wrong')]
    for (let index = 0; index < 150; index += 1) {
      const bytes = Buffer.from(`file ${index}`)
      records.inline.set(sha256Hex(bytes), bytes)
    }
    records.inline.set(sha256Hex(right), right)
    records.damagedObjects.set(sha256Hex(right), 'inline')
    records.inline.set(sha256Hex(wrong), Buffer.from('wronG'))
    const scrub = scrubOf()
    await scrub.round()
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect(damage.counters()).toMatchObject({ inline: 1 })
    expect([...records.damagedObjects]).toEqual([[sha256Hex(wrong), 'inline']])
    expect(scrub.scrubbedBytes()).toBeGreaterThan(150 * 6)
    expect(logged().at(-1)).toMatchObject({ wrong: 1 })
  })

  it('records the digests of the chunks of old blobs in the first round, and mends wrong ones in the walk', async () => {
    const bytes = Buffer.alloc(2_500_000, 'old')
    const sha256 = await put(bytes)
    const damaged = await put(Buffer.alloc(2_500_000, 'bad'), { sha256: sha256Hex(Buffer.from('other')) })
    records.withoutChunks.add(sha256).add(damaged)
    const scrub = scrubOf()
    await scrub.round()
    const digests = records.chunks.get(sha256)
    expect(digests).toHaveLength(3 * 32)
    expect(Buffer.from(digests ?? '').subarray(64)).toEqual(
      createHash('sha256').update(bytes.subarray(2_097_152)).digest(),
    )
    expect(records.withoutChunks).toEqual(new Set([damaged]))
    expect(damage.counters().quarantined).toBe(1)

    records.chunks.set(sha256, new Uint8Array(96))
    clock.now += DAYS * DAY_MS
    await scrub.round()
    expect(records.chunks.get(sha256)).toEqual(digests)
  })
})
