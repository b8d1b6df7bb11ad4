import { expect } from 'vitest'
import { ALICE, BOB, type Cases, DAY, NOW, reserve, stage, stageAndRemove, upload } from './case.ts'

export function adminCases({ it }: Cases): void {
  it('sums what all principals have', async (store) => {
    expect(await store.admin.totals({ fromDay: DAY })).toEqual({
      storedBytes: 0,
      storedFiles: 0,
      principals: 0,
      runningUploads: 0,
      reservedBytes: 0,
      days: [],
      stored: [],
    })
    await stage(store, upload({ content: 'before', day: '2026-11-20', sizeBytes: 50 }))
    await stage(store, upload({ content: 'one', sizeBytes: 100 }))
    await stage(store, upload({ content: 'two', sizeBytes: 200, principal: BOB }))
    await store.files.remove({ principal: BOB, key: upload({ content: 'two' }).key, now: NOW })
    await reserve(store, upload({ content: 'three', sizeBytes: 30 }))
    expect(await store.admin.totals({ fromDay: DAY })).toEqual({
      storedBytes: 150,
      storedFiles: 2,
      principals: 1,
      runningUploads: 1,
      reservedBytes: 30,
      days: [{ date: DAY, bytes: 300, files: 2 }],
      stored: [],
    })
    expect((await store.admin.totals({ fromDay: '2026-11-20' })).days).toHaveLength(2)
  })

  const ask = { today: DAY, order: 'principal', offset: 0, limit: 10 } as const

  it('lists principals with what they have, also those with a token or limits alone', async (store) => {
    await stage(store, upload({ content: 'before', day: '2026-11-20', sizeBytes: 50 }))
    await stage(store, upload({ content: 'one', sizeBytes: 100 }))
    await stage(store, upload({ content: 'two', sizeBytes: 120, principal: 'ip:192.0.2.1' }))
    const token = { jti: 'one', sub: 'bob', email: 'bob@example.org', label: '', scopes: ['put'], quotaMb: 1 }
    const times = { issuedAt: NOW, expiresAt: NOW + 1000, lastUsedAt: null, revokedAt: null }
    await store.tokens.record({ token: { ...token, ...times }, forgetAt: null })
    await store.tokens.touch([{ jti: 'one', usedAt: NOW + 7 }])
    await store.limits.set({ principal: 'user:zoe', dailyBytes: 5, now: NOW, by: 'operator' })
    const found = await store.admin.principals(ask)
    expect(found.map(({ principal }) => principal)).toEqual(['ip:192.0.2.1', ALICE, BOB, 'user:zoe'])
    expect(found[1]).toEqual({
      principal: ALICE,
      storedBytes: 150,
      storedFiles: 2,
      todayBytes: 100,
      todayFiles: 1,
      lastDay: DAY,
      seenAt: null,
      email: null,
      dailyLimit: null,
      storedLimit: null,
    })
    expect(found[2]).toMatchObject({ storedFiles: 0, lastDay: null, seenAt: NOW + 7, email: 'bob@example.org' })
    expect(found[3]).toMatchObject({ storedBytes: 0, dailyLimit: 5, storedLimit: null })
    const names = async (more: object) =>
      (await store.admin.principals({ ...ask, ...more })).map(({ principal }) => principal)
    expect(await names({ order: 'stored' })).toEqual([ALICE, 'ip:192.0.2.1', BOB, 'user:zoe'])
    expect(await names({ order: 'today', limit: 2 })).toEqual(['ip:192.0.2.1', ALICE])
    expect(await names({ offset: 1, limit: 2 })).toEqual([ALICE, BOB])
    expect(await names({ search: 'USER:' })).toEqual([ALICE, BOB, 'user:zoe'])
    expect(await names({ principal: BOB })).toEqual([BOB])
  })

  it('lists live files of all principals, newest first, within bounds', async (store) => {
    const staged = []
    for (const [content, principal] of [
      ['one', ALICE],
      ['two', BOB],
      ['three', ALICE],
    ] as const) {
      staged.push(await stage(store, upload({ content, principal, filename: `${content}.TXT` })))
    }
    await stage(store, upload({ content: 'gone' }))
    await store.files.remove({ principal: ALICE, key: upload({ content: 'gone' }).key, now: NOW })
    const bounds = { now: NOW, limit: 10, before: 1000, from: 0 }
    const names = async (more: object) =>
      (await store.admin.files({ ...bounds, ...more })).map(({ filename }) => filename)
    expect(await names({})).toEqual(['three.TXT', 'two.TXT', 'one.TXT'])
    expect(await names({ limit: 1 })).toEqual(['three.TXT'])
    expect(await names({ before: staged[2]?.sequence })).toEqual(['two.TXT', 'one.TXT'])
    expect(await names({ from: staged[1]?.sequence })).toEqual(['three.TXT', 'two.TXT'])
    expect(await names({ search: 'two.txt' })).toEqual(['two.TXT'])
    expect(await names({ search: BOB.toUpperCase() })).toEqual(['two.TXT'])
    expect(await names({ now: NOW + 1000 * 86_400_000 })).toEqual([])
  })

  it('lists uploads in flight, leases, and how many removals wait', async (store) => {
    const id = await reserve(store, upload({ sizeBytes: 30 }))
    await reserve(store, upload({ sizeBytes: 40, principal: BOB, content: 'two', leaseUntil: NOW }))
    const uploads = await store.admin.uploads({ limit: 10 })
    expect(uploads.map(({ principal }) => principal)).toEqual([BOB, ALICE])
    expect(await store.admin.uploads({ limit: 10, principal: ALICE })).toEqual([
      { id, principal: ALICE, instance: 'instance-a', day: DAY, bytes: 30, leaseUntil: NOW + 3_600_000 },
    ])
    await store.leases.take({ name: 'scrub', holder: 'a', now: NOW, until: NOW + 5 })
    expect(await store.admin.leases()).toMatchObject([{ name: 'scrub', holder: 'a', until: NOW + 5 }])
    await stageAndRemove(store, upload({ content: 'gone' }))
    expect(await store.admin.removals()).toEqual({ waiting: 1, orphans: 0 })
  })

  it('keeps what was last noted as stored on a day', async (store) => {
    for (const bytes of [5, 7]) await store.admin.noteStored({ day: DAY, bytes })
    await store.admin.noteStored({ day: '2026-11-20', bytes: 3 })
    expect((await store.admin.totals({ fromDay: '2026-11-20' })).stored).toEqual([
      { date: '2026-11-20', bytes: 3 },
      { date: DAY, bytes: 7 },
    ])
    expect((await store.admin.totals({ fromDay: DAY })).stored).toHaveLength(1)
  })
}
