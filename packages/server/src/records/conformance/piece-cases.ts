import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  commitAtOnce,
  counted,
  digestOf,
  NOW,
  pending,
  pieceRootOf,
  reserve,
  served,
  stage,
  stageAndRemove,
  tryReserve,
  type Upload,
  upload,
} from './case.ts'

/** Bytes of 100 or 105 that become the same once they are padded. */
const pieceRoot = pieceRootOf('shared')
const V1 = `piece-v1:${pieceRoot}`
const short = (overrides: Partial<Upload> = {}) => upload({ content: 'short', facts: { pieceRoot }, ...overrides })
const long = (overrides: Partial<Upload> = {}) =>
  upload({ content: 'long', sizeBytes: 105, facts: { pieceRoot }, ...overrides })

export function pieceCases({ it, itWithTwo }: Cases): void {
  it('keeps the piece root with the object, for all its files', async (store) => {
    const file = await stage(store, upload())
    expect(file.pieceRoot).toBe(pieceRootOf('hello'))
    const other = await stage(store, upload({ principal: BOB, key: 'opaque:myfile01' }))
    expect(other.pieceRoot).toBe(pieceRootOf('hello'))
    expect(await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).toEqual([file])
  })

  it('tells pieces of one root apart by their size', async (store) => {
    const key = (sizeBytes: number) => `piece:${pieceRoot}:${sizeBytes}`
    await stage(store, short())
    await stage(store, long())
    expect(await served(store, key(100))).toBe('short as bytes')
    expect(await served(store, key(105))).toBe('long as bytes')
    expect(await served(store, key(104))).toBe('absent')
    expect(await served(store, `piece:${digestOf('unknown')}:100`)).toBe('absent')
    const { reserved } = await tryReserve(store, long({ key: key(105) }))
    expect(reserved).toMatchObject({ reservedBytes: 0 })
    expect(await store.files.remove({ principal: ALICE, key: key(105), now: NOW })).toMatchObject({ sizeBytes: 105 })
    expect(await served(store, key(105))).toBe('removed')
    expect(await served(store, key(100))).toBe('short as bytes')
  })

  it('counts sizes beyond four bytes', async (store) => {
    const sizeBytes = 2 ** 40 + 5
    await stage(store, upload({ sizeBytes, capBytes: 2 ** 41 }))
    expect(await served(store, `piece:${pieceRootOf('hello')}:${sizeBytes}`)).toBe('hello as bytes')
    expect(await served(store, `piece:${pieceRootOf('hello')}:5`)).toBe('absent')
  })

  it('binds a version 1 key to the first bytes of its root, under whatever key they came', async (store) => {
    await stage(store, long())
    await stage(store, short())
    expect(await served(store, V1)).toBe('long as bytes')
    expect(await commitAtOnce(store, long({ key: V1 }))).toMatchObject({ outcome: 'retry' })
    const id = await reserve(store, short({ key: V1, principal: BOB }))
    const conflict = { outcome: 'conflict', object: digestOf('long') }
    expect(await claim(store, id, short({ key: V1, principal: BOB }))).toEqual(conflict)
    expect(await commit(store, id, short({ key: V1, principal: BOB }))).toEqual(conflict)
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await commitAtOnce(store, short({ key: V1, principal: BOB }))).toEqual(conflict)
    expect(await account(store, BOB)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await pending(store)).toEqual([])
  })

  it('finds the conflict of a version 1 key also for bytes that the principal has', async (store) => {
    await stage(store, long({ principal: BOB }))
    await stage(store, short())
    expect(await commitAtOnce(store, short({ key: V1 }))).toEqual({ outcome: 'conflict', object: digestOf('long') })
  })

  it('keeps a version 1 key bound when the files are gone', async (store) => {
    await stageAndRemove(store, long())
    await stage(store, short())
    expect(await served(store, V1)).toBe('removed')
    expect(await commitAtOnce(store, short({ key: V1, principal: BOB }))).toEqual({
      outcome: 'conflict',
      object: digestOf('long'),
    })
  })

  it('knows no conflict of bytes of one root under other keys', async (store) => {
    await stage(store, short({ key: V1 }))
    for (const key of [long().key, `piece:${pieceRoot}:105`, `dag-pb:${digestOf('any')}`, 'opaque:myfile01']) {
      expect(await commitAtOnce(store, long({ key }))).not.toMatchObject({ outcome: 'conflict' })
    }
  })

  itWithTwo('gives a version 1 key to one of two first uploads through two handles', async (store, other) => {
    const [mine, theirs] = [short({ key: V1 }), long({ key: V1, principal: BOB })]
    const ids = await Promise.all([reserve(store, mine), reserve(other, theirs)])
    const outcomes = await Promise.all([commit(store, ids[0], mine), commit(other, ids[1], theirs)])
    expect(counted(outcomes)).toEqual({ recorded: 1, conflict: 1 })
  })

  const pieceOf = (content: string) => ({
    object: digestOf(content),
    sizeBytes: 100,
    pieceRoot: pieceRootOf(content),
  })
  const pieces = (store: RecordStore, keys: readonly string[], principal?: string) =>
    store.content.pieces({ keys, now: NOW, ...(principal === undefined ? {} : { principal }) })

  it('answers the pieces of many keys in their order', async (store) => {
    const alias = `blake3:${digestOf('blake3 of a')}`
    const { key } = await stage(store, upload({ content: 'a', facts: { aliases: [{ key: alias, view: 'bytes' }] } }))
    await stage(store, upload({ content: 'b', key: 'opaque:myfile01' }))
    const v1 = `piece-v1:${pieceRootOf('b')}`
    const asked = ['opaque:myfile01', upload({ content: 'unknown' }).key, alias, key, v1, key]
    expect(await pieces(store, asked)).toEqual([
      pieceOf('b'),
      undefined,
      pieceOf('a'),
      pieceOf('a'),
      pieceOf('b'),
      pieceOf('a'),
    ])
    expect(await pieces(store, [])).toEqual([])
  })

  it('answers the pieces of private objects to those who have a file of them', async (store) => {
    const { key } = await stage(store, upload({ visibility: 'private' }))
    expect(await pieces(store, [key])).toEqual([undefined])
    expect(await pieces(store, [key], BOB)).toEqual([undefined])
    expect(await pieces(store, [key], ALICE)).toEqual([pieceOf('hello')])
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await pieces(store, [key], ALICE)).toEqual([undefined])
  })

  it('answers no pieces of files past their term', async (store) => {
    const { key } = await stage(store, upload({ expiresAt: NOW }))
    expect(await pieces(store, [key], ALICE)).toEqual([undefined])
  })

  it('answers 1,000 keys at once', async (store) => {
    const { key } = await stage(store, upload())
    const keys = Array.from({ length: 1_000 }, (_, index) => (index === 500 ? key : `piece-v1:${digestOf(`${index}`)}`))
    const answers = await pieces(store, keys)
    expect(answers).toHaveLength(1_000)
    expect(answers.flatMap((piece, index) => (piece === undefined ? [] : [index]))).toEqual([500])
  })
}
