import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, HOUR, NOW, stage, upload, WEEK } from './case.ts'
import { composed, stageParts } from './composing.ts'
import {
  copyAt,
  dealOf,
  dealStatus,
  enrol,
  enrolled,
  NORTH,
  place,
  placedFile,
  reconcile,
  reconcileAll,
  SOUTH,
  slices,
  unreconciled,
  unreconciledPieces,
  WEST,
} from './placing.ts'

export function reconciliationCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const remove = (store: RecordStore, key: string, principal = ALICE) =>
    store.files.remove({ principal, key, now: NOW })

  it('gives a prover a copy to be sent at once', async (store) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece, add: [NORTH] })
    expect(await copyAt(store, file, NORTH)).toEqual({
      id: expect.any(Number),
      piece,
      prover: NORTH,
      state: 'pending',
      attempts: 0,
      rejections: 0,
      nextAt: NOW,
      dataSetId: null,
      pieceId: null,
      parkedAt: null,
      storedAt: null,
      provedAt: null,
      retrievableAt: null,
      endedAt: null,
      cause: null,
    })
    expect(await unreconciled(store)).toEqual([])
  })

  it('records a copy that its prover has already as stored, in no data set, with its audit due', async (store) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece, addStored: [NORTH, NORTH], now: NOW + 1 })
    const { pieces, status } = await dealOf(store, file)
    expect(status).toBe('proposed')
    expect(pieces[0]?.copies).toMatchObject([
      { prover: NORTH, state: 'stored', dataSetId: null, pieceId: null, parkedAt: null, storedAt: NOW + 1 },
    ])
    const [due] = await store.placements.due({ state: 'stored', prover: NORTH, now: NOW + 1, limit: 10 })
    expect(due).toMatchObject({ copy: { piece, nextAt: NOW + 1 }, piece: { id: piece } })
    const copies = [{ prover: NORTH, state: 'stored', count: 1 }]
    expect(await store.placements.counts()).toMatchObject({ copies })
    await remove(store, file.key)
    await reconcile(store, { piece, release: [due?.copy.id ?? 0], now: NOW + 2 })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'released', endedAt: NOW + 2 })
    expect(await store.placements.removable({ limit: 10, now: NOW + HOUR })).toEqual([])
  })

  it('gives a prover no second copy while it has a live one, and another one after that', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'parked')
    await reconcile(store, { piece, add: [NORTH, SOUTH, SOUTH] })
    const copies = async () => (await dealOf(store, file)).pieces[0]?.copies.map(({ prover, state }) => [prover, state])
    expect(await copies()).toEqual([
      [NORTH, 'parked'],
      [SOUTH, 'pending'],
    ])
    await store.placements.fail({ copy, cause: 'refused', now: NOW })
    await reconcile(store, { piece, add: [NORTH] })
    expect(await copies()).toEqual([
      [NORTH, 'failed'],
      [SOUTH, 'pending'],
      [NORTH, 'pending'],
    ])
  })

  it('looks at a piece again when it was told to, and those that wait longest first', async (store) => {
    const { piece } = await enrolled(store)
    const { piece: other } = await enrolled(store, { content: 'other' })
    await reconcile(store, { piece, nextAt: NOW + HOUR })
    await reconcile(store, { piece: other, nextAt: NOW + HOUR - 1 })
    expect(await unreconciledPieces(store, NOW + HOUR - 2)).toEqual([])
    expect(await unreconciledPieces(store, NOW + HOUR - 1)).toEqual([other])
    expect(await unreconciledPieces(store, NOW + HOUR)).toEqual([other, piece])
    const [first] = await store.placements.unreconciled({ now: NOW + HOUR, limit: 1 })
    expect(first?.piece.id).toBe(other)
  })

  it('wants as many copies of a piece as one of its live deals does, for as long', async (store) => {
    const { file, piece } = await enrolled(store, {}, { copiesWanted: 3 })
    const bob = upload({ principal: BOB, expiresAt: NOW + 2 * WEEK })
    await enrol(store, await stage(store, bob))
    const needs = async () => {
      const [of] = await unreconciled(store)
      return [of?.copiesWanted, of?.neededUntil]
    }
    expect(await needs()).toEqual([3, NOW + 2 * WEEK])
    await reconcile(store, { piece })
    expect(await unreconciled(store)).toEqual([])
    await remove(store, file.key)
    expect(await needs()).toEqual([1, NOW + 2 * WEEK])
    await reconcile(store, { piece })
    await remove(store, bob.key, BOB)
    expect(await needs()).toEqual([0, null])
  })

  it('reconciles a piece again when a copy of it fails, and not when one goes on', async (store) => {
    const { piece, copy } = await placedFile(store, 'proved')
    expect(await unreconciled(store)).toEqual([])
    await store.placements.fail({ copy, cause: 'lost', now: NOW })
    expect(await unreconciled(store)).toMatchObject([{ piece: { id: piece }, copies: [{ id: copy, state: 'failed' }] }])
  })

  it('releases copies: those that were stored are to be taken out, others are over', async (store) => {
    const { file, piece } = await enrolled(store)
    const stored = await place(store, { file, piece, prover: NORTH, as: 'proved' })
    const parked = await place(store, { file, piece, prover: SOUTH, as: 'parked' })
    const pending = await place(store, { file, piece, prover: WEST, as: 'pending' })
    const release = [stored, parked, pending].map(({ id }) => id)
    await reconcile(store, { piece, release, now: NOW + 1 })
    const { pieces } = await dealOf(store, file)
    expect(pieces[0]?.copies.map(({ state, endedAt }) => [state, endedAt])).toEqual(
      Array(3).fill(['released', NOW + 1]),
    )
    const removable = await store.placements.removable({ limit: 10, now: NOW + 1 })
    expect(removable).toMatchObject([
      { copy: { id: stored.id, dataSetId: 'set of north', pieceId: `id of ${stored.id}` }, piece: { id: piece } },
    ])
    expect(await store.placements.due({ state: 'pending', now: NOW + HOUR, limit: 10 })).toEqual([])
    expect(await unreconciled(store, NOW + HOUR)).toEqual([])
  })

  it('releases nothing that has ended, and no copy of another piece', async (store) => {
    const { piece, copy: failed, file } = await placedFile(store, 'stored')
    await store.placements.fail({ copy: failed, cause: 'lost', now: NOW })
    const other = await placedFile(store, 'stored', { content: 'other' })
    await reconcile(store, { piece, release: [failed, other.copy] })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'failed', cause: 'lost' })
    expect(await copyAt(store, other.file, NORTH)).toMatchObject({ state: 'stored' })
    const removable = await store.placements.removable({ limit: 10, now: NOW })
    expect(removable.map(({ copy }) => copy.id)).toEqual([failed])
  })

  it('records no reconciliation of a piece that has changed since it was looked at', async (store) => {
    const { file, piece } = await enrolled(store, {}, { copiesWanted: 2 })
    const [before] = await unreconciled(store)
    const revision = before?.revision ?? 0
    await store.placements.want({ file: file.sequence, copies: 1, now: NOW })
    await reconcile(store, { piece, revision, add: [NORTH, SOUTH] })
    const [after] = await unreconciled(store)
    expect(after).toMatchObject({ copiesWanted: 1, copies: [] })
    await reconcile(store, { piece, revision: after?.revision ?? 0, add: [NORTH] })
    expect(await unreconciled(store)).toEqual([])
    await reconcile(store, { piece, revision: after?.revision ?? 0, add: [SOUTH] })
    expect((await dealOf(store, file)).pieces[0]?.copies).toHaveLength(1)
  })

  it('error: passes over a piece that nobody has', async (store) => {
    await reconcile(store, { piece: 4_711, add: [NORTH], failure: 'none' })
    expect(await unreconciled(store)).toEqual([])
  })

  it('closes the deal of a file that is removed, expires or is composed, and reconciles its pieces', async (store) => {
    const removed = await enrolled(store, { content: 'removed' })
    const expired = await enrolled(store, { content: 'expired', expiresAt: NOW + 1 })
    const parts = await stageParts(store)
    const partPieces = []
    for (const part of parts) partPieces.push(...(await enrol(store, part)))
    await reconcileAll(store)
    expect(await unreconciled(store)).toEqual([])

    await remove(store, removed.file.key)
    expect(await unreconciled(store)).toMatchObject([
      { piece: { id: removed.piece }, copiesWanted: 0, neededUntil: null },
    ])
    await reconcileAll(store)
    expect(await store.files.expire({ now: NOW + 1, limit: 10 })).toBe(1)
    expect(await unreconciled(store, NOW + 1)).toMatchObject([{ piece: { id: expired.piece }, copiesWanted: 0 }])
    await reconcileAll(store, NOW + 1)
    await composed(store, parts)
    expect((await unreconciledPieces(store)).toSorted()).toEqual(partPieces.toSorted())
    expect((await store.placements.counts()).deals).toEqual([])
  })

  it('closes the deal of a file that expired unseen when another one takes its place', async (store) => {
    const { piece } = await enrolled(store, { expiresAt: NOW + 1 })
    await reconcile(store, { piece })
    await stage(store, upload({ now: NOW + 1, expiresAt: NOW + WEEK }))
    expect(await unreconciled(store, NOW + 1)).toMatchObject([{ piece: { id: piece }, copiesWanted: 0 }])
  })

  it('leaves the deal of a file that has ended as it was', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    await remove(store, file.key)
    await reconcile(store, { piece, release: [copy], now: NOW + 1 })
    expect(await dealStatus(store, file)).toEqual(['active', 0])
    expect(await store.placements.want({ file: file.sequence, copies: 2, now: NOW })).toBe(false)
  })

  it('changes how many copies a live deal wants', async (store) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece })
    expect(await store.placements.want({ file: file.sequence, copies: 3, now: NOW })).toBe(true)
    expect(await unreconciled(store)).toMatchObject([{ piece: { id: piece }, copiesWanted: 3 }])
    expect(await dealOf(store, file)).toMatchObject({ copiesWanted: 3 })
    for (const sequence of [file.sequence, 4_711]) {
      expect(await store.placements.want({ file: sequence, copies: 1, now: file.expiresAt })).toBe(false)
    }
    const unenrolled = await stage(store, upload({ content: 'unenrolled' }))
    expect(await store.placements.want({ file: unenrolled.sequence, copies: 1, now: NOW })).toBe(false)
    expect(await dealOf(store, file)).toMatchObject({ copiesWanted: 3 })
  })

  it('lets a live file end later, and never sooner', async (store) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece })
    const extend = async (until: number, now = NOW) =>
      (await store.files.change({ file: file.sequence, now, term: { until }, maxTermDays: 365 })).outcome
    expect(await extend(file.expiresAt - 1)).toBe('changed')
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await unreconciled(store)).toEqual([])
    expect(await extend(NOW + 2 * WEEK)).toBe('changed')
    const later = { ...file, expiresAt: NOW + 2 * WEEK, termDays: 14 }
    expect(await store.files.bySequence(file.sequence)).toEqual(later)
    expect(await unreconciled(store)).toMatchObject([{ piece: { id: piece }, neededUntil: NOW + 2 * WEEK }])
    expect(await store.files.expire({ now: file.expiresAt, limit: 10 })).toBe(0)

    expect(await extend(NOW + 3 * WEEK, NOW + 2 * WEEK)).toBe('ended')
    await remove(store, file.key)
    expect(await extend(NOW + 3 * WEEK)).toBe('ended')
    expect(await store.files.bySequence(file.sequence)).toMatchObject({ expiresAt: NOW + 2 * WEEK })
  })

  it('lets a file end later that nobody has enrolled', async (store) => {
    const { sequence } = await stage(store, upload())
    const request = { file: sequence, now: NOW, term: { termDays: 14 }, maxTermDays: 365 }
    expect(await store.files.change(request)).toMatchObject({ outcome: 'changed', file: { termDays: 14 } })
    expect(await store.files.bySequence(sequence)).toMatchObject({ expiresAt: NOW + 2 * WEEK, termDays: 14 })
  })

  it('reconciles again what is held by fewer provers than wanted, and nothing else', async (store) => {
    const held = await placedFile(store, 'parked', { content: 'held' })
    const sent = await placedFile(store, 'pending', { content: 'sent' })
    const later = await enrolled(store, { content: 'later' })
    const unneeded = await enrolled(store, { content: 'unneeded' })
    await remove(store, unneeded.file.key)
    await reconcile(store, { piece: later.piece, nextAt: NOW + HOUR, failure: 'nobody left' })
    await reconcile(store, { piece: unneeded.piece })
    expect(await unreconciled(store)).toEqual([])
    await store.placements.markAllUnreconciled({ now: NOW })
    expect((await unreconciledPieces(store)).toSorted()).toEqual([sent.piece, later.piece].toSorted())
    await reconcileAll(store)
    await store.placements.fail({ copy: held.copy, cause: 'lost', now: NOW })
    await reconcileAll(store)
    await store.placements.markAllUnreconciled({ now: NOW })
    expect(await unreconciledPieces(store)).toContain(held.piece)
  })

  it('reconciles slices each by itself', async (store) => {
    const file = await stage(store, upload({ sizeBytes: 200 }))
    const [first = 0, second = 0] = await enrol(store, file, { pieces: slices(file, ['a', 'b']) })
    await reconcile(store, { piece: first })
    expect(await unreconciledPieces(store)).toEqual([second])
    await reconcile(store, { piece: second })
    await remove(store, file.key)
    expect(await unreconciledPieces(store)).toEqual([first, second])
  })

  itWithTwo('takes one of two reconciliations of the same piece at once', async (store, other) => {
    const { file, piece } = await enrolled(store)
    const [looked] = await unreconciled(store)
    const revision = looked?.revision ?? 0
    await Promise.all([
      reconcile(store, { piece, revision, add: [NORTH] }),
      reconcile(other, { piece, revision, add: [SOUTH] }),
    ])
    expect((await dealOf(store, file)).pieces[0]?.copies).toHaveLength(1)
  })

  itWithTwo('gives a prover one copy whoever asks for it', async (store, other) => {
    const { file, piece } = await enrolled(store)
    await Promise.all([store, other, store, other].map((each) => reconcile(each, { piece, add: [NORTH] })))
    expect((await dealOf(other, file)).pieces[0]?.copies).toHaveLength(1)
  })

  itAcrossRestart('keeps what is unreconciled and what is reconciled', async (store, restart) => {
    const { piece } = await enrolled(store, { content: 'reconciled' })
    await reconcile(store, { piece, nextAt: NOW + HOUR })
    const { piece: other } = await enrolled(store, { content: 'unreconciled' })
    const again = await restart()
    expect(await unreconciledPieces(again)).toEqual([other])
    expect(await unreconciledPieces(again, NOW + HOUR)).toEqual([other, piece])
  })
}
