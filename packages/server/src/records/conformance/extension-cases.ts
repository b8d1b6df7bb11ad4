import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { type Cases, NOW, WEEK } from './case.ts'
import { ACCOUNT, BLOCK, CONTRACT, final, mined, proposed, transaction, transactionOf } from './proposing.ts'

export function extensionCases({ it }: Cases): void {
  const short = (store: RecordStore, endsAfter = NOW, endsBefore = NOW + 2 * WEEK, limit = 100) =>
    store.chain.tooShort({ endsAfter, endsBefore, limit })
  /** Final deals that end so long after now, needed for a week. */
  const finalDeals = async (store: RecordStore, ends: readonly number[]) => {
    const { copies, id } = await proposed(store, ends.length)
    const dealIds = ends.map((_, index) => String(41 + index))
    await mined(store, id, { dealIds, endsAt: ends.map((end) => NOW + end) })
    await final(store, id)
    return copies
  }
  const extend = (store: RecordStore, nonce: number, copy: number, from: number, to: number) =>
    store.chain.record({ ...transaction(nonce), extends: { copy, from: NOW + from, to: NOW + to } })

  it('finds final deals that end before they are needed, slice by slice', async (store) => {
    const copies = await finalDeals(store, [3, 1, 2, WEEK])
    const { deals, upTo } = await short(store)
    expect(upTo).toBeNull()
    expect(deals.map(({ endsAt }) => endsAt - NOW)).toEqual([1, 2, 3])
    expect(deals[0]).toEqual({
      copy: copies[1],
      contract: CONTRACT,
      onchainId: '42',
      pieceSizeBytes: 100,
      endsAt: NOW + 1,
      neededUntil: NOW + WEEK,
      extensionFailures: 0,
      extensionFailedAt: null,
    })
    const first = await short(store, NOW, NOW + 2 * WEEK, 2)
    expect([first.deals.length, first.upTo]).toEqual([2, NOW + 2])
    expect(await short(store, NOW + 2, NOW + 2 * WEEK, 2)).toMatchObject({ deals: [{ endsAt: NOW + 3 }] })
    expect((await short(store, NOW + 1, NOW + 3)).deals).toMatchObject([{ endsAt: NOW + 2 }])
    await store.placements.fail({ copy: copies[0] ?? 0, cause: 'lost', now: NOW })
    expect((await short(store)).deals).toHaveLength(2)
  })

  it('leaves deals that are not final yet', async (store) => {
    const { id } = await proposed(store, 1)
    await mined(store, id)
    expect((await short(store)).deals).toEqual([])
  })

  it('extends a deal once at a time, and gives it its new end when that is settled', async (store) => {
    const [copy = 0] = await finalDeals(store, [10])
    expect(await extend(store, 1, copy, 9, 20), 'it ends at another time').toBe(false)
    expect(await extend(store, 1, copy, 10, 20)).toBe(true)
    expect(await extend(store, 2, copy, 10, 30)).toBe(false)
    expect((await short(store)).deals).toEqual([])
    const { id } = await transactionOf(store, 1)
    await mined(store, id, { dealIds: [], endsAt: [] })
    expect(await store.chain.dealsOf([copy])).toMatchObject([{ endsAt: NOW + 10 }])
    await final(store, id)
    expect(await store.chain.dealsOf([copy])).toMatchObject([{ endsAt: NOW + 20, state: 'final' }])
    expect((await short(store)).deals).toMatchObject([{ endsAt: NOW + 20, extensionFailures: 0 }])
    expect(await store.chain.nextNonce(ACCOUNT), 'refused ones leave nothing').toBe(2)
  })

  it('counts an extension that was undone, and none whose nonce another one has', async (store) => {
    const [copy = 0] = await finalDeals(store, [10])
    await extend(store, 1, copy, 10, 20)
    await store.chain.superseded({ transaction: (await transactionOf(store, 1)).id })
    expect((await short(store)).deals).toMatchObject([{ endsAt: NOW + 10, extensionFailures: 0 }])
    await extend(store, 2, copy, 10, 20)
    const { id } = await transactionOf(store, 2)
    await mined(store, id, { succeeded: false, dealIds: [], endsAt: [] })
    await final(store, id, BLOCK.blockHash, NOW + 5)
    const failed = { endsAt: NOW + 10, extensionFailures: 1, extensionFailedAt: NOW + 5 }
    expect((await short(store)).deals).toMatchObject([failed])
    expect(await store.chain.dealsOf([copy])).toMatchObject([{ state: 'final', reverts: 0 }])
  })
}
