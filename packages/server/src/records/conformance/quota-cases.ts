import { expect } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  DAY,
  HOUR,
  NOW,
  overBytes,
  pending,
  reserve,
  stage,
  times,
  tryReserve,
  upload,
  WEEK,
} from './case.ts'

export function quotaCases({ it }: Cases): void {
  it('turns a reservation into a charge at the commit', async (store) => {
    const { id, reserved } = await tryReserve(store, upload())
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 100, usedBytes: 100 })
    expect(await account(store)).toEqual({ charged: 0, reserved: 100, stored: 0 })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    const committed = await commit(store, id, upload())
    expect(committed).toMatchObject({ outcome: 'recorded', usedBytes: 100, file: { endedAt: null, end: null } })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('fills the cap to its last byte', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 400 }))
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 400, usedBytes: 1_000 })
  })

  it('refuses one byte over the cap and says how much is used', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 401 }))
    expect(reserved).toEqual(overBytes(600))
    expect(await account(store)).toEqual({ charged: 600, reserved: 0, stored: 600 })
  })

  it('refuses when the cap was lowered below what is used', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 1, capBytes: 500 }))
    expect(reserved).toEqual(overBytes(600, 500))
  })

  it('counts what others of the same principal have reserved', async (store) => {
    await reserve(store, upload({ content: 'one', sizeBytes: 600, instanceId: 'instance-b' }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 401 }))
    expect(reserved).toEqual(overBytes(600))
  })

  it('keeps principals and days apart', async (store) => {
    await stage(store, upload({ sizeBytes: 1_000 }))
    await reserve(store, upload({ sizeBytes: 1_000, principal: BOB }))
    await reserve(store, upload({ content: 'next day', sizeBytes: 1_000, day: '2026-11-22' }))
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
  })

  it('charges a commit after midnight to the day of its reservation', async (store) => {
    const evening = upload({ day: '2026-11-20' })
    const id = await reserve(store, evening)
    await commit(store, id, upload())
    const usage = await store.quotas.usage({ principal: ALICE, fromDay: '2026-11-15', today: DAY, now: NOW })
    expect(usage.days).toEqual([{ date: '2026-11-20', bytes: 100, files: 1 }])
  })

  it('reserves nothing for a retry, even at a full quota, and charges nothing at its commit', async (store) => {
    const first = await stage(store, upload({ sizeBytes: 1_000, filename: 'first.txt' }))
    const retry = upload({ sizeBytes: 1_000, filename: 'second.txt', contentType: 'image/png' })
    const { id, reserved } = await tryReserve(store, retry)
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 0, usedBytes: 1_000 })
    expect(await commit(store, id, retry)).toEqual({ outcome: 'retry', file: first, usedBytes: 1_000 })
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
  })

  it('charges a retry whose file was removed in between', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload())
    await claim(store, id, upload())
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await commit(store, id, upload())).toMatchObject({ outcome: 'recorded', usedBytes: 200 })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 100 })
  })

  it('refuses a retry whose file was removed in between and which no longer fits', async (store) => {
    await stage(store, upload({ sizeBytes: 600 }))
    const id = await reserve(store, upload({ sizeBytes: 600 }))
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await commit(store, id, upload({ sizeBytes: 600 }))).toEqual(overBytes(600))
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 600, reserved: 0, stored: 0 })
  })

  it('charges a file again whose term has ended, swept or not', async (store) => {
    const first = await stage(store, upload({ expiresAt: NOW + 1 }))
    const again = upload({ now: NOW + 1 })
    const { id, reserved } = await tryReserve(store, again)
    expect(reserved).toMatchObject({ reservedBytes: 100 })
    expect(await commit(store, id, again)).toMatchObject({ outcome: 'recorded', usedBytes: 200 })
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ endedAt: NOW + 1, end: 'expired' })
    expect(await pending(store)).toEqual([])
  })

  it('refuses more uploads in flight than allowed, and takes the next when one has ended', async (store) => {
    const few = (content: string) => upload({ content, maxInFlight: 2, sizeBytes: 1 })
    const first = await reserve(store, few('one'))
    const second = await reserve(store, few('two'))
    expect((await tryReserve(store, few('three'))).reserved).toEqual({ outcome: 'too_many_in_flight', inFlight: 2 })
    await reserve(store, { ...few('three'), principal: BOB })
    await store.quotas.release({ reservationId: first, now: NOW })
    await reserve(store, few('three'))
    await commit(store, second, few('two'))
    await reserve(store, few('four'))
  })

  it('returns a reservation once, however often it is released', async (store) => {
    const kept = upload({ content: 'kept', sizeBytes: 300 })
    await reserve(store, kept)
    const id = await reserve(store, upload())
    await Promise.all(times(8, () => store.quotas.release({ reservationId: id, now: NOW })))
    expect(await account(store)).toEqual({ charged: 0, reserved: 300, stored: 0 })
  })

  it('keeps the charge when a reservation is released after its commit', async (store) => {
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await pending(store)).toEqual([])
  })

  it('answers lost to a claim and a commit whose reservation was released', async (store) => {
    const id = await reserve(store, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'lost' })
    expect(await commit(store, id, upload())).toEqual({ outcome: 'lost' })
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
  })

  it('answers lost to a second commit of one reservation', async (store) => {
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    expect(await commit(store, id, upload({ content: 'other' }))).toEqual({ outcome: 'lost' })
  })

  it('returns leases that have ended, and only those', async (store) => {
    const ended = await reserve(store, upload({ content: 'ended', leaseUntil: NOW - 1 }))
    const ending = await reserve(store, upload({ content: 'ending', leaseUntil: NOW }))
    expect(await store.quotas.releaseExpired({ now: NOW })).toBe(1)
    expect(await store.quotas.releaseExpired({ now: NOW })).toBe(0)
    expect(await commit(store, ended, upload({ content: 'ended' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, ending, upload({ content: 'ending' }))).toMatchObject({ outcome: 'recorded' })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('extends the leases of one instance only', async (store) => {
    await reserve(store, upload({ content: 'alive', sizeBytes: 1 }))
    await reserve(store, upload({ content: 'dead', sizeBytes: 2, instanceId: 'instance-b' }))
    const lease = { endingBefore: NOW + 2 * HOUR, leaseUntil: NOW + 3 * HOUR }
    await store.quotas.extendLeases({ instanceId: 'instance-a', ...lease })
    expect(await store.quotas.releaseExpired({ now: NOW + 2 * HOUR })).toBe(1)
    expect(await account(store)).toMatchObject({ reserved: 1 })
  })

  it('extends the leases that end before the given time, and no others', async (store) => {
    await reserve(store, upload({ content: 'ends before', sizeBytes: 1, leaseUntil: NOW + HOUR - 1 }))
    await reserve(store, upload({ content: 'ends then', sizeBytes: 2, leaseUntil: NOW + HOUR }))
    const lease = { endingBefore: NOW + HOUR, leaseUntil: NOW + 3 * HOUR }
    await store.quotas.extendLeases({ instanceId: 'instance-a', ...lease })
    expect(await store.quotas.releaseExpired({ now: NOW + 2 * HOUR })).toBe(1)
    expect(await account(store)).toMatchObject({ reserved: 1 })
  })

  it('reports days with a charge in order, within the window, and what is stored now', async (store) => {
    for (const [index, day] of ['2026-11-20', '2026-11-14', '2026-11-15', DAY].entries()) {
      await stage(store, upload({ content: `file ${index}`, day, sizeBytes: 10 + index }))
    }
    await stage(store, upload({ content: 'short', sizeBytes: 500, expiresAt: NOW }))
    await stage(store, upload({ content: 'removed', sizeBytes: 50 }))
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    await reserve(store, upload({ content: 'yesterday', day: '2026-11-20', sizeBytes: 7 }))
    const usage = await store.quotas.usage({ principal: ALICE, fromDay: '2026-11-15', today: DAY, now: NOW })
    expect(usage).toEqual({
      days: [
        { date: '2026-11-15', bytes: 12, files: 1 },
        { date: '2026-11-20', bytes: 10, files: 1 },
        { date: DAY, bytes: 563, files: 3 },
      ],
      reservedBytes: 0,
      reservedFiles: 0,
      stored: { bytes: 46, files: 4 },
    })
  })

  it('reports nothing for a principal it never saw', async (store) => {
    const usage = await store.quotas.usage({ principal: 'user:nobody', fromDay: DAY, today: DAY, now: NOW })
    expect(usage).toEqual({ days: [], reservedBytes: 0, reservedFiles: 0, stored: { bytes: 0, files: 0 } })
  })

  it('counts exactly up to the largest safe integer', async (store) => {
    const most = Number.MAX_SAFE_INTEGER
    const huge = upload({ sizeBytes: most - 1, capBytes: most })
    expect(await stage(store, huge)).toMatchObject({ sizeBytes: most - 1 })
    const two = upload({ content: 'two', sizeBytes: 2, capBytes: most })
    expect((await tryReserve(store, two)).reserved).toEqual(overBytes(most - 1, most))
    const all = upload({ content: 'all', sizeBytes: most, capBytes: most })
    expect((await tryReserve(store, all)).reserved).toEqual(overBytes(most - 1, most))
    await stage(store, upload({ content: 'one', sizeBytes: 1, capBytes: most }))
    expect(await account(store)).toEqual({ charged: most, reserved: 0, stored: most })
    expect(await store.files.latest({ principal: ALICE, key: huge.key, now: NOW })).toMatchObject({
      sizeBytes: most - 1,
    })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('finds no drift after uploads that ended in every way', async (store) => {
    const contents = times(24, (index) => upload({ content: `file ${index}`, sizeBytes: 1 + index, capBytes: 10_000 }))
    await Promise.all(
      contents.map(async (one, index) => {
        const id = await reserve(store, one)
        if (index % 2 === 0) await claim(store, id, one)
        if (index % 3 === 0) return store.quotas.release({ reservationId: id, now: NOW })
        await commit(store, id, one)
        if (index % 5 === 0) await store.files.remove({ principal: ALICE, key: one.key, now: NOW })
        if (index % 7 === 0) await commit(store, await reserve(store, one), one)
      }),
    )
    await store.files.expire({ now: NOW + WEEK, limit: 5 })
    expect(await store.quotas.checkDrift()).toEqual([])
    // A retry of a live file is free, so each content that was committed is charged once.
    const committed = contents.filter((_, index) => index % 3 !== 0).reduce((sum, one) => sum + one.sizeBytes, 0)
    expect(await account(store)).toMatchObject({ charged: committed, reserved: 0 })
  })
}
