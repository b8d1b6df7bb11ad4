import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, NOW, stage, upload } from './case.ts'
import {
  audit,
  confirm,
  dealStatus,
  enrol,
  enrolled,
  NORTH,
  openAddition,
  place,
  placedFile,
  reconcile,
  SOUTH,
  slices,
} from './placing.ts'

/** Where deals stand, since when and why. */
export function statusCases({ it, itAcrossRestart }: Cases): void {
  it('follows a deal from staged over proposed to active', async (store) => {
    const { file, piece } = await enrolled(store)
    expect(await dealStatus(store, file)).toEqual(['staged', 0])
    const { id: copy } = await place(store, { file, piece, prover: NORTH, as: 'pending' }, NOW + 1)
    expect(await dealStatus(store, file)).toEqual(['staged', 0])
    await store.placements.parked({ copy, now: NOW + 2 })
    expect(await dealStatus(store, file)).toEqual(['proposed', 2])
    await confirm(store, await openAddition(store, NORTH, [copy], NOW + 3), NOW + 4)
    expect(await dealStatus(store, file)).toEqual(['proposed', 2])
    await audit(store, copy, { at: NOW + 5 })
    await audit(store, copy, { at: NOW + 6 })
    expect(await dealStatus(store, file)).toEqual(['active', 5])
  })

  it('is told of many files at once, without what carries them', async (store) => {
    const { file } = await placedFile(store, 'proved')
    const other = await stage(store, upload({ content: 'not enrolled' }))
    const active = { file: file.sequence, status: 'active', statusAt: NOW, cause: null, onchainDealId: null }
    expect(await store.placements.statuses([other.sequence, file.sequence])).toEqual([active])
  })

  it('is proposed again when the only proof is gone, and staged when the only copy is', async (store) => {
    const { file, copy } = await placedFile(store, 'proved')
    await audit(store, copy, { at: NOW + 1, passed: false })
    expect(await dealStatus(store, file)).toEqual(['proposed', 1])
    await audit(store, copy, { at: NOW + 2 })
    expect(await dealStatus(store, file)).toEqual(['active', 2])
    await store.placements.fail({ copy, cause: 'lost', now: NOW + 3 })
    expect(await dealStatus(store, file)).toEqual(['staged', 3])
  })

  it('is active while one of several copies is proved', async (store) => {
    const { file, piece, copy: north } = await placedFile(store, 'proved')
    const { id: south } = await place(store, { file, piece, prover: SOUTH, as: 'proved' })
    await store.placements.fail({ copy: north, cause: 'lost', now: NOW + 1 })
    expect(await dealStatus(store, file)).toEqual(['active', 0])
    await reconcile(store, { piece, release: [south], now: NOW + 2 })
    expect(await dealStatus(store, file)).toEqual(['staged', 2])
  })

  it('is active only when every piece is proved, and proposed from the first one on that a prover has', async (store) => {
    const file = await stage(store, upload({ sizeBytes: 200 }))
    const [first = 0, second = 0] = await enrol(store, file, { pieces: slices(file, ['a', 'b']) })
    await place(store, { file, piece: first, prover: NORTH, as: 'proved' }, NOW + 1)
    expect(await dealStatus(store, file)).toEqual(['proposed', 1])
    await reconcile(store, { piece: second, add: [NORTH] })
    const [
      {
        copy: { id: other },
      } = { copy: { id: 0 } },
    ] = await store.placements.due({
      state: 'pending',
      now: NOW,
      limit: 1,
    })
    await store.placements.parked({ copy: other, now: NOW + 2 })
    await confirm(store, await openAddition(store, NORTH, [other]))
    expect(await dealStatus(store, file)).toEqual(['proposed', 1])
    await audit(store, other, { at: NOW + 3 })
    expect(await dealStatus(store, file)).toEqual(['active', 3])
    await audit(store, other, { at: NOW + 4, passed: false })
    expect(await dealStatus(store, file)).toEqual(['proposed', 4])
  })

  it('fails when no prover is left to ask, until one is asked again', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'parked')
    await store.placements.fail({ copy, cause: 'refused', now: NOW + 1 })
    await reconcile(store, { piece, failure: 'nobody takes it', nextAt: NOW + 9, now: NOW + 2 })
    expect(await dealStatus(store, file)).toEqual(['failed', 2, 'nobody takes it'])
    await reconcile(store, { piece, nextAt: NOW + 9, now: NOW + 3 })
    expect(await dealStatus(store, file)).toEqual(['failed', 2, 'nobody takes it'])
    await reconcile(store, { piece, failure: 'still nobody', nextAt: NOW + 9, now: NOW + 4 })
    expect(await dealStatus(store, file)).toEqual(['failed', 2, 'still nobody'])
    await reconcile(store, { piece, add: [SOUTH], now: NOW + 5 })
    expect(await dealStatus(store, file)).toEqual(['staged', 5])
  })

  it('does not fail while a copy is proved, and does when that one is gone', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    await reconcile(store, { piece, failure: 'nobody else takes it', now: NOW + 1 })
    expect(await dealStatus(store, file)).toEqual(['active', 0])
    await audit(store, copy, { at: NOW + 2, passed: false })
    expect(await dealStatus(store, file)).toEqual(['failed', 2, 'nobody else takes it'])
    await audit(store, copy, { at: NOW + 3 })
    expect(await dealStatus(store, file)).toEqual(['active', 3])
  })

  it('fails for one of its pieces', async (store) => {
    const file = await stage(store, upload({ sizeBytes: 200 }))
    const [first = 0, second = 0] = await enrol(store, file, { pieces: slices(file, ['a', 'b']) })
    await place(store, { file, piece: first, prover: NORTH, as: 'proved' })
    await reconcile(store, { piece: second, failure: 'too big', now: NOW + 1 })
    expect(await dealStatus(store, file)).toEqual(['failed', 1, 'too big'])
  })

  it('stands for every file of the same bytes alike, from the moment of its own enrolment on', async (store) => {
    const { file: alices, piece, copy } = await placedFile(store, 'proved')
    const bobs = await stage(store, upload({ principal: BOB }))
    expect(await enrol(store, bobs, { now: NOW + 7 })).toEqual([piece])
    expect(await dealStatus(store, bobs)).toEqual(['active', 7])
    await store.placements.fail({ copy, cause: 'lost', now: NOW + 8 })
    expect([await dealStatus(store, alices), await dealStatus(store, bobs)]).toEqual(Array(2).fill(['staged', 8]))
  })

  it('lists live deals by status, and those of files that are not enrolled as staged', async (store) => {
    await placedFile(store, 'proved', { content: 'active' })
    await placedFile(store, 'parked', { content: 'proposed' })
    const failed = await enrolled(store, { content: 'failed' })
    await reconcile(store, { piece: failed.piece, failure: 'nobody' })
    await enrolled(store, { content: 'staged' })
    await stage(store, upload({ content: 'unenrolled' }))
    await placedFile(store, 'proved', { content: 'bobs', principal: BOB })
    const { file } = await placedFile(store, 'proved', { content: 'removed' })
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    await enrolled(store, { content: 'expired', expiresAt: NOW + 1 })
    const list = async (status: 'staged' | 'proposed' | 'active' | 'failed', now = NOW + 1) => {
      const files = await store.files.listDeals({ principal: ALICE, now, limit: 10, status })
      return files.map(({ cid }) => cid.slice('cid-of-'.length))
    }
    expect(await list('active')).toEqual(['active'])
    expect(await list('proposed')).toEqual(['proposed'])
    expect(await list('failed')).toEqual(['failed'])
    expect(await list('staged')).toEqual(['unenrolled', 'staged'])
    expect(await list('staged', NOW)).toEqual(['expired', 'unenrolled', 'staged'])
  })

  itAcrossRestart('is kept', async (store, restart) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece, failure: 'nobody', now: NOW + 1 })
    const again: RecordStore = await restart()
    expect(await dealStatus(again, file)).toEqual(['failed', 1, 'nobody'])
  })
}
