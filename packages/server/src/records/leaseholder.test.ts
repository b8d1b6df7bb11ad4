import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteRecordStore } from './drivers/sqlite/sqlite-record-store.ts'
import { createLeaseholder, type Leaseholder } from './leaseholder.ts'
import type { LeaseRecords, RecordStore } from './record-store.ts'
import { newDatabase } from './testing-new-database.ts'

const LASTS_MS = 9000

describe('a leaseholder', () => {
  let dir: string
  let records: RecordStore
  let clock: { now: number }
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-lease-'))
    records = await openSqliteRecordStore({ file: newDatabase(join(dir, 'lade.db')), onFatal: () => {} })
    clock = { now: Date.UTC(2026, 10, 21) }
  })
  afterEach(async () => {
    await records.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const leaseholderOf = (holder: string, leases: Partial<LeaseRecords> = {}): Leaseholder =>
    createLeaseholder({
      records: { ...records, leases: { ...records.leases, ...leases } },
      name: 'work',
      lastsMs: LASTS_MS,
      holder,
      now: () => clock.now,
    })
  const change = (leaseholder: Leaseholder) =>
    leaseholder.records.inventory.setMark({ name: 'place', value: `${clock.now}` })

  it('lets one of two have the lease, and the other one when it is given back', async () => {
    const [one, other] = [leaseholderOf('one'), leaseholderOf('other')]
    expect([await one.hold(), await other.hold()]).toEqual([true, false])
    await other.giveBack()
    expect(await other.hold()).toBe(false)
    await one.giveBack()
    expect([await other.hold(), await one.hold()]).toEqual([true, false])
  })

  it('asks the records once in a third of the time, and so keeps it for as long as it is asked', async () => {
    const takenAt: number[] = []
    const startedAt = clock.now
    const take: LeaseRecords['take'] = (request) => {
      takenAt.push(request.now - startedAt)
      return records.leases.take(request)
    }
    const [one, other] = [leaseholderOf('one', { take }), leaseholderOf('other')]
    for (; clock.now < startedAt + 2 * LASTS_MS; clock.now += 1000) {
      expect([await one.hold(), await other.hold()]).toEqual([true, false])
    }
    expect(takenAt).toEqual([0, 3000, 6000, 9000, 12_000, 15_000])
  })

  it('learns that another has it by now, and changes nothing then', async () => {
    const [one, other] = [leaseholderOf('one'), leaseholderOf('other')]
    await one.hold()
    await change(one)
    clock.now += LASTS_MS + 1
    expect(await other.hold()).toBe(true)
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await one.hold()).toBe(false)
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    await change(other)
    expect(await one.records.inventory.mark('place')).toBe(`${clock.now}`)
  })

  it('tells of a lease that was elsewhere in between before it has it again', async () => {
    const [one, other] = [leaseholderOf('one'), leaseholderOf('other')]
    await one.hold()
    clock.now += LASTS_MS + 1
    await other.hold()
    await other.giveBack()
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await one.hold()).toBe(false)
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await one.hold()).toBe(true)
    await change(one)
  })

  it('changes nothing before it has the lease, nor after it gave it back', async () => {
    const one = leaseholderOf('one')
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    await one.hold()
    await change(one)
    await one.giveBack()
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
  })

  it('asks nothing of the records when it gives back what it does not have', async () => {
    const giveBack = (): Promise<void> => expect.fail('there is nothing to give back')
    const one = leaseholderOf('one', { giveBack })
    await one.giveBack()
    await leaseholderOf('other').hold()
    expect(await one.hold()).toBe(false)
    await one.giveBack()
  })

  it('error: is done with a lease that the records did not take back, which runs out', async () => {
    // As after the records were closed under it.
    const giveBack = () => brokenRecords.leases.giveBack({ name: 'work', holder: 'one' })
    const brokenRecords = await openSqliteRecordStore({ file: join(dir, 'other.db'), onFatal: () => {} })
    await brokenRecords.close()
    await expect(giveBack()).rejects.toMatchObject({ code: 'storage_failed' })
    const [one, other] = [leaseholderOf('one', { giveBack }), leaseholderOf('other')]
    await one.hold()
    await one.giveBack()
    await expect(change(one)).rejects.toMatchObject({ code: 'storage_failed' })
    clock.now += LASTS_MS - 1
    expect(await other.hold()).toBe(false)
    clock.now += 1
    expect(await other.hold()).toBe(true)
  })

  it('error: says so when the records cannot be asked, and keeps what it has', async () => {
    let isAway = false
    const take: LeaseRecords['take'] = async (request) => {
      if (isAway) throw new Error('the records are away')
      return records.leases.take(request)
    }
    const one = leaseholderOf('one', { take })
    await one.hold()
    isAway = true
    expect(await one.hold()).toBe(true)
    clock.now += LASTS_MS / 2
    await expect(one.hold()).rejects.toThrow('the records are away')
    await change(one)
  })
})
