import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { FileRecord, RecordStore } from '../record-store.ts'
import { type Cases, digestOf, HOUR, NOW, pieceRootOf } from './case.ts'
import {
  audit,
  copyAt,
  dealOf,
  dealStatus,
  enrolled,
  NORTH,
  place,
  reconcile,
  reconcileAll,
  unreconciledPieces,
} from './placing.ts'

const PROFILE = 'unixfs-v1-2025'
const DIGESTS = createHash('sha256').update('root').digest()
const DAGS = { dags: [{ kind: 'import', profile: PROFILE, digests: DIGESTS }] } as const
const ROOT_CID = 'bafybeif2ot3tvdmk5xpkputgjofyauxmnmu26xyctpj63stci34bk7ujf4'

export function carCases({ it }: Cases): void {
  const candidates = (store: RecordStore) => store.placements.carCandidates({ limit: 10 })
  const addCar = ({ sequence }: FileRecord, store: RecordStore, copies = 1) => {
    const car = { pieceRoot: pieceRootOf('car'), sizeBytes: 300, rootCid: ROOT_CID, profile: PROFILE }
    return store.placements.addCar({ file: sequence, ...car, copies, now: NOW })
  }
  const carOf = async (store: RecordStore, file: FileRecord) => {
    const { car } = await dealOf(store, file)
    if (car === null) throw new Error('The file has no CAR.')
    return car
  }

  it('names each open deal once as one whose file may get a CAR, with the DAG of the file', async (store) => {
    const { file } = await enrolled(store, { content: 'one', facts: DAGS })
    const { file: plain } = await enrolled(store, { content: 'two' })
    const { file: hidden } = await enrolled(store, { content: 'three', facts: DAGS, visibility: 'private' })
    const dag = { number: expect.any(Number), profile: PROFILE }
    expect(await candidates(store)).toEqual([
      { file: file.sequence, object: file.object, sizeBytes: file.sizeBytes, dag },
      { file: plain.sequence, object: plain.object, sizeBytes: plain.sizeBytes, dag: null },
      { file: hidden.sequence, object: hidden.object, sizeBytes: hidden.sizeBytes, dag: null },
    ])
    await store.placements.carChecked({ files: [plain.sequence, hidden.sequence] })
    await store.files.remove({ principal: file.principal, key: file.key, now: NOW })
    expect(await candidates(store)).toEqual([])
  })

  it('has a CAR carried by a deal that is otherwise as it was', async (store) => {
    const { file, piece } = await enrolled(store, { facts: DAGS }, { copiesWanted: 3 })
    await place(store, { file, piece, prover: NORTH, as: 'proved' })
    await reconcileAll(store)
    await addCar(file, store, 2)
    expect(await candidates(store)).toEqual([])
    const car = await carOf(store, file)
    expect(car).toMatchObject({
      sizeBytes: 300,
      rootCid: ROOT_CID,
      source: { kind: 'car', object: file.object, objectBytes: file.sizeBytes, profile: PROFILE },
    })
    expect((await dealOf(store, file)).pieces.map(({ id }) => id)).toEqual([piece])
    const [unreconciled] = await store.placements.unreconciled({ now: NOW, limit: 10 })
    expect(unreconciled).toMatchObject({ piece: { id: car.id }, copiesWanted: 2, isComplete: true })
    const before = await dealStatus(store, file)
    await reconcile(store, { piece: car.id, add: [NORTH] })
    await store.placements.fail({ copy: (await carOf(store, file)).copies[0]?.id ?? 0, cause: 'lost', now: NOW })
    expect(await dealStatus(store, file)).toEqual(before)
    const asked = { pieceRoot: pieceRootOf('car'), sizeBytes: 300 }
    expect(await store.placements.pieceOf(asked)).toMatchObject({ source: { kind: 'car' } })
  })

  it('adds CARs to data sets of their own', async (store) => {
    const { file, piece } = await enrolled(store, { facts: DAGS })
    await place(store, { file, piece, prover: NORTH, as: 'stored' })
    await addCar(file, store)
    const { id } = await carOf(store, file)
    await reconcile(store, { piece: id, add: [NORTH] })
    const copy = (await carOf(store, file)).copies[0]?.id ?? 0
    await store.placements.parked({ copy, now: NOW })
    const due = { state: 'parked', prover: NORTH, now: NOW, limit: 10 } as const
    expect(await store.placements.due({ ...due, holds: 'bytes' })).toEqual([])
    expect(await store.placements.due({ ...due, holds: 'cars' })).toMatchObject([{ copy: { id: copy } }])
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'cars' })).toBeUndefined()
    const request = { prover: NORTH, nonce: digestOf('nonce'), dataSetId: null, copies: [copy], now: NOW }
    const addition = await store.placements.openAddition({ ...request, holds: 'cars' })
    if (addition === undefined) throw new Error('The copy is parked.')
    expect(await store.placements.additions()).toMatchObject([{ id: addition.id, holds: 'cars' }])
    await store.placements.additionConfirmed({ addition: addition.id, dataSetId: '9', pieceIds: ['0'], now: NOW })
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'cars' })).toBe('9')
    expect(await store.placements.dataSetOf({ prover: NORTH, holds: 'bytes' })).toBe(`set of ${NORTH}`)
    await audit(store, copy)
    expect((await carOf(store, file)).copies).toMatchObject([{ state: 'stored', provedAt: NOW }])
    expect(await copyAt(store, file, NORTH)).toMatchObject({ provedAt: null })
  })

  it('lets go of the CAR with the last file that needs it', async (store) => {
    const { file, piece } = await enrolled(store, { facts: DAGS })
    await place(store, { file, piece, prover: NORTH, as: 'pending' })
    await addCar(file, store)
    await reconcileAll(store)
    const { id } = await carOf(store, file)
    await store.files.remove({ principal: file.principal, key: file.key, now: NOW })
    expect(await unreconciledPieces(store, NOW)).toContain(id)
    const gone = { pieceRoot: pieceRootOf('car'), sizeBytes: 300 }
    expect(await store.placements.pieceOf(gone)).toBeUndefined()
  })

  it('gives no CAR to a file that ended or became private meanwhile', async (store) => {
    const { file } = await enrolled(store, { content: 'one', facts: DAGS })
    const { file: hidden } = await enrolled(store, { content: 'two', facts: DAGS })
    await store.files.remove({ principal: file.principal, key: file.key, now: NOW })
    const change = { file: hidden.sequence, now: NOW, maxTermDays: 365 }
    await store.files.change({ ...change, visibility: 'private' })
    for (const each of [file, hidden]) {
      await addCar(each, store)
      expect((await dealOf(store, each)).car).toBeNull()
    }
    expect(await candidates(store)).toEqual([])
    await store.files.change({ ...change, visibility: 'public' })
    expect(await candidates(store)).toMatchObject([{ file: hidden.sequence, dag: { profile: PROFILE } }])
  })

  it('keeps a piece as it is that was uploaded by itself before', async (store) => {
    const { file: raw, piece } = await enrolled(store, { content: 'car', sizeBytes: 300, capBytes: 1e6 })
    const { file } = await enrolled(store, { content: 'one', facts: DAGS })
    await addCar(file, store)
    const car = await carOf(store, file)
    expect(car).toMatchObject({ id: piece, source: { kind: 'object', object: raw.object } })
    await reconcile(store, { piece, add: [NORTH] })
    const { id: copy } = await copyAt(store, raw, NORTH)
    await store.placements.parked({ copy, now: NOW })
    const due = { state: 'parked', prover: NORTH, now: NOW + HOUR, limit: 10 } as const
    expect(await store.placements.due({ ...due, holds: 'cars' })).toEqual([])
    expect(await store.placements.due({ ...due, holds: 'bytes' })).toHaveLength(1)
  })
}
