import { expect } from 'vitest'
import type { FileRecord, RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, digestOf, HOUR, NOW, pieceRootOf, stage, upload } from './case.ts'
import {
  audit,
  dealOf,
  dealStatus,
  enrol,
  enrolWaiting,
  NORTH,
  place,
  reconcile,
  SOUTH,
  unreconciled,
  wholePiece,
} from './placing.ts'

const ROOT = pieceRootOf('aggregate')
const SIZE_BYTES = 1_000

export function aggregateCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const stageWaiting = async (store: RecordStore, words: readonly string[], copiesWanted = 1) => {
    const files: FileRecord[] = []
    for (const content of words) files.push(await stage(store, upload({ content })))
    await enrolWaiting(store, files, copiesWanted)
    return files
  }
  const aggregate = (store: RecordStore, files: readonly FileRecord[], now = NOW) => {
    const members = files.map(({ sequence }, index) => ({ file: sequence, paddedOffsetBytes: index * 128 }))
    return store.placements.aggregate({ now, pieceRoot: ROOT, sizeBytes: SIZE_BYTES, members })
  }
  /** An aggregate of two files, and its number. */
  const aggregated = async (store: RecordStore) => {
    const files = await stageWaiting(store, ['one', 'two'])
    expect(await aggregate(store, files)).toBe(true)
    const [one, two] = files
    if (one === undefined || two === undefined) throw new Error('two files')
    return { one, two, piece: (await dealOf(store, one)).pieces[0]?.id ?? 0 }
  }
  const waiting = async (store: RecordStore) =>
    (await store.placements.waiting({ limit: 10 })).map(({ file, since }) => [file, since - NOW])
  const remove = (store: RecordStore, file: FileRecord) =>
    store.files.remove({ principal: file.principal, key: file.key, now: NOW })
  const found = (store: RecordStore) => store.placements.pieceOf({ pieceRoot: ROOT, sizeBytes: SIZE_BYTES })

  it('carries the deals of files that waited, each at its place', async (store) => {
    const { one, two, piece } = await aggregated(store)
    const record = { id: piece, pieceRoot: ROOT, sizeBytes: SIZE_BYTES, source: { kind: 'aggregate' } }
    expect((await dealOf(store, one)).pieces).toEqual([{ ...record, paddedOffsetBytes: 0, copies: [] }])
    expect((await dealOf(store, two)).pieces).toEqual([{ ...record, paddedOffsetBytes: 128, copies: [] }])
    expect(await waiting(store)).toEqual([])
    expect(await found(store)).toEqual(record)
    const holds = { object: digestOf('two'), pieceRoot: ROOT, sizeBytes: SIZE_BYTES }
    expect(await store.placements.aggregatesOf([digestOf('two'), digestOf('three')])).toEqual([holds])
    const needed = { copiesWanted: 1, neededUntil: one.expiresAt, copies: [], isComplete: true }
    expect(await unreconciled(store)).toMatchObject([{ piece: record, ...needed }])
    const members = ['one', 'two'].map((word, index) => ({
      object: digestOf(word),
      pieceRoot: pieceRootOf(word),
      sizeBytes: 100,
      paddedOffsetBytes: index * 128,
      isKept: true,
    }))
    expect(await store.placements.membersOf(piece)).toEqual(members)
    expect(await store.placements.membersOf(4_711)).toEqual([])
  })

  it('has all of its deals stand where its copies do', async (store) => {
    const { one, two, piece } = await aggregated(store)
    const { id: copy } = await place(store, { file: one, piece, prover: NORTH, as: 'proved' }, NOW + 1)
    expect([await dealStatus(store, one), await dealStatus(store, two)]).toEqual(Array(2).fill(['active', 1]))
    await audit(store, copy, { at: NOW + 2, passed: false })
    expect([await dealStatus(store, one), await dealStatus(store, two)]).toEqual(Array(2).fill(['proposed', 2]))
  })

  it('gives files of the same bytes one place', async (store) => {
    const one = await stage(store, upload())
    const two = await stage(store, upload({ principal: BOB }))
    await enrolWaiting(store, [one, two])
    const members = [one, two].map(({ sequence }) => ({ file: sequence, paddedOffsetBytes: 256 }))
    expect(await store.placements.aggregate({ now: NOW, pieceRoot: ROOT, sizeBytes: SIZE_BYTES, members })).toBe(true)
    const [{ id = 0 } = {}] = (await dealOf(store, two)).pieces
    expect(await store.placements.membersOf(id)).toMatchObject([{ object: one.object, paddedOffsetBytes: 256 }])
  })

  it('records nothing when one of the files does not wait any more', async (store) => {
    const [one, two, three] = await stageWaiting(store, ['one', 'two', 'three'])
    if (one === undefined || two === undefined || three === undefined) throw new Error('three files')
    await remove(store, two)
    expect(await aggregate(store, [one, two])).toBe(false)
    expect(await aggregate(store, [one, one])).toBe(false)
    expect(await aggregate(store, [await stage(store, upload({ content: 'unenrolled' })), one])).toBe(false)
    expect([await unreconciled(store), await found(store)]).toEqual([[], undefined])
    expect(await aggregate(store, [one])).toBe(true)
    expect(await aggregate(store, [one, three])).toBe(false)
    expect(await waiting(store)).toEqual([[three.sequence, 0]])
  })

  it('tells which of its bytes are still here, and is not complete without them', async (store) => {
    const { one, two, piece } = await aggregated(store)
    await stage(store, upload({ content: 'one', principal: BOB }))
    await remove(store, one)
    const kept = async () => (await store.placements.membersOf(piece)).map(({ isKept }) => isKept)
    expect(await kept()).toEqual([true, true])
    expect(await unreconciled(store)).toMatchObject([{ isComplete: true, copiesWanted: 1 }])
    await store.files.remove({ principal: BOB, key: one.key, now: NOW })
    expect(await kept()).toEqual([false, true])
    expect(await unreconciled(store)).toMatchObject([{ isComplete: false, copiesWanted: 1 }])
    expect(await found(store)).toBeUndefined()
    await stage(store, upload({ content: 'one', principal: BOB }))
    expect(await found(store)).toMatchObject({ id: piece })
    await remove(store, two)
    expect(await unreconciled(store)).toMatchObject([{ isComplete: false, copiesWanted: 0, neededUntil: null }])
    expect(await found(store)).toBeUndefined()
  })

  it('is taken apart: its live deals wait again, its copies are released, and it is reconciled for good', async (store) => {
    const { one, two, piece } = await aggregated(store)
    const { id: stored } = await place(store, { file: one, piece, prover: NORTH, as: 'proved' }, NOW + 1)
    await place(store, { file: one, piece, prover: SOUTH, as: 'parked' }, NOW + 1)
    await remove(store, one)
    await store.placements.dissolve({ piece, now: NOW + 2 })
    expect(await waiting(store)).toEqual([[two.sequence, 2]])
    expect(await dealStatus(store, two)).toEqual(['staged', 2])
    expect((await dealOf(store, two)).pieces).toEqual([])
    expect(await dealStatus(store, one)).toEqual(['active', 1])
    expect((await dealOf(store, one)).pieces[0]?.copies.map(({ state }) => state)).toEqual(['released', 'released'])
    expect(await store.placements.removable({ limit: 10, now: NOW + 2 })).toMatchObject([{ copy: { id: stored } }])
    expect([await unreconciled(store, NOW + HOUR), await found(store)]).toEqual([[], undefined])
    await store.placements.markAllUnreconciled({ now: NOW + HOUR })
    expect(await unreconciled(store, NOW + HOUR)).toEqual([])
    await store.placements.dissolve({ piece, now: NOW + 3 })
    expect(await waiting(store)).toEqual([[two.sequence, 2]])
  })

  it('can be made again of the same files', async (store) => {
    const { one, two, piece } = await aggregated(store)
    await place(store, { file: one, piece, prover: NORTH, as: 'proved' })
    await store.placements.dissolve({ piece, now: NOW + 1 })
    expect(await aggregate(store, [one, two], NOW + 2)).toBe(true)
    expect((await dealOf(store, two)).pieces).toMatchObject([{ id: piece, paddedOffsetBytes: 128 }])
    expect(await dealStatus(store, two)).toEqual(['staged', 1])
    expect(await unreconciled(store, NOW + 2)).toMatchObject([{ piece: { id: piece }, copiesWanted: 1 }])
    expect(await store.placements.membersOf(piece)).toHaveLength(2)
  })

  it('takes nothing apart that is no aggregate', async (store) => {
    const file = await stage(store, upload())
    const [piece = 0] = await enrol(store, file)
    await place(store, { file, piece, prover: NORTH, as: 'proved' })
    for (const id of [piece, 4_711]) await store.placements.dissolve({ piece: id, now: NOW })
    expect(await dealStatus(store, file)).toEqual(['active', 0])
    expect(await waiting(store)).toEqual([])
  })

  it('is found in the file that has its bytes, when there is one', async (store) => {
    const { one, two, piece } = await aggregated(store)
    const file = await stage(store, upload({ content: 'aggregate', sizeBytes: SIZE_BYTES, capBytes: 1e6 }))
    expect(await enrol(store, file, { pieces: [wholePiece(file)] })).toEqual([piece])
    await remove(store, one)
    const source = { kind: 'object', object: file.object, offsetBytes: 0 }
    expect(await unreconciled(store)).toMatchObject([{ piece: { source }, isComplete: true }])
    await store.placements.dissolve({ piece, now: NOW + 1 })
    expect(await waiting(store)).toEqual([[two.sequence, 0]])
    expect((await dealOf(store, file)).pieces).toMatchObject([{ id: piece, source }])
    expect(await unreconciled(store, NOW + 1)).toMatchObject([{ piece: { id: piece }, copiesWanted: 1 }])
  })

  itWithTwo('takes a file into one aggregate through two handles', async (store, other) => {
    const files = await stageWaiting(store, ['one', 'two', 'three'])
    const [one, two, three] = files
    if (one === undefined || two === undefined || three === undefined) throw new Error('three files')
    const done = await Promise.all([aggregate(store, [one, two]), aggregate(other, [two, three])])
    expect(done.toSorted()).toEqual([false, true])
    expect(await waiting(other)).toHaveLength(1)
    for (const file of files) expect((await dealOf(store, file)).pieces.length).toBeLessThan(2)
  })

  itAcrossRestart('is kept with its members', async (store, restart) => {
    const { one, piece } = await aggregated(store)
    const before = [await dealOf(store, one), await store.placements.membersOf(piece), await unreconciled(store)]
    const again = await restart()
    const after = [await dealOf(again, one), await again.placements.membersOf(piece), await unreconciled(again)]
    expect(after).toEqual(before)
    await reconcile(again, { piece, add: [NORTH] })
  })

  it('leaves the deals of others of whoever removes a member', async (store) => {
    const { one, two, piece } = await aggregated(store)
    await place(store, { file: one, piece, prover: NORTH, as: 'proved' })
    await store.files.remove({ principal: ALICE, key: one.key, now: NOW })
    expect(await dealStatus(store, two)).toEqual(['active', 0])
    expect((await store.placements.counts()).deals).toEqual([{ status: 'active', count: 1 }])
  })
}
