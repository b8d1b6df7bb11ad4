import { expect } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  commit,
  commitAtOnce,
  counted,
  DAY,
  NOW,
  overBytes,
  overFiles,
  reserve,
  stage,
  times,
  tryReserve,
  type Upload,
  upload,
} from './case.ts'
import { compose } from './composing.ts'

/** Two /64s of one /48, and one of another whose text begins like theirs. */
const [ONE, TWO, NEXT] = ['ip:2001:db8:1:1::/64', 'ip:2001:db8:1:2::/64', 'ip:2001:db8:11:1::/64']
const NETWORK = 'ip:2001:db8:1::/48'

/** How many files a day has, and what a network has of bytes and files. */
export function dayCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const small = (content: string, overrides: Partial<Upload> = {}) =>
    upload({ content, sizeBytes: 1, capFiles: 3, ...overrides })
  const filesOf = async (store: Parameters<typeof stage>[0], principal = ALICE) => {
    const { days, reservedFiles } = await store.quotas.usage({ principal, fromDay: DAY, today: DAY, now: NOW })
    return { files: days[0]?.files ?? 0, reservedFiles }
  }

  it('fills the day to its last file, in flight or recorded, and refuses the next one', async (store) => {
    await stage(store, small('one'))
    await commitAtOnce(store, small('two'))
    const id = await reserve(store, small('three'))
    expect(await filesOf(store)).toEqual({ files: 2, reservedFiles: 1 })
    expect((await tryReserve(store, small('four'))).reserved).toEqual(overFiles(3, 3))
    expect(await commitAtOnce(store, small('four'))).toEqual(overFiles(3, 3))
    expect(await store.quotas.preview(small('four'))).toEqual(overFiles(3, 3))
    expect(await commit(store, id, small('three'))).toMatchObject({ outcome: 'recorded', usedBytes: 3 })
    expect((await tryReserve(store, small('four'))).reserved).toEqual(overFiles(3, 3))
    expect((await tryReserve(store, small('four', { day: '2026-11-22' }))).reserved.outcome).toBe('reserved')
    expect((await tryReserve(store, small('four', { principal: BOB }))).reserved.outcome).toBe('reserved')
  })

  it('gives a file back with the reservation, and never with the file', async (store) => {
    const ids = await Promise.all(times(3, (index) => reserve(store, small(`${index}`))))
    await store.quotas.release({ reservationId: ids[0] ?? '', now: NOW })
    await commit(store, ids[1] ?? '', small('1'))
    await store.files.remove({ principal: ALICE, key: small('1').key, now: NOW })
    expect(await filesOf(store)).toEqual({ files: 1, reservedFiles: 1 })
    await stage(store, small('three'))
    expect((await tryReserve(store, small('four'))).reserved).toEqual(overFiles(3, 3))
  })

  it('takes no file for a retry, and one for a retry whose file was removed meanwhile', async (store) => {
    await stage(store, small('one', { capFiles: 1 }))
    const id = await reserve(store, small('one', { capFiles: 1 }))
    expect(await commitAtOnce(store, small('one', { capFiles: 1 }))).toMatchObject({ outcome: 'retry' })
    await store.files.remove({ principal: ALICE, key: small('one').key, now: NOW })
    expect(await commit(store, id, small('one'))).toEqual(overFiles(1, 1))
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await filesOf(store)).toEqual({ files: 1, reservedFiles: 0 })
  })

  it('counts a composed file as one more, and refuses it where there is none', async (store) => {
    const parts = [await stage(store, small('one')), await stage(store, small('two'))]
    const refused = await compose(store, parts, { capFiles: 2 })
    expect(refused).toEqual(overFiles(2, 2))
    expect(await store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })).toHaveLength(2)
    expect(await compose(store, parts, { capFiles: 3 })).toMatchObject({ outcome: 'recorded' })
    expect(await compose(store, parts, { capFiles: 3 })).toMatchObject({ outcome: 'retry' })
    expect(await filesOf(store)).toEqual({ files: 3, reservedFiles: 0 })
    expect((await tryReserve(store, small('three'))).reserved).toEqual(overFiles(2, 3))
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo('lets exactly as many files in as there are of 100 at once', async (store, other) => {
    const answers = await Promise.all(
      times(100, async (index) => {
        const one = small(`${index}`, { capFiles: 7 })
        const handle = index % 2 === 0 ? store : other
        return index % 3 === 0 ? commitAtOnce(handle, one) : (await tryReserve(handle, one)).reserved
      }),
    )
    const { recorded = 0, reserved = 0, over_quota } = counted(answers)
    expect([recorded + reserved, over_quota]).toEqual([7, 93])
    expect(await filesOf(store)).toEqual({ files: recorded, reservedFiles: reserved })
  })

  it('gives a /48 sixteen days of one /64, charged and reserved, and no byte more', async (store) => {
    // Each /64 may have 100 bytes, so the /48 has 1,600.
    const of = (group: number, sizeBytes = 100) =>
      upload({ content: `of ${group}`, principal: `ip:2001:db8:1:${group}::/64`, sizeBytes, capBytes: 100 })
    await Promise.all(times(15, (group) => (group % 2 === 0 ? stage(store, of(group)) : reserve(store, of(group)))))
    await reserve(store, of(15, 99))
    const over = { unit: 'bytes', used: 1_599, limit: 1_600, network: NETWORK }
    const refused = { outcome: 'over_quota', usedBytes: 0, over }
    expect((await tryReserve(store, of(16, 2))).reserved).toEqual(refused)
    expect(await commitAtOnce(store, of(16, 2))).toEqual(refused)
    expect((await tryReserve(store, of(15, 2))).reserved).toEqual(overBytes(99, 100))
    expect(await commitAtOnce(store, of(16, 1))).toMatchObject({ outcome: 'recorded', usedBytes: 1 })
    expect((await tryReserve(store, of(17, 1))).reserved).toMatchObject({ over: { ...over, used: 1_600 } })
    const neighbour = { ...of(17), principal: NEXT }
    expect((await tryReserve(store, neighbour)).reserved).toMatchObject({ outcome: 'reserved' })
    expect((await tryReserve(store, { ...of(17), day: '2026-11-22' })).reserved.outcome).toBe('reserved')
    expect(await account(store, of(16).principal)).toEqual({ charged: 1, reserved: 0, stored: 1 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('counts the files of a /48 as it counts its bytes, those that were composed among them', async (store) => {
    const of = (principal: string, content: string) => small(content, { principal, capFiles: 1 })
    const parts = await Promise.all(
      times(15, (index) => stage(store, small(`${index}`, { principal: ONE, capFiles: 99 }))),
    )
    expect(await compose(store, parts, { principal: ONE, capFiles: 99 })).toMatchObject({ outcome: 'recorded' })
    const over = { unit: 'files', used: 16, limit: 16, network: NETWORK }
    expect((await tryReserve(store, of(TWO, 'two'))).reserved).toEqual({ outcome: 'over_quota', usedBytes: 0, over })
    expect((await tryReserve(store, of(NEXT, 'two'))).reserved.outcome).toBe('reserved')
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo('lets exactly as much of a /48 in as it has, of 120 uploads of its /64s at once', async (store, other) => {
    const answers = await Promise.all(
      times(120, async (index) => {
        const principal = `ip:2001:db8:1:${(index % 40).toString(16)}::/64`
        const one = upload({ content: `${index}`, principal, sizeBytes: 50, capBytes: 100 })
        const handle = index % 2 === 0 ? store : other
        return index % 3 === 0 ? commitAtOnce(handle, one) : (await tryReserve(handle, one)).reserved
      }),
    )
    const { recorded = 0, reserved = 0, over_quota } = counted(answers)
    expect([recorded + reserved, over_quota]).toEqual([32, 88])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('gives a /48 back what the reservations of a dead instance held', async (store) => {
    const held = (group: number) =>
      upload({ content: `${group}`, principal: `ip:2001:db8:1:${group}::/64`, capBytes: 100, instanceId: 'instance-b' })
    await store.instances.register({ instanceId: 'instance-b', now: NOW })
    await Promise.all(times(16, (group) => reserve(store, held(group))))
    const next = { ...held(16), instanceId: 'instance-a' }
    expect((await tryReserve(store, next)).reserved).toMatchObject({ over: { network: NETWORK } })
    await store.instances.deregister({ instanceId: 'instance-b', now: NOW })
    await stage(store, next)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itAcrossRestart('knows what a /48 has used after a restart', async (store, restart) => {
    await stage(store, upload({ principal: ONE, sizeBytes: 1_500, capBytes: 9_999 }))
    const again = await restart()
    const other = upload({ content: 'other', principal: TWO, sizeBytes: 101, capBytes: 100 })
    expect((await tryReserve(again, { ...other, sizeBytes: 100 })).reserved.outcome).toBe('reserved')
    expect(
      (await tryReserve(again, { ...other, principal: 'ip:2001:db8:1:3::/64', sizeBytes: 1 })).reserved,
    ).toMatchObject({
      over: { used: 1_600, limit: 1_600, network: NETWORK },
    })
  })
}
