import { expect } from 'vitest'
import type { ContentView, RecordStore } from '../record-store.ts'
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
  overBytes,
  pieceRootOf,
  reserve,
  served,
  stage,
  stageAndRemove,
  times,
  tryReserve,
  type Upload,
  upload,
} from './case.ts'

const ROOT = digestOf('root')
const DAG = `dag-pb:${ROOT}`
const BLAKE3 = `blake3:${digestOf('blake3 of hello')}`

/** An upload whose bytes were verified to have `key` for a name. */
function aliased(key: string, overrides: Partial<Upload> = {}, view: ContentView = 'bytes'): Upload {
  return upload({ key, facts: { aliases: [{ key, view }] }, ...overrides })
}

const car = (content: string, overrides: Partial<Upload> = {}) => aliased(DAG, { content, ...overrides }, 'unixfs')

export function aliasCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const sha256Key = upload().key

  it('finds a file under every name that it was verified to have', async (store) => {
    const file = await stage(store, aliased(BLAKE3))
    expect(file).toMatchObject({ key: sha256Key, cid: 'cid-of-hello', sha256: digestOf('hello') })
    for (const key of [BLAKE3, sha256Key]) {
      expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'found', file, view: 'bytes' })
      expect(await store.files.latest({ principal: ALICE, key, now: NOW })).toEqual(file)
    }
    expect(await served(store, `blake2b-256:${digestOf('blake3 of hello')}`)).toBe('absent')
  })

  it('answers a recorded file as a later read does', async (store) => {
    const file = await stage(store, aliased(DAG, { filename: 'a.bin' }))
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    const opaque = await stage(store, upload({ key: 'opaque:myfile01' }))
    expect(await store.files.bySequence(opaque.sequence)).toEqual(opaque)
  })

  it('says for each name how the object answers to it', async (store) => {
    const block = `sha256:${digestOf('root block')}`
    const aliases = [
      { key: DAG, view: 'unixfs' },
      { key: block, view: 'car' },
    ] as const
    await stage(store, upload({ content: 'car', facts: { aliases } }))
    expect(await served(store, DAG)).toBe('car as unixfs')
    expect(await served(store, block)).toBe('car as car')
    expect(await served(store, upload({ content: 'car' }).key)).toBe('car as bytes')
  })

  it('keeps to what was staged first of a block and the CARs that it is the root of', async (store) => {
    const key = upload({ content: 'block' }).key
    const steps = [
      aliased(key, { content: 'old car' }, 'car'),
      aliased(key, { content: 'new car' }, 'car'),
      upload({ content: 'block' }),
    ]
    for (const one of steps) {
      await stage(store, one)
      expect(await served(store, key)).toBe('old car as car')
    }
    for (const answer of ['old car as car', 'new car as car', 'block as bytes', 'removed']) {
      expect(await served(store, key)).toBe(answer)
      await store.files.remove({ principal: ALICE, key, now: NOW })
    }
    // What was there before under another name has this one only since it is known by it.
    const root = upload({ content: 'root' }).key
    await stage(store, upload({ content: 'early car' }))
    await stage(store, aliased(root, { content: 'first car' }, 'car'))
    await stage(store, aliased(root, { content: 'early car', principal: BOB }, 'car'))
    expect(await served(store, root)).toBe('first car as car')
    const other = upload({ content: 'other block' })
    await stage(store, other)
    await stage(store, aliased(other.key, { content: 'late car' }, 'car'))
    expect(await served(store, other.key)).toBe('other block as bytes')
  })

  it('takes a dag-pb key for the file under that root, and else for the root block', async (store) => {
    const key = `dag-pb:${digestOf('block')}`
    const steps = [
      [upload({ content: 'block' }), 'block as bytes'],
      [aliased(key, { content: 'car' }, 'car'), 'block as bytes'],
      [aliased(key, { content: 'file in a car' }, 'unixfs'), 'file in a car as unixfs'],
      [aliased(key, { content: 'file' }, 'bytes'), 'file in a car as unixfs'],
    ] as const
    for (const [one, answer] of steps) {
      await stage(store, one)
      expect(await served(store, key)).toBe(answer)
    }
    for (const answer of ['file in a car as unixfs', 'file as bytes', 'block as bytes', 'car as car', 'removed']) {
      expect(await served(store, key)).toBe(answer)
      await store.files.remove({ principal: ALICE, key, now: NOW })
    }
    expect(await served(store, `blake3:${digestOf('block')}`)).toBe('absent')
    expect(await served(store, `opaque:${digestOf('block')}`)).toBe('absent')
  })

  it('answers with the first object of which the caller may see a file', async (store) => {
    await stage(store, car('first', { visibility: 'private' }))
    await stage(store, car('second', { principal: BOB, visibility: 'private' }))
    await stage(store, car('third', { principal: 'user:carol' }))
    expect(await served(store, DAG, ALICE)).toBe('first as unixfs')
    expect(await served(store, DAG, BOB)).toBe('second as unixfs')
    expect(await served(store, DAG)).toBe('third as unixfs')
    await store.files.remove({ principal: 'user:carol', key: DAG, now: NOW })
    expect(await served(store, DAG)).toBe('removed')
    expect(await served(store, DAG, ALICE)).toBe('first as unixfs')
  })

  it('says of several objects how the latest of their files ended', async (store) => {
    await stage(store, car('first', { expiresAt: NOW }))
    await stageAndRemove(store, car('second'))
    expect(await served(store, DAG)).toBe('removed')
    await store.files.expire({ now: NOW, limit: 10 })
    expect(await served(store, DAG)).toBe('removed')
    await stage(store, car('first', { expiresAt: NOW }))
    expect(await served(store, DAG)).toBe('expired')
  })

  itAcrossRestart('knows a name for good, so that gone is not absent', async (store, restart) => {
    await stageAndRemove(store, aliased(BLAKE3))
    const again = await restart()
    expect(await served(again, BLAKE3)).toBe('removed')
    expect(await again.files.latest({ principal: ALICE, key: BLAKE3, now: NOW })).toMatchObject({ end: 'removed' })
    expect(await again.files.latest({ principal: BOB, key: BLAKE3, now: NOW })).toBeUndefined()
    await stage(again, upload())
    expect(await served(again, BLAKE3)).toBe('hello as bytes')
  })

  it('gives the live file of a principal before ended ones, whichever object has it', async (store) => {
    const latest = (now: number) => store.files.latest({ principal: ALICE, key: DAG, now })
    await stageAndRemove(store, car('first'))
    const second = await stage(store, car('second'))
    const first = await stage(store, car('first', { expiresAt: NOW + 5 }))
    expect(await latest(NOW)).toEqual(first)
    expect(await latest(NOW + 5)).toEqual(second)
    await store.files.remove({ principal: ALICE, key: second.key, now: NOW })
    expect(await latest(NOW + 5)).toEqual(first)
    const third = await stage(store, car('third', { expiresAt: NOW + 5 }))
    expect(await latest(NOW + 5)).toEqual(third)
  })

  it('removes the live file of a principal, and ends what is past its term before it', async (store) => {
    const first = await stage(store, car('first', { expiresAt: NOW + 5 }))
    const second = await stage(store, car('second'))
    await stage(store, car('second', { principal: BOB }))
    expect(await store.files.remove({ principal: ALICE, key: DAG, now: NOW + 5 })).toMatchObject({
      sequence: second.sequence,
    })
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ end: 'expired', endedAt: NOW + 5 })
    expect(await store.files.remove({ principal: ALICE, key: DAG, now: NOW + 5 })).toBeUndefined()
    expect(await served(store, DAG)).toBe('second as unixfs')
  })

  const ways: readonly (readonly [string, (store: RecordStore, of: Upload) => ReturnType<typeof commitAtOnce>])[] = [
    ['a reservation', async (store, of) => commit(store, await reserve(store, of), of)],
    ['one step', commitAtOnce],
  ]
  for (const [way, put] of ways) {
    it(`takes bytes under another name for a retry, and keeps the name, in ${way}`, async (store) => {
      const first = await stage(store, upload())
      expect(await put(store, aliased(BLAKE3))).toEqual({ outcome: 'retry', file: first, usedBytes: 100 })
      expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
      expect(await served(store, BLAKE3)).toBe('hello as bytes')
      const usedUp = aliased(BLAKE3, { capBytes: 100 })
      expect(await put(store, usedUp)).toEqual({ outcome: 'retry', file: first, usedBytes: 100 })
    })

    it(`charges each principal for a name that others made known, in ${way}`, async (store) => {
      await stage(store, aliased(BLAKE3))
      expect(await put(store, upload({ key: BLAKE3, principal: BOB }))).toMatchObject({ outcome: 'recorded' })
      expect(await account(store, BOB)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    })

    it(`never passes the cap when a name turns out to mean other bytes, in ${way}`, async (store) => {
      await stage(store, car('old', { sizeBytes: 600 }))
      const tooBig = car('new', { sizeBytes: 401 })
      const refused = await put(store, tooBig)
      expect(refused).toEqual(overBytes(600))
      expect(await account(store)).toMatchObject({ charged: 600, stored: 600 })
      expect(await store.quotas.checkDrift()).toEqual([])
      const fits = car('new', { sizeBytes: 400 })
      expect(await put(store, fits)).toMatchObject({ outcome: 'recorded', usedBytes: 1_000 })
      expect(await account(store)).toMatchObject({ charged: 1_000, stored: 1_000 })
      expect(await store.quotas.checkDrift()).toEqual([])
    })

    it(`records what a refused upload learned nowhere, in ${way}`, async (store) => {
      await stage(store, upload({ key: 'opaque:myfile01', content: 'other' }))
      const refused = upload({ key: 'opaque:myfile01', facts: { aliases: [{ key: BLAKE3, view: 'bytes' }] } })
      expect(await put(store, refused)).toMatchObject({ outcome: 'conflict' })
      await stage(store, upload())
      expect(await served(store, BLAKE3)).toBe('absent')
    })
  }

  it('reserves nothing for a retry under any name that is known', async (store) => {
    await stage(store, aliased(BLAKE3, { sizeBytes: 1_000 }))
    const { reserved } = await tryReserve(store, aliased(BLAKE3, { sizeBytes: 1_000 }))
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 0, usedBytes: 1_000 })
    const unknown = await tryReserve(store, aliased(DAG, { sizeBytes: 1_000 }))
    expect(unknown.reserved).toEqual(overBytes(1_000))
  })

  it('returns what was reserved under a name that was not known yet', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, aliased(BLAKE3))
    expect(await account(store)).toMatchObject({ charged: 100, reserved: 100 })
    expect(await claim(store, id, aliased(BLAKE3))).toEqual({ outcome: 'claimed' })
    expect(await commit(store, id, aliased(BLAKE3))).toMatchObject({ outcome: 'retry', usedBytes: 100 })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('lets many objects have one name, without a conflict', async (store) => {
    for (const content of ['first', 'second', 'third']) await stage(store, car(content))
    expect(await account(store)).toMatchObject({ charged: 300, stored: 300 })
    expect(await served(store, DAG)).toBe('first as unixfs')
  })

  itWithTwo('charges bytes once that come under many names at the same moment', async (store, other) => {
    const names = [sha256Key, BLAKE3, DAG, `piece-v1:${pieceRootOf('hello')}`]
    const uploads = times(16, (index) => aliased(names[index % 4] ?? '', { capBytes: 1_600 }))
    const ids = await Promise.all(uploads.map((one, index) => reserve(index % 2 === 0 ? store : other, one)))
    const outcomes = await Promise.all(
      ids.map((id, index) => commit(index % 3 === 0 ? store : other, id, uploads[index] ?? upload())),
    )
    expect(counted(outcomes)).toEqual({ recorded: 1, retry: 15 })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    for (const key of names) expect(await served(other, key)).toBe('hello as bytes')
  })

  itWithTwo('shows a name through another handle', async (store, other) => {
    await stage(store, upload())
    await commitAtOnce(store, aliased(BLAKE3))
    expect(await served(other, BLAKE3)).toBe('hello as bytes')
  })
}
