import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { type Cases, digestOf, HOUR, NOW } from './case.ts'
import {
  confirm,
  copyAt,
  dealStatus,
  NORTH,
  openAddition,
  place,
  placedFile,
  reconcile,
  SOUTH,
  unreconciledPieces,
} from './placing.ts'

export function additionCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const parkedFiles = async (store: RecordStore) => [
    await placedFile(store, 'parked', { content: 'one' }),
    await placedFile(store, 'parked', { content: 'two' }),
    await placedFile(store, 'parked', { content: 'three' }),
  ]
  type Parked = Awaited<ReturnType<typeof parkedFiles>>
  const copiesOf = (files: Parked) => files.map(({ copy }) => copy)
  const states = async (store: RecordStore, files: Parked) => {
    const copies = await Promise.all(files.map(({ file }) => copyAt(store, file, NORTH)))
    return copies.map(({ state }) => state)
  }

  it('takes parked copies into one call, in the order that was asked for', async (store) => {
    const files = await parkedFiles(store)
    const copies = copiesOf(files).toReversed()
    const nonce = digestOf('nonce')
    const request = { prover: NORTH, nonce, dataSetId: null, copies, now: NOW }
    const addition = await store.placements.openAddition(request)
    expect(addition).toMatchObject({
      id: expect.any(Number),
      prover: NORTH,
      nonce,
      dataSetId: null,
      transaction: null,
      attempts: 0,
      nextAt: NOW,
      copies: files
        .toReversed()
        .map(({ copy, piece }) => ({ copy: { id: copy, state: 'adding' }, piece: { id: piece } })),
    })
    expect(await store.placements.additions()).toEqual([addition])
    expect(await store.placements.due({ state: 'parked', now: NOW, limit: 10 })).toEqual([])
  })

  it('passes over what is not parked at this prover any more', async (store) => {
    const [one, two, three] = await parkedFiles(store)
    if (one === undefined || two === undefined || three === undefined) throw new Error('three files')
    const { id: south } = await place(store, { ...one, prover: SOUTH, as: 'parked' })
    await store.placements.fail({ copy: two.copy, cause: 'lost', now: NOW })
    const addition = await openAddition(store, NORTH, [two.copy, south, three.copy, three.copy, 4_711, one.copy])
    expect(addition.copies.map(({ copy }) => copy.id)).toEqual([three.copy, one.copy])
    const none = { prover: NORTH, nonce: digestOf('again'), dataSetId: null, copies: [one.copy, two.copy], now: NOW }
    expect(await store.placements.openAddition(none)).toBeUndefined()
    expect(await store.placements.additions()).toHaveLength(1)
  })

  it('keeps what the prover answered, and counts what failed', async (store) => {
    const { copy } = await placedFile(store, 'parked')
    const { id: addition } = await openAddition(store, NORTH, [copy])
    const stands = async () => {
      const [one] = await store.placements.additions()
      return [one?.transaction, one?.attempts, (one?.nextAt ?? 0) - NOW]
    }
    await store.placements.additionLater({ addition, nextAt: NOW + 1, isFailure: true })
    await store.placements.additionLater({ addition, nextAt: NOW + 2, isFailure: true })
    expect(await stands()).toEqual([null, 2, 2])
    await store.placements.additionSent({ addition, transaction: '0xabc', nextAt: NOW + 3 })
    expect(await stands()).toEqual(['0xabc', 0, 3])
    await store.placements.additionLater({ addition, nextAt: NOW + 4, isFailure: false })
    expect(await stands()).toEqual(['0xabc', 0, 4])
  })

  it('stores the copies of a confirmed call under the ids in their order, to be audited at once', async (store) => {
    const files = await parkedFiles(store)
    const addition = await openAddition(store, NORTH, copiesOf(files))
    const pieceIds = ['7', '8', '9']
    const confirmed = { addition: addition.id, dataSetId: '42', pieceIds, now: NOW + 5 }
    await store.placements.additionConfirmed(confirmed)
    for (const [index, { file }] of files.entries()) {
      expect(await copyAt(store, file, NORTH)).toMatchObject({
        state: 'stored',
        dataSetId: '42',
        pieceId: pieceIds[index],
        storedAt: NOW + 5,
        attempts: 0,
        nextAt: NOW + 5,
      })
    }
    const due = await store.placements.due({ state: 'stored', now: NOW + 5, limit: 10 })
    expect(due.map(({ copy }) => copy.id)).toEqual(copiesOf(files))
    expect(await store.placements.additions()).toEqual([])
    await store.placements.additionConfirmed({ ...confirmed, dataSetId: '43' })
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'bytes' })).toBe('42')
  })

  it('knows the data set of a prover that was confirmed last', async (store) => {
    const [one, two] = await parkedFiles(store)
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'bytes' })).toBeUndefined()
    for (const [dataSetId, of] of [
      ['1', one],
      ['2', two],
    ] as const) {
      const { id: addition } = await openAddition(store, NORTH, [of?.copy ?? 0])
      await store.placements.additionConfirmed({ addition, dataSetId, pieceIds: ['0'], now: NOW })
      expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'bytes' })).toBe(dataSetId)
    }
    expect(await store.placements.dataSetOf({ prover: SOUTH, holds: 'bytes' })).toBeUndefined()
  })

  it('passes over a copy that failed meanwhile, whose id still counts', async (store) => {
    const files = await parkedFiles(store)
    const [one, two, three] = files
    const addition = await openAddition(store, NORTH, copiesOf(files))
    await store.placements.fail({ copy: two?.copy ?? 0, cause: 'lost', now: NOW })
    const [open] = await store.placements.additions()
    expect(open?.copies.map(({ copy }) => copy.state)).toEqual(['adding', 'failed', 'adding'])
    await confirm(store, addition)
    expect(await states(store, files)).toEqual(['stored', 'failed', 'stored'])
    const removable = await store.placements.removable({ limit: 10, now: NOW + HOUR })
    expect(removable.map(({ copy }) => copy)).toMatchObject([{ id: two?.copy, pieceId: `id of ${two?.copy}` }])
    for (const of of [one, three]) {
      if (of !== undefined) expect(await copyAt(store, of.file, NORTH)).toMatchObject({ pieceId: `id of ${of.copy}` })
    }
  })

  it('has a copy taken out that was released meanwhile, once its ids are known', async (store) => {
    const files = await parkedFiles(store)
    const [, two] = files
    if (two === undefined) throw new Error('three files')
    const addition = await openAddition(store, NORTH, copiesOf(files))
    await reconcile(store, { piece: two.piece, release: [two.copy] })
    const removable = () => store.placements.removable({ limit: 10, now: NOW + HOUR })
    expect(await removable()).toEqual([])
    await confirm(store, addition, NOW + 1)
    expect(await states(store, files)).toEqual(['stored', 'released', 'stored'])
    const released = { id: two.copy, dataSetId: 'set of north', pieceId: `id of ${two.copy}`, storedAt: null }
    expect(await removable()).toMatchObject([{ copy: released }])
  })

  it('has the copies of a rejected call parked again, with one more rejection', async (store) => {
    const files = await parkedFiles(store)
    const [one, two, three] = files
    if (three === undefined) throw new Error('three files')
    const { id: addition } = await openAddition(store, NORTH, copiesOf(files))
    await store.placements.fail({ copy: one?.copy ?? 0, cause: 'lost', now: NOW })
    await reconcile(store, { piece: two?.piece ?? 0, release: [two?.copy ?? 0] })
    const rejected = { addition, now: NOW, nextAt: NOW + HOUR, cause: null }
    await store.placements.additionRejected(rejected)
    expect(await states(store, files)).toEqual(['failed', 'released', 'pending'])
    expect(await store.placements.additions()).toEqual([])
    expect(await store.placements.removable({ limit: 10, now: NOW + HOUR })).toEqual([])
    expect(await store.placements.due({ state: 'pending', now: NOW + HOUR - 1, limit: 10 })).toEqual([])
    const [due] = await store.placements.due({ state: 'pending', now: NOW + HOUR, limit: 10 })
    expect(due?.copy).toMatchObject({ id: three.copy, attempts: 0, rejections: 1, dataSetId: null, pieceId: null })
    expect(await dealStatus(store, three.file)).toEqual(['staged', 0])
    await store.placements.parked({ copy: three.copy, now: NOW + HOUR })
    await openAddition(store, NORTH, [three.copy])
    await store.placements.additionRejected(rejected)
    expect(await states(store, files)).toEqual(['failed', 'released', 'adding'])
  })

  it('has copies parked again that wait for long, and no others', async (store) => {
    const files = await parkedFiles(store)
    const [one, two] = files
    await openAddition(store, NORTH, [two?.copy ?? 0])
    await store.placements.parkAgain({ copies: [one?.copy ?? 0, two?.copy ?? 0], now: NOW + 1 })
    expect(await states(store, files)).toEqual(['pending', 'adding', 'parked'])
    const [due] = await store.placements.due({ state: 'pending', now: NOW + 1, limit: 10 })
    expect(due?.copy).toMatchObject({ id: one?.copy, attempts: 0, rejections: 0, nextAt: NOW + 1 })
  })

  it('fails the copies of a call that was rejected for good', async (store) => {
    const files = await parkedFiles(store)
    const { id: addition } = await openAddition(store, NORTH, copiesOf(files))
    await store.placements.additionRejected({ addition, now: NOW + 1, nextAt: NOW + 1, cause: 'reverted' })
    for (const { file } of files) {
      expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'failed', endedAt: NOW + 1, cause: 'reverted' })
      expect(await dealStatus(store, file)).toEqual(['staged', 1])
    }
    expect((await unreconciledPieces(store, NOW + 1)).toSorted()).toEqual(files.map(({ piece }) => piece).toSorted())
    expect(await store.placements.additions()).toEqual([])
  })

  it('error: ids that are not one for each copy confirm nothing', async (store) => {
    const files = await parkedFiles(store)
    const { id: addition } = await openAddition(store, NORTH, copiesOf(files))
    const confirmed = { addition, dataSetId: '1', pieceIds: ['7', '8'], now: NOW }
    await expect(store.placements.additionConfirmed(confirmed)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await states(store, files)).toEqual(['adding', 'adding', 'adding'])
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'bytes' })).toBeUndefined()
  })

  itWithTwo('takes each copy into one call through two handles', async (store, other) => {
    const files = await parkedFiles(store)
    const copies = copiesOf(files)
    const opened = await Promise.all(
      [store, other, store, other].map((each, index) =>
        each.placements.openAddition({ prover: NORTH, nonce: digestOf(`${index}`), dataSetId: null, copies, now: NOW }),
      ),
    )
    const taken = opened.flatMap((addition) => addition?.copies.map(({ copy }) => copy.id) ?? [])
    expect(taken.toSorted()).toEqual(copies.toSorted())
    expect(await other.placements.additions()).toHaveLength(1)
  })

  itWithTwo('ends a call once, whether it is confirmed or rejected', async (store, other) => {
    const files = await parkedFiles(store)
    const addition = await openAddition(store, NORTH, copiesOf(files))
    await Promise.all([
      confirm(store, addition),
      other.placements.additionRejected({ addition: addition.id, now: NOW, nextAt: NOW, cause: null }),
    ])
    expect(new Set(await states(store, files)).size).toBe(1)
    expect(await store.placements.additions()).toEqual([])
  })

  itAcrossRestart('keeps calls under way and their order', async (store, restart) => {
    const files = await parkedFiles(store)
    const { id: addition } = await openAddition(store, NORTH, copiesOf(files).toReversed())
    await store.placements.additionSent({ addition, transaction: '0xabc', nextAt: NOW + 3 })
    const before = await store.placements.additions()
    const again = await restart()
    expect(await again.placements.additions()).toEqual(before)
  })
}
