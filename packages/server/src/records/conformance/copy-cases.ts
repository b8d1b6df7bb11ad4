import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, type Cases, counted, HOUR, NOW, stage, upload } from './case.ts'
import { composed, stageParts } from './composing.ts'
import {
  audit,
  copyAt,
  dealOf,
  dealStatus,
  enrol,
  enrolled,
  enrolWaiting,
  NORTH,
  place,
  placedFile,
  reconcile,
  SOUTH,
  unreconciled,
  wholePiece,
} from './placing.ts'

export function copyCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const dueCopies = async (
    store: RecordStore,
    state: 'pending' | 'parked' | 'stored',
    request: { now?: number; limit?: number; prover?: string } = {},
  ) => (await store.placements.due({ state, now: NOW, limit: 10, ...request })).map(({ copy }) => copy.id)

  it('finds the copies of a state that are due, the longest due first', async (store) => {
    const one = await placedFile(store, 'pending', { content: 'one' })
    const two = await placedFile(store, 'pending', { content: 'two' })
    const { id: south } = await place(store, { ...one, prover: SOUTH, as: 'pending' }, NOW - 1)
    const parked = await placedFile(store, 'parked', { content: 'parked' })
    expect(await dueCopies(store, 'pending')).toEqual([south, one.copy, two.copy])
    expect(await dueCopies(store, 'pending', { limit: 2 })).toEqual([south, one.copy])
    expect(await dueCopies(store, 'pending', { now: NOW - 1 })).toEqual([south])
    expect(await dueCopies(store, 'pending', { prover: NORTH })).toEqual([one.copy, two.copy])
    expect(await dueCopies(store, 'pending', { prover: NORTH, limit: 1 })).toEqual([one.copy])
    expect(await dueCopies(store, 'pending', { prover: 'nobody' })).toEqual([])
    expect(await dueCopies(store, 'parked')).toEqual([parked.copy])
    const [found] = await store.placements.due({ state: 'parked', now: NOW, limit: 1 })
    const { paddedOffsetBytes: _, copies, ...piece } = (await dealOf(store, parked.file)).pieces[0] ?? {}
    expect([found?.piece, found?.copy]).toEqual([piece, copies?.[0]])
  })

  it('counts failed attempts and waits, until the next state begins', async (store) => {
    const { file, copy } = await placedFile(store, 'pending')
    for (const nextAt of [NOW + 1, NOW + HOUR]) await store.placements.retryLater({ copy, nextAt })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'pending', attempts: 2, nextAt: NOW + HOUR })
    expect(await dueCopies(store, 'pending', { now: NOW + HOUR - 1 })).toEqual([])
    expect(await dueCopies(store, 'pending', { now: NOW + HOUR })).toEqual([copy])
    expect(await store.placements.parked({ copy, now: NOW + 2 })).toBe(true)
    expect(await copyAt(store, file, NORTH)).toMatchObject({
      state: 'parked',
      attempts: 0,
      nextAt: NOW + 2,
      parkedAt: NOW + 2,
    })
  })

  it('parks a copy once', async (store) => {
    const { file, copy, piece } = await placedFile(store, 'parked')
    expect(await store.placements.parked({ copy, now: NOW + 1 })).toBe(false)
    expect(await copyAt(store, file, NORTH)).toMatchObject({ parkedAt: NOW })
    const { id: released } = await place(store, { file, piece, prover: SOUTH, as: 'pending' })
    await reconcile(store, { piece, release: [released] })
    expect(await store.placements.parked({ copy: released, now: NOW })).toBe(false)
    expect(await store.placements.parked({ copy: 4_711, now: NOW })).toBe(false)
  })

  it('fails a copy in any state, for a cause, for good', async (store) => {
    for (const state of ['pending', 'parked', 'adding', 'stored', 'proved'] as const) {
      const { file, copy } = await placedFile(store, state, { content: state })
      await store.placements.fail({ copy, cause: 'refused', now: NOW + 1 })
      const failed = { state: 'failed', endedAt: NOW + 1, cause: 'refused', provedAt: null }
      expect(await copyAt(store, file, NORTH)).toMatchObject(failed)
      await store.placements.fail({ copy, cause: 'again', now: NOW + 2 })
      await audit(store, copy, { at: NOW + 2 })
      expect(await copyAt(store, file, NORTH)).toMatchObject({ ...failed, attempts: 0 })
    }
    for (const state of ['pending', 'parked', 'stored'] as const) {
      expect(await dueCopies(store, state, { now: NOW + HOUR })).toEqual([])
    }
  })

  it('tries to take out a released copy again later, until the prover was told', async (store) => {
    const { piece, copy } = await placedFile(store, 'stored')
    await reconcile(store, { piece, release: [copy] })
    const removable = async (now: number) =>
      (await store.placements.removable({ limit: 10, now })).map(({ copy: one }) => [one.id, one.attempts])
    expect(await removable(NOW - 1)).toEqual([])
    expect(await removable(NOW)).toEqual([[copy, 0]])
    await store.placements.retryLater({ copy, nextAt: NOW + HOUR })
    expect(await removable(NOW)).toEqual([])
    expect(await removable(NOW + HOUR)).toEqual([[copy, 1]])
    await store.placements.removed({ copy, now: NOW + HOUR })
    expect(await removable(NOW + 2 * HOUR)).toEqual([])
  })

  it('has a failed copy taken out where a data set has it', async (store) => {
    for (const [at, as] of (['pending', 'parked', 'stored', 'proved'] as const).entries()) {
      const { copy } = await placedFile(store, as, { content: as })
      await store.placements.retryLater({ copy, nextAt: NOW + HOUR })
      await store.placements.fail({ copy, cause: 'lost', now: NOW })
      const removable = await store.placements.removable({ limit: 10, now: NOW })
      expect(removable.map(({ copy: one }) => [one.id, one.attempts])).toEqual(at < 2 ? [] : [[copy, 0]])
      await store.placements.removed({ copy, now: NOW })
    }
  })

  it('gives a prover a new copy of what it is to take out', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    await reconcile(store, { piece, release: [copy] })
    const again = await place(store, { file, piece, prover: NORTH, as: 'proved' })
    expect(again).toMatchObject({ state: 'stored', pieceId: `id of ${again.id}`, endedAt: null })
    const removable = await store.placements.removable({ limit: 10, now: NOW })
    expect(removable.map(({ copy: one }) => one.id)).toEqual([copy])
  })

  it('finds a piece that is being handed out: a slice, as long as a deal needs it or a prover has it', async (store) => {
    const slice = { pieceRoot: 'ab'.repeat(32), sizeBytes: 60 }
    const found = () => store.placements.pieceOf(slice)
    expect(await found()).toBeUndefined()
    const { file, piece } = await enrolled(store)
    expect(await store.placements.pieceOf({ pieceRoot: file.pieceRoot ?? '', sizeBytes: 100 })).toBeUndefined()
    const bytes = { object: file.object, offsetBytes: 40 }
    const other = await enrolled(store, { content: 'other' }, { pieces: [{ ...slice, ...bytes }] })
    expect(other.piece).not.toBe(piece)
    const record = { ...slice, id: other.piece, source: { kind: 'object', ...bytes } }
    expect(await found()).toEqual(record)
    expect(await store.placements.pieceOf({ ...slice, sizeBytes: 61 })).toBeUndefined()

    const { id: copy } = await place(store, { ...other, prover: NORTH, as: 'parked' })
    await store.files.remove({ principal: other.file.principal, key: other.file.key, now: NOW })
    expect(await found()).toEqual(record)
    await reconcile(store, { piece: other.piece, release: [copy] })
    expect(await found()).toBeUndefined()
    await reconcile(store, { piece: other.piece, add: [SOUTH] })
    expect(await found()).toEqual(record)
    await store.files.remove({ principal: file.principal, key: file.key, now: NOW })
    expect(await found()).toBeUndefined()
  })

  it('finds a part of a composed file that is a piece, and not the whole of it', async (store) => {
    const parts = await stageParts(store)
    const whole = await composed(store, parts)
    await enrol(store, whole, { pieces: [...parts.map(wholePiece), wholePiece(whole)] })
    for (const part of parts) {
      const { pieceRoot, sizeBytes, object } = wholePiece(part)
      expect(await store.placements.pieceOf({ pieceRoot, sizeBytes })).toMatchObject({
        source: { kind: 'object', object, offsetBytes: 0 },
      })
    }
    expect(await store.placements.pieceOf(wholePiece(whole))).toBeUndefined()
  })

  it('counts copies by prover and state, and live deals by status', async (store) => {
    expect(await store.placements.counts()).toEqual({ copies: [], deals: [], waiting: 0 })
    await placedFile(store, 'proved', { content: 'one' })
    const { copy } = await placedFile(store, 'parked', { content: 'two' })
    const three = await placedFile(store, 'parked', { content: 'three' })
    await place(store, { ...three, prover: SOUTH, as: 'pending' })
    await store.placements.fail({ copy, cause: 'lost', now: NOW })
    const { copies, deals, waiting } = await store.placements.counts()
    const named = copies.map(({ prover, state, count }) => `${prover} ${state} ${count}`)
    expect(named.toSorted()).toEqual(['north failed 1', 'north parked 1', 'north stored 1', 'south pending 1'])
    const stands = deals.map(({ status, count }) => `${status} ${count}`)
    expect(stands.toSorted()).toEqual(['active 1', 'proposed 1', 'staged 1'])
    expect(waiting).toBe(0)
  })

  it('counts what waits, ends and comes back, and a second end not at all', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'stored', { content: 'one' })
    const waits = await stage(store, upload({ content: 'two', capBytes: 1e6 }))
    await enrolWaiting(store, [waits])
    const { deals, waiting } = await store.placements.counts()
    expect(deals).toEqual([
      { status: 'proposed', count: 1 },
      { status: 'staged', count: 1 },
    ])
    expect(waiting).toBe(1)
    for (const { key } of [waits, file, file]) await store.files.remove({ principal: ALICE, key, now: NOW })
    await reconcile(store, { piece, release: [copy] })
    const released = { prover: NORTH, state: 'released', count: 1 }
    expect(await store.placements.counts()).toEqual({ copies: [released], deals: [], waiting: 0 })
    await placedFile(store, 'parked', { content: 'three' })
    expect(await store.placements.counts()).toEqual({
      copies: [{ prover: NORTH, state: 'parked', count: 1 }, released],
      deals: [{ status: 'proposed', count: 1 }],
      waiting: 0,
    })
  })

  it('names the oldest copy of each prover that waits', async (store) => {
    expect(await store.placements.oldestWaiting()).toEqual([])
    await placedFile(store, 'stored', { content: 'one' })
    const { copy } = await placedFile(store, 'parked', { content: 'two' })
    const three = await placedFile(store, 'pending', { content: 'three' })
    await place(store, { ...three, prover: SOUTH, as: 'pending' })
    const [south] = await store.placements.due({ state: 'pending', prover: SOUTH, now: NOW, limit: 1 })
    const oldest = await store.placements.oldestWaiting()
    expect(oldest.toSorted((one, other) => one.prover.localeCompare(other.prover))).toEqual([
      { prover: NORTH, copy },
      { prover: SOUTH, copy: south?.copy.id },
    ])
  })

  itWithTwo('parks a copy once through two handles', async (store, other) => {
    const { copy } = await placedFile(store, 'pending')
    const parked = await Promise.all(
      [store, other, store, other].map((each) => each.placements.parked({ copy, now: NOW })),
    )
    expect(counted(parked.map((isParked) => ({ outcome: String(isParked) })))).toEqual({ true: 1, false: 3 })
  })

  itWithTwo('ends a copy once, whether it fails or is released', async (store, other) => {
    const { file, piece, copy } = await placedFile(store, 'stored')
    await Promise.all([
      store.placements.fail({ copy, cause: 'lost', now: NOW }),
      reconcile(other, { piece, release: [copy] }),
    ])
    const { state } = await copyAt(store, file, NORTH)
    expect(['failed', 'released']).toContain(state)
    expect(await store.placements.removable({ limit: 10, now: NOW })).toHaveLength(1)
    expect(await dealStatus(other, file)).toEqual(['staged', 0])
  })

  itAcrossRestart('keeps copies as they are', async (store, restart) => {
    const { file, copy } = await placedFile(store, 'proved')
    await store.placements.retryLater({ copy, nextAt: NOW + HOUR })
    const before = await dealOf(store, file)
    const again = await restart()
    expect(await dealOf(again, file)).toEqual(before)
    expect(await dueCopies(again, 'stored', { now: NOW + HOUR })).toEqual([copy])
    expect(await unreconciled(again)).toEqual([])
  })
}
