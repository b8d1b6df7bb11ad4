import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, digestOf, HOUR, NOW, stage, upload, WEEK } from './case.ts'

const DAY = 24 * HOUR

/** What the records do about a clock that was wrong. */
export function clockCases({ it }: Cases): void {
  const stageAt = (store: RecordStore, content: string, now: number, expiresAt = now + WEEK) =>
    stage(store, upload({ content, now, expiresAt }))
  const expiryOf = async (store: RecordStore, sequence: number) => (await store.files.bySequence(sequence))?.expiresAt

  it('knows the file that was staged last', async (store) => {
    expect(await store.files.newest()).toBeUndefined()
    await stageAt(store, 'one', NOW)
    const { sequence } = await stageAt(store, 'two', NOW - DAY)
    expect(await store.files.newest()).toEqual({ sequence, uploadedAt: NOW - DAY })
  })

  it('moves the ends of live files of a time, once', async (store) => {
    const before = await stageAt(store, 'before', NOW - 1)
    const first = await stageAt(store, 'first', NOW)
    const last = await stageAt(store, 'last', NOW + HOUR)
    const after = await stageAt(store, 'after', NOW + HOUR + 1)
    const removed = await stageAt(store, 'removed', NOW)
    await store.files.remove({ principal: ALICE, key: removed.key, now: NOW })
    const request = { fromSequence: 0, from: NOW, to: NOW + HOUR, byMs: 2 * DAY }
    await store.files.postpone({ ...request, fromSequence: last.sequence })
    await store.files.postpone(request)
    await store.files.postpone(request)
    expect(await expiryOf(store, before.sequence)).toBe(before.expiresAt)
    expect(await expiryOf(store, first.sequence)).toBe(first.expiresAt + 2 * DAY)
    expect(await expiryOf(store, last.sequence)).toBe(last.expiresAt + 2 * DAY)
    expect(await expiryOf(store, after.sequence)).toBe(after.expiresAt)
    expect(await expiryOf(store, removed.sequence)).toBe(removed.expiresAt)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  const KEPT = { keepMs: DAY, limit: 10 }
  const expire = (store: RecordStore, now: number) => store.files.expire({ ...KEPT, now })
  const due = (store: RecordStore, now: number) => store.discards.pending({ instanceId: 'instance-a', now, limit: 10 })

  it('keeps the bytes of an expired file for a time, in the records and in the blob store', async (store) => {
    const inline = Buffer.from([1, 2, 3])
    const small = await stage(store, upload({ content: 'small', inline }))
    await stage(store, upload({ content: 'big' }))
    const ended = NOW + WEEK
    expect(await expire(store, ended)).toBe(2)
    expect(await store.files.serving({ key: small.key, now: ended })).toEqual({ outcome: 'gone', end: 'expired' })
    expect(await store.files.releaseEnded({ now: ended + DAY - 1, limit: 10 })).toBe(0)
    expect(await store.files.inlineBytes(small.object)).toEqual(inline)
    expect(await due(store, ended + DAY - 1)).toEqual([])
    expect(await store.files.releaseEnded({ now: ended + DAY, limit: 10 })).toBe(2)
    expect(await store.files.releaseEnded({ now: ended + DAY, limit: 10 })).toBe(0)
    expect(await store.files.inlineBytes(small.object)).toBeUndefined()
    expect(await due(store, ended + DAY)).toMatchObject([{ sha256: digestOf('big') }])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('keeps bytes that are needed again when their time is over, and for others whose file expired', async (store) => {
    const first = await stage(store, upload())
    const ended = NOW + WEEK
    await expire(store, ended)
    await stage(store, upload({ now: ended, expiresAt: ended + WEEK, principal: BOB }))
    expect(await store.files.releaseEnded({ now: ended + DAY, limit: 10 })).toBe(1)
    expect(await due(store, ended + DAY)).toEqual([])
    const again = ended + WEEK
    await stage(store, upload({ now: again - DAY, expiresAt: again + WEEK }))
    await expire(store, again)
    await store.files.remove({ principal: ALICE, key: first.key, now: again })
    expect(await due(store, again + DAY - 1), 'bob’s file has just expired').toEqual([])
    await store.files.releaseEnded({ now: again + DAY, limit: 10 })
    expect(await due(store, again + DAY)).toHaveLength(1)
  })

  it('brings files back that expired while the clock was ahead', async (store) => {
    const inline = Buffer.from([1, 2, 3])
    const file = await stage(store, upload({ inline }))
    const other = await stage(store, upload({ inline, principal: BOB }))
    const over = await stageAt(store, 'over', NOW, NOW + 1)
    const ahead = NOW + 400 * DAY
    expect(await expire(store, ahead)).toBe(3)
    await stage(store, upload({ inline, principal: BOB, now: NOW + HOUR, expiresAt: NOW + 3 * WEEK }))
    const revive = () => store.files.revive({ ...KEPT, now: NOW + HOUR })
    expect(await revive()).toBe(1)
    expect(await revive()).toBe(0)
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await store.files.bySequence(other.sequence)).toMatchObject({ end: 'expired' })
    expect(await store.files.bySequence(over.sequence)).toMatchObject({ end: 'expired' })
    expect(await store.files.inlineBytes(file.object)).toEqual(inline)
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await store.files.releaseEnded({ now: NOW + HOUR + DAY, limit: 10 })).toBe(2)
    expect(await store.files.inlineBytes(file.object)).toEqual(inline)
    expect(await due(store, NOW + HOUR + DAY)).toMatchObject([{ sha256: digestOf('over') }])
  })

  it('brings nothing back that expired in time', async (store) => {
    await stage(store, upload())
    const ended = NOW + WEEK
    await expire(store, ended)
    for (const now of [ended, ended + DAY, ended - 30_000]) expect(await store.files.revive({ ...KEPT, now })).toBe(0)
    expect(await store.files.revive({ now: ended, limit: 10, keepMs: 1 }), 'with a shorter setting').toBe(0)
  })

  it('ends a removed file at the time that it is told', async (store) => {
    const { key, sequence } = await stageAt(store, 'one', NOW)
    const removed = await store.files.remove({ principal: ALICE, key, now: NOW, endedAt: NOW + 2 * WEEK })
    expect(removed).toMatchObject({ end: 'removed', endedAt: NOW + 2 * WEEK })
    expect(await store.files.bySequence(sequence)).toMatchObject({ end: 'removed', endedAt: NOW + 2 * WEEK })
  })

  it('gives up a lease that was taken while the clock was ahead', async (store) => {
    const take = (holder: string, now: number) => store.leases.take({ name: 'scrub', holder, now, until: now + HOUR })
    const wrong = await take('a', NOW + 400 * DAY)
    const right = await take('b', NOW)
    expect(right?.number).toBe((wrong?.number ?? 0) + 1)
    expect(await take('a', NOW)).toBeUndefined()
  })
}
