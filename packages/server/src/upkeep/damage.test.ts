import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore, OpenBlob } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { memoryLog } from '../testing/running/running-service.ts'
import { createDamageControl, type DamageControl, type DamageDeps } from './damage.ts'
import { type MemoryInventory, openMemoryInventory } from './testing-inventory.ts'

const BYTES = Buffer.from('right')
const SHA256 = sha256Hex(BYTES)

describe('createDamageControl', () => {
  let blobs: BlobStore
  let lines: string[]
  let clock: { now: number }

  beforeEach(() => {
    blobs = openMemoryBlobStore()
    lines = []
    clock = { now: Date.UTC(2026, 10, 21) }
  })

  const controlOf = (overrides: Partial<DamageDeps> = {}): DamageControl =>
    createDamageControl({ blobs, log: memoryLog(lines), now: () => clock.now, ...overrides })
  const put = async (bytes: Uint8Array, sha256 = sha256Hex(bytes)) => {
    const pending = await blobs.begin({ holder: 'test', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256)
  }
  const logged = () => lines.map((line) => JSON.parse(line) as { level: number; msg: string; sha256: string })

  it('puts a blob away that is wrong again, and says so as an error', async () => {
    await put(Buffer.from('wrong'), SHA256)
    const wrong: string[] = []
    const control = controlOf({ onWrong: (sha256) => wrong.push(sha256) })
    expect(await control.suspect(SHA256)).toBe('quarantined')
    expect(wrong).toEqual([SHA256])
    expect(await blobs.stat(SHA256)).toBeUndefined()
    expect(control.counters()).toEqual({ transient: 0, quarantined: 1, left: 0, unreadable: 0, missing: 0, inline: 0 })
    expect(logged()).toEqual([
      expect.objectContaining({ level: 50, sha256: SHA256, actual: sha256Hex(Buffer.from('wrong')), sizeBytes: 5 }),
    ])
  })

  it('leaves a blob alone that is right at the second look, and warns', async () => {
    await put(BYTES)
    const control = controlOf()
    expect(await control.suspect(SHA256)).toBe('transient')
    expect(await blobs.stat(SHA256)).toBeDefined()
    expect(control.counters()).toMatchObject({ transient: 1, quarantined: 0 })
    expect(logged()).toEqual([expect.objectContaining({ level: 40, sha256: SHA256 })])
  })

  it('says nothing of a blob that is gone', async () => {
    const control = controlOf()
    expect(await control.suspect(SHA256)).toBe('gone')
    expect(control.counters()).toEqual({ transient: 0, quarantined: 0, left: 0, unreadable: 0, missing: 0, inline: 0 })
    expect(lines).toEqual([])
  })

  /** The store, with something else done when a blob is to be put away. */
  const puttingAway = (quarantine: (blob: OpenBlob) => Promise<boolean>): BlobStore => ({
    ...blobs,
    async open(sha256) {
      const blob = await blobs.open(sha256)
      return blob && { ...blob, quarantine: () => quarantine(blob) }
    },
  })

  it('does not put away what was committed while it looked', async () => {
    await put(Buffer.from('wrong'), SHA256)
    const store = puttingAway(async (blob) => {
      await put(BYTES)
      return blob.quarantine()
    })
    const control = controlOf({ blobs: store })
    expect(await control.suspect(SHA256)).toBe('transient')
    expect(await blobs.stat(SHA256)).toEqual({ sha256: SHA256, put: '', sizeBytes: BYTES.length })
  })

  it('looks once for all who suspect a blob meanwhile, and again for those who come later', async () => {
    await put(BYTES)
    const control = controlOf()
    const looks = await Promise.all([control.suspect(SHA256), control.suspect(SHA256), control.suspect(SHA256)])
    expect(looks).toEqual(['transient', 'transient', 'transient'])
    expect(control.counters().transient).toBe(1)
    await control.suspect(SHA256)
    expect(control.counters().transient).toBe(2)
  })

  it('looks at several blobs one after the other', async () => {
    let open = 0
    let mostOpen = 0
    const all = Array.from({ length: 6 }, (_, index) => Buffer.from(`blob ${index}`))
    for (const bytes of all) await put(bytes)
    const store = {
      ...blobs,
      async open(sha256: string) {
        const body = await blobs.open(sha256)
        open += 1
        mostOpen = Math.max(mostOpen, open)
        const close = async (): Promise<void> => {
          open -= 1
        }
        return body && { ...body, close }
      },
    }
    const control = controlOf({ blobs: store })
    for (const bytes of all) void control.suspect(sha256Hex(bytes))
    await control.settled()
    expect({ mostOpen, open, ...control.counters() }).toMatchObject({ mostOpen: 1, open: 0, transient: 6 })
  })

  it('leaves blobs where they are when too many were put away within a day', async () => {
    const control = controlOf({ mostQuarantinesPerDay: 2 })
    const wrongOf = async (name: string) => {
      const sha256 = sha256Hex(Buffer.from(name))
      await put(Buffer.from(`not ${name}`), sha256)
      return sha256
    }
    const seen = []
    for (const name of ['one', 'two', 'three']) seen.push(await control.suspect(await wrongOf(name)))
    expect(seen).toEqual(['quarantined', 'quarantined', 'left'])
    expect(await blobs.stat(sha256Hex(Buffer.from('three')))).toBeDefined()
    clock.now += 86_400_001
    expect(await control.suspect(await wrongOf('four'))).toBe('quarantined')
    expect(control.counters()).toMatchObject({ quarantined: 3, left: 1 })
  })

  it('error: a medium that fails is counted and logged, and nothing is put away', async () => {
    await put(Buffer.from('wrong'), SHA256)
    const down = async (): Promise<never> => {
      throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
    }
    expect(await controlOf({ blobs: { ...blobs, open: down } }).suspect(SHA256)).toBe('unreadable')
    const control = controlOf({ blobs: puttingAway(down) })
    expect(await control.suspect(SHA256)).toBe('unreadable')
    expect(control.counters()).toMatchObject({ unreadable: 1, quarantined: 0 })
    expect(await blobs.stat(SHA256)).toBeDefined()
    expect(logged().map(({ level }) => level)).toEqual([50, 50])
  })

  it('counts blobs that the records miss', () => {
    const control = controlOf()
    control.reportMissing({ sha256: SHA256, recordedBytes: 5, storedBytes: undefined })
    control.reportMissing({ sha256: SHA256, recordedBytes: 5, storedBytes: 4 })
    expect(control.counters().missing).toBe(2)
    expect(logged()).toEqual([
      expect.objectContaining({ level: 50, sha256: SHA256, recordedBytes: 5 }),
      expect.objectContaining({ level: 50, sha256: SHA256, recordedBytes: 5, storedBytes: 4 }),
    ])
  })

  describe('with records', () => {
    const controlWith = (records: MemoryInventory, overrides: Partial<DamageDeps> = {}) =>
      controlOf({ records, ...overrides })
    let records: MemoryInventory
    beforeEach(() => {
      records = openMemoryInventory()
    })

    it('has damage remembered, whether the blob was put away or left, and forgotten when it was none', async () => {
      const control = controlWith(records, { mostQuarantinesPerDay: 1 })
      const [one, two] = [sha256Hex(Buffer.from('one')), sha256Hex(Buffer.from('two'))]
      await put(Buffer.from('not one'), one)
      await put(Buffer.from('not two'), two)
      await put(BYTES)
      records.damagedObjects.set(SHA256, 'wrong')
      for (const sha256 of [one, two, SHA256]) await control.suspect(sha256)
      expect([...records.damagedObjects]).toEqual([
        [one, 'missing'],
        [two, 'wrong'],
      ])
    })

    it('reports a missing blob that readers meet once, and none that was just removed', async () => {
      const control = controlWith(records)
      records.needed.set(SHA256, BYTES.length)
      for (const sha256 of [SHA256, SHA256, sha256Hex(Buffer.from('removed'))])
        control.onFault({ kind: 'missing', sha256 })
      await control.settled()
      expect(control.counters().missing).toBe(1)
      expect([...records.damagedObjects]).toEqual([[SHA256, 'missing']])
      clock.now += 3_600_000
      control.onFault({ kind: 'missing', sha256: SHA256 })
      await control.settled()
      expect(control.counters().missing).toBe(2)
    })

    it('reports wrong bytes in the records, unless they are right by now', async () => {
      const control = controlWith(records)
      const right = sha256Hex(Buffer.from('fine'))
      records.inline.set(SHA256, Buffer.from('Right'))
      records.inline.set(right, Buffer.from('fine'))
      for (const sha256 of [SHA256, right]) control.onFault({ kind: 'inline', sha256 })
      await control.settled()
      expect(control.counters().inline).toBe(1)
      expect([...records.damagedObjects]).toEqual([[SHA256, 'inline']])
      expect(logged()).toEqual([expect.objectContaining({ level: 50, sha256: SHA256 })])
    })

    it('has the digests of the chunks of a blob recorded that is right, since they may be what was wrong', async () => {
      const bytes = Buffer.alloc(3_000_000, 'right')
      await put(bytes)
      records.chunks.set(sha256Hex(bytes), new Uint8Array(96))
      expect(await controlWith(records).suspect(sha256Hex(bytes))).toBe('transient')
      expect(records.chunks.get(sha256Hex(bytes))).not.toEqual(new Uint8Array(96))
    })
  })
})
