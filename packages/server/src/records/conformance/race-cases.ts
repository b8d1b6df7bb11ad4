import { expect } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  commit,
  counted,
  NOW,
  pending,
  reserve,
  stage,
  times,
  tryReserve,
  upload,
} from './case.ts'

export function raceCases({ it, itWithTwo }: Cases): void {
  const racer = (index: number) => upload({ content: `racer ${index}`, capBytes: 1_700 })

  it('admits exactly what fits of 200 reservations at once', async (store) => {
    const outcomes = await Promise.all(times(200, async (index) => (await tryReserve(store, racer(index))).reserved))
    expect(counted(outcomes)).toEqual({ reserved: 17, over_quota: 183 })
    expect(await account(store)).toMatchObject({ reserved: 1_700 })
  })

  itWithTwo('admits exactly what fits of 200 reservations through two handles', async (store, other) => {
    const outcomes = await Promise.all(
      times(200, async (index) => (await tryReserve(index % 2 === 0 ? store : other, racer(index))).reserved),
    )
    expect(counted(outcomes)).toEqual({ reserved: 17, over_quota: 183 })
    expect(await account(store)).toMatchObject({ reserved: 1_700 })
    expect(await account(other)).toMatchObject({ reserved: 1_700 })
  })

  it('charges one key of one principal once when it is committed 16 times at once', async (store) => {
    const one = upload({ capBytes: 1_600 })
    const ids = await Promise.all(times(16, () => reserve(store, one)))
    const outcomes = await Promise.all(ids.map((id) => commit(store, id, one)))
    expect(counted(outcomes)).toEqual({ recorded: 1, retry: 15 })
    const deals = new Set(outcomes.map((outcome) => 'file' in outcome && outcome.file.dealId))
    expect(deals.size).toBe(1)
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itWithTwo('charges one key of one principal once through two handles', async (store, other) => {
    const one = upload({ capBytes: 1_600 })
    const ids = await Promise.all(times(16, (index) => reserve(index % 2 === 0 ? store : other, one)))
    const outcomes = await Promise.all(ids.map((id, index) => commit(index % 3 === 0 ? store : other, id, one)))
    expect(counted(outcomes)).toEqual({ recorded: 1, retry: 15 })
    expect(await account(other)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itWithTwo('lets either the commit or the release of one reservation win, never both', async (store, other) => {
    const rounds = times(40, (index) => upload({ content: `round ${index}`, capBytes: 10_000 }))
    const ids = await Promise.all(rounds.map((one) => reserve(store, one)))
    const outcomes = await Promise.all(
      ids.map(async (id, index) => {
        const one = rounds[index] ?? upload()
        const released = other.quotas.release({ reservationId: id, now: NOW })
        const committed = await commit(store, id, one)
        await released
        return committed
      }),
    )
    const recorded = counted(outcomes).recorded ?? 0
    expect(recorded + (counted(outcomes).lost ?? 0)).toBe(40)
    expect(await account(store)).toEqual({ charged: recorded * 100, reserved: 0, stored: recorded * 100 })
  })

  it('charges each of two principals for the same bytes, and removing one leaves the other', async (store) => {
    await Promise.all([stage(store, upload()), stage(store, upload({ principal: BOB }))])
    expect(await account(store, BOB)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await account(store, ALICE)).toEqual({ charged: 100, reserved: 0, stored: 0 })
    expect(await account(store, BOB)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await pending(store)).toEqual([])
  })
}
