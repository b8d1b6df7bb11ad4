import { expect } from 'vitest'
import type { ListDealsRequest, RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, fileCommitOf, NOW, stage, stageAndRemove, times, upload } from './case.ts'
import { composed, stageParts } from './composing.ts'

export function dealCases({ it }: Cases): void {
  const list = async (store: RecordStore, filters: Partial<ListDealsRequest> = {}) => {
    const files = await store.files.listDeals({ principal: ALICE, now: NOW, limit: 10, ...filters })
    return files.map(({ cid }) => cid.slice('cid-of-'.length))
  }

  it('lists the deals of one principal newest first, live and ended, page by page', async (store) => {
    for (const content of ['one', 'two', 'three']) await stage(store, upload({ content }))
    await stage(store, upload({ content: 'other', principal: BOB }))
    await stageAndRemove(store, upload({ content: 'removed' }))
    await stage(store, upload({ content: 'expired', expiresAt: NOW }))
    expect(await list(store)).toEqual(['expired', 'removed', 'three', 'two', 'one'])
    const [, , last] = await store.files.listDeals({ principal: ALICE, now: NOW, limit: 3 })
    expect(await list(store, { beforeSequence: last?.sequence ?? 0, limit: 1 })).toEqual(['two'])
    expect(await list(store, { ended: 'live' })).toEqual(['three', 'two', 'one'])
    expect(await list(store, { ended: 'removed' })).toEqual(['removed'])
    expect(await list(store, { ended: 'expired' })).toEqual(['expired'])
    await store.files.expire({ now: NOW, limit: 10 })
    expect(await list(store, { ended: 'expired' })).toEqual(['expired'])
  })

  it('lists the deal of a composed file, and those of its parts no more', async (store) => {
    const parts = await stageParts(store)
    const file = await composed(store, parts)
    expect(await list(store)).toEqual(['whole'])
    expect(await list(store, { ended: 'removed' })).toEqual([])
    expect(await store.files.byDeal({ principal: ALICE, dealId: file.dealId })).toEqual(file)
    for (const { dealId } of parts) expect(await store.files.byDeal({ principal: ALICE, dealId })).toBeUndefined()
  })

  it('takes files of one deal id, as older versions made them, for one deal: that of the latest', async (store) => {
    const of = upload({ content: 'again' })
    const commit = fileCommitOf(of, 'd-0x0123456789abcdef0123456789abcdef')
    await store.quotas.commitAtOnce({ admit: of, commit })
    await store.files.remove({ principal: ALICE, key: of.key, now: NOW })
    await store.quotas.commitAtOnce({ admit: of, commit })
    const [file, ...others] = await store.files.listDeals({ principal: ALICE, now: NOW, limit: 10 })
    expect(file).toMatchObject({ dealId: commit.file.dealId, end: null })
    expect(others).toEqual([])
    expect(await list(store, { ended: 'removed' })).toEqual([])
    expect(await store.files.byDeal({ principal: ALICE, dealId: commit.file.dealId })).toEqual(file)
  })

  it('finds a deal of the principal by its id, live or ended, and of nobody else', async (store) => {
    const files = await Promise.all(times(5, (index) => stage(store, upload({ content: `file ${index}` }))))
    const [file] = files
    if (file === undefined) throw new Error('no file')
    const { dealId } = file
    expect(await store.files.byDeal({ principal: ALICE, dealId })).toEqual(file)
    expect(await store.files.byDeal({ principal: BOB, dealId })).toBeUndefined()
    for (const other of [dealId.slice(0, 12), `${dealId}0`, '', 'd-0x']) {
      expect(await store.files.byDeal({ principal: ALICE, dealId: other })).toBeUndefined()
    }
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    expect(await store.files.byDeal({ principal: ALICE, dealId })).toMatchObject({ end: 'removed' })
  })
}
