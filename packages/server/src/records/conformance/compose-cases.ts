import { expect } from 'vitest'
import type { FileRecord, RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  commitAtOnce,
  digestOf,
  HOUR,
  NOW,
  pending,
  pieceRootOf,
  reserve,
  served,
  stage,
  times,
  upload,
} from './case.ts'
import { compose, composed, handleOf, partsOf, stageParts, WHOLE_ROOT } from './composing.ts'

const WORDS = times(4, (index) => `part ${index}`)
const HANDLE = handleOf('whole', 200)

export function composeCases({ it, itAcrossRestart }: Cases): void {
  const end = (store: RecordStore, file: FileRecord, principal = ALICE) =>
    store.files.remove({ principal, key: file.key, now: NOW })
  const listed = async (store: RecordStore) =>
    (await store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })).map(({ cid }) => cid)
  const sorted = (words: readonly string[]) => words.map(digestOf).sort()
  const discards = async (store: RecordStore) => (await pending(store)).toSorted()

  it('records one file in the place of its parts, for nothing', async (store) => {
    const parts = await stageParts(store)
    const file = await composed(store, parts)
    expect(file).toMatchObject({
      cid: 'cid-of-whole',
      sizeBytes: 200,
      object: HANDLE,
      sha256: null,
      key: HANDLE,
      end: null,
    })
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await partsOf(store, file.object, WORDS)).toEqual(['part 0', 'part 1'])
    expect(await listed(store)).toEqual(['cid-of-whole'])
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    const { days, stored } = await store.quotas.usage({
      principal: ALICE,
      fromDay: '2026-01-01',
      today: '2026-11-21',
      now: NOW,
    })
    expect([days.map(({ files }) => files), stored.files]).toEqual([[3], 1])
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await pending(store)).toEqual([])
  })

  it('ends the parts as composed, which is not removed', async (store) => {
    const parts = await stageParts(store)
    await composed(store, parts)
    for (const part of parts) {
      expect(await store.files.bySequence(part.sequence)).toEqual({ ...part, endedAt: NOW, end: 'composed' })
      expect(await served(store, part.key)).toBe('composed')
      expect(await end(store, part)).toBeUndefined()
    }
    const ended = async (state: 'removed' | 'composed') =>
      (await store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: state })).length
    expect([await ended('removed'), await ended('composed')]).toEqual([0, 2])
  })

  it('is found by its root and its piece, and under no sha2-256', async (store) => {
    await composed(store, await stageParts(store))
    for (const key of [WHOLE_ROOT, HANDLE, `piece-v1:${pieceRootOf('whole')}`]) {
      expect(await served(store, key)).toBe('whole as bytes')
    }
    for (const digest of [digestOf('whole'), pieceRootOf('whole'), digestOf('root of whole')]) {
      expect(await served(store, `sha256:${digest}`)).toBe('absent')
    }
    expect(await store.content.pieces({ keys: [WHOLE_ROOT], now: NOW })).toMatchObject([
      { object: HANDLE, sizeBytes: 200 },
    ])
  })

  it('is found by its sha2-256 when it was read', async (store) => {
    const file = await composed(store, await stageParts(store), { isRead: true })
    expect(file).toMatchObject({ object: digestOf('whole'), sha256: digestOf('whole') })
    expect(await served(store, `sha256:${digestOf('whole')}`)).toBe('whole as bytes')
    expect(await partsOf(store, file.object, WORDS)).toEqual(['part 0', 'part 1'])
  })

  /** Files charged today, and files stored. */
  const counts = async (store: RecordStore) => {
    const today = { principal: ALICE, fromDay: '2026-01-01', today: '2026-11-21', now: NOW }
    const { days, stored } = await store.quotas.usage(today)
    return [days.map(({ files }) => files), stored.files]
  }

  it('takes a part as often as it is named, and charges every time but the first', async (store) => {
    const [first, second] = await stageParts(store)
    if (first === undefined || second === undefined) throw new Error('no parts')
    const parts = [first, second, first, second, first]
    const file = await composed(store, parts)
    const words = ['part 0', 'part 1', 'part 0', 'part 1', 'part 0']
    expect(await partsOf(store, file.object, WORDS)).toEqual(words)
    expect(await account(store)).toEqual({ charged: 500, reserved: 0, stored: 500 })
    expect(await counts(store)).toEqual([[3], 1])
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await compose(store, parts, { capBytes: 0 })).toEqual({ outcome: 'retry', file })
    expect(await account(store)).toEqual({ charged: 500, reserved: 0, stored: 500 })
    await end(store, file)
    expect(await account(store)).toEqual({ charged: 500, reserved: 0, stored: 0 })
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1']))
  })

  it('charges what a repetition adds exactly up to the cap, with what is reserved', async (store) => {
    const parts = (await stageParts(store)).flatMap((part) => [part, part])
    const id = await reserve(store, upload({ content: 'held', sizeBytes: 50, capBytes: 1_000 }))
    const before = await store.files.list({ principal: ALICE, now: NOW, limit: 10 })
    const over = { unit: 'bytes', used: 250, limit: 449 }
    expect(await compose(store, parts, { capBytes: 449 })).toEqual({ outcome: 'over_quota', usedBytes: 250, over })
    expect(await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).toEqual(before)
    expect(await account(store)).toEqual({ charged: 200, reserved: 50, stored: 200 })
    expect(await pending(store)).toEqual([])
    await composed(store, parts, { capBytes: 450 })
    expect(await account(store)).toEqual({ charged: 400, reserved: 50, stored: 400 })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('charges nothing for parts that are named once, however little is left of the day', async (store) => {
    await composed(store, await stageParts(store), { capBytes: 0 })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
  })

  it('charges a composed part that is repeated by its whole size, and two files of the same bytes each by itself', async (store) => {
    const [first, second] = await stageParts(store)
    if (first === undefined || second === undefined) throw new Error('no parts')
    const inner = await composed(store, [first, second, first], { content: 'inner', key: handleOf('inner', 300) })
    expect(await account(store)).toEqual({ charged: 300, reserved: 0, stored: 300 })
    const [again] = await stageParts(store, 1)
    const named = await stage(store, upload({ content: 'part 0', key: 'opaque:myfile03', capBytes: 1_000_000 }))
    if (again === undefined) throw new Error('no part')
    await composed(store, [inner, inner, again, named])
    expect(await account(store)).toEqual({ charged: 800, reserved: 0, stored: 800 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('gives nothing back when a file of repetitions expires, also one whose place is taken', async (store) => {
    const twice = async () => (await stageParts(store, 1)).flatMap((part) => [part, part])
    const first = await composed(store, await twice(), { expiresAt: NOW + 5 })
    const second = await composed(store, await twice(), { now: NOW + 5, expiresAt: NOW + HOUR })
    expect(second.sequence).not.toBe(first.sequence)
    expect(await account(store)).toEqual({ charged: 400, reserved: 0, stored: 200 })
    await store.files.expire({ now: NOW + HOUR, limit: 10 })
    expect(await account(store)).toEqual({ charged: 400, reserved: 0, stored: 0 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('takes a composed file for all its parts', async (store) => {
    const inner = await composed(store, await stageParts(store), { content: 'inner', key: handleOf('inner', 200) })
    const last = await stage(store, upload({ content: 'part 2' }))
    const file = await composed(store, [inner, last])
    expect(await partsOf(store, file.object, WORDS)).toEqual(['part 0', 'part 1', 'part 2'])
    expect(await partsOf(store, inner.object, WORDS)).toEqual([])
    expect(await served(store, inner.key)).toBe('composed')
    expect(await account(store)).toEqual({ charged: 300, reserved: 0, stored: 300 })
    expect(await pending(store)).toEqual([])
    await end(store, file)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1', 'part 2']))
  })

  it('keeps the bytes of the parts as long as the file, also past their own terms', async (store) => {
    const file = await composed(store, await stageParts(store, 2, { expiresAt: NOW + 1 }))
    await store.files.expire({ now: NOW + HOUR, limit: 10 })
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
    expect(await pending(store)).toEqual([])
    await store.files.expire({ now: file.expiresAt, limit: 10 })
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1']))
    expect(await served(store, WHOLE_ROOT)).toBe('expired')
    expect(await store.compositions.partsOf(file.object)).toEqual([])
  })

  it('keeps a part that is also a file of somebody, whichever goes first', async (store) => {
    const parts = await stageParts(store)
    const [other] = await stageParts(store, 1, { principal: BOB })
    const file = await composed(store, parts)
    expect(await served(store, parts[0]?.key ?? '')).toBe('part 0 as bytes')
    await end(store, file)
    expect(await pending(store)).toEqual([digestOf('part 1')])
    const again = await composed(store, await stageParts(store))
    if (other !== undefined) await end(store, other, BOB)
    expect(await pending(store)).toEqual([])
    await end(store, again)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1']))
  })

  it('keeps a part that two files are composed of until both are gone', async (store) => {
    const one = await composed(store, await stageParts(store))
    const [part] = await stageParts(store, 1)
    const last = await stage(store, upload({ content: 'part 3' }))
    if (part === undefined) throw new Error('no part')
    const other = await composed(store, [part, last], { content: 'other', key: handleOf('other', 200) })
    await end(store, one)
    expect(await pending(store)).toEqual([digestOf('part 1')])
    await end(store, other)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1', 'part 3']))
  })

  it('keeps inline bytes for a part', async (store) => {
    const inline = Buffer.from('part 1')
    const [first] = await stageParts(store, 1)
    const last = await stage(store, upload({ content: 'part 1', inline }))
    if (first === undefined) throw new Error('no part')
    const file = await composed(store, [first, last])
    const bytes = async () => Buffer.from((await store.files.inlineBytes(last.object)) ?? []).toString()
    expect(await bytes()).toBe('part 1')
    expect(await store.files.inlineBytes(file.object)).toBeUndefined()
    await end(store, file)
    expect(await bytes()).toBe('')
    expect(await pending(store)).toEqual([digestOf('part 0')])
  })

  it('answers the live file to a repetition, though the parts are gone', async (store) => {
    const parts = await stageParts(store)
    const file = await composed(store, parts)
    expect(await compose(store, parts, { now: NOW + 1 })).toEqual({ outcome: 'retry', file })
    expect(await compose(store, parts, { key: HANDLE, facts: {} })).toEqual({ outcome: 'retry', file })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
  })

  it('leaves parts that were staged again alone when it is a repetition', async (store) => {
    const file = await composed(store, await stageParts(store))
    const again = await stageParts(store)
    expect(await compose(store, again)).toEqual({ outcome: 'retry', file })
    expect(await listed(store)).toEqual(['cid-of-part 1', 'cid-of-part 0', 'cid-of-whole'])
  })

  it('learns the digest from a repetition that was read', async (store) => {
    const parts = await stageParts(store)
    const file = await composed(store, parts)
    const object = digestOf('whole')
    const named = { ...file, object, sha256: object, key: `sha256:${object}` }
    expect(await compose(store, parts, { isRead: true })).toEqual({ outcome: 'retry', file: named })
    expect(await served(store, named.key)).toBe('whole as bytes')
    for (const handle of [object, HANDLE]) expect(await partsOf(store, handle, WORDS)).toEqual(['part 0', 'part 1'])
  })

  it('says which parts are live no more, and changes nothing', async (store) => {
    const [kept, removed, expired] = await stageParts(store, 3)
    const foreign = await stage(store, upload({ content: 'part 3', principal: BOB }))
    if (kept === undefined || removed === undefined || expired === undefined) throw new Error('no parts')
    await end(store, removed)
    const short = await stage(store, upload({ content: 'short', expiresAt: NOW + 5 }))
    const before = await store.files.list({ principal: ALICE, now: NOW, limit: 10 })
    const outcome = await compose(store, [kept, removed, foreign, short, removed], { now: NOW + 5 })
    expect(outcome).toEqual({ outcome: 'ended', parts: [removed, foreign, short].map(({ sequence }) => sequence) })
    expect(await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).toEqual(before)
    expect(await served(store, WHOLE_ROOT)).toBe('absent')
    expect(await pending(store)).toEqual([removed.sha256])
    expect(await account(store)).toMatchObject({ charged: 400, stored: 300 })
  })

  it('uses bytes that are kept as a whole already, and lets go of the parts', async (store) => {
    await stage(store, upload({ content: 'whole', sizeBytes: 200, principal: BOB }))
    const file = await composed(store, await stageParts(store))
    expect(file).toMatchObject({ principal: ALICE, object: digestOf('whole'), sha256: digestOf('whole') })
    expect(await store.compositions.partsOf(file.object)).toEqual([])
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1']))
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    await store.files.remove({ principal: BOB, key: file.key, now: NOW })
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
    await end(store, file)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1', 'whole']))
  })

  it('answers a file that was uploaded as a whole, and leaves the parts alone', async (store) => {
    const whole = await stage(store, upload({ content: 'whole', sizeBytes: 200 }))
    const parts = await stageParts(store)
    expect(await compose(store, parts)).toEqual({ outcome: 'retry', file: whole })
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
    expect(await listed(store)).toHaveLength(3)
  })

  it('is composed again after it has ended', async (store) => {
    const first = await composed(store, await stageParts(store))
    await end(store, first)
    const second = await composed(store, await stageParts(store), { isRead: true })
    expect(second).toMatchObject({ object: digestOf('whole'), sizeBytes: 200 })
    expect(await partsOf(store, second.object, WORDS)).toEqual(['part 0', 'part 1'])
    expect(await pending(store)).toEqual([])
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
  })

  it('takes the place of a file of the same bytes whose term is over', async (store) => {
    const first = await composed(store, await stageParts(store), { expiresAt: NOW + 5 })
    const parts = await stageParts(store)
    const second = await composed(store, parts, { now: NOW + 5 })
    expect(second.sequence).not.toBe(first.sequence)
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ end: 'expired', endedAt: NOW + 5 })
    expect(await partsOf(store, second.object, WORDS)).toEqual(['part 0', 'part 1'])
  })

  const whole = (principal = ALICE) => upload({ content: 'whole', sizeBytes: 200, principal })

  it('takes an upload of the same bytes for a retry, and knows the digest from then on', async (store) => {
    const file = await composed(store, await stageParts(store))
    const id = await reserve(store, whole())
    expect(await claim(store, id, whole())).toEqual({ outcome: 'claimed' })
    const object = digestOf('whole')
    const named = { ...file, object, sha256: object, key: `sha256:${object}` }
    expect(await commit(store, id, whole())).toEqual({ outcome: 'retry', file: named, usedBytes: 200 })
    expect(await store.files.bySequence(file.sequence)).toEqual(named)
    expect(await partsOf(store, object, WORDS)).toEqual(['part 0', 'part 1'])
    // What that upload has written is not needed.
    expect(await pending(store)).toEqual([object])
    expect(await store.discards.begin({ sha256: object, put: '', instanceId: 'instance-a', now: NOW })).toBe(true)
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
  })

  it('keeps its parts when somebody uploads the same bytes', async (store) => {
    const file = await composed(store, await stageParts(store))
    const other = await stage(store, whole(BOB))
    expect(await pending(store)).toEqual([digestOf('whole')])
    expect(await account(store, BOB)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    expect(await partsOf(store, other.object, WORDS)).toEqual(['part 0', 'part 1'])
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    expect(await served(store, other.key)).toBe('whole as bytes')
    expect(await pending(store)).toEqual([digestOf('whole')])
    await end(store, other, BOB)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1', 'whole']))
  })

  it('is an ordinary object once its bytes were gone and are uploaded', async (store) => {
    await end(store, await composed(store, await stageParts(store)))
    const file = await stage(store, whole())
    expect(file).toMatchObject({ sha256: digestOf('whole'), object: digestOf('whole') })
    expect(await store.compositions.partsOf(file.object)).toEqual([])
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
    await end(store, file)
    expect(await discards(store)).toEqual(sorted(['part 0', 'part 1', 'whole']))
  })

  it('binds a version 1 key like other bytes, and is no conflict of its own bytes', async (store) => {
    const key = `piece-v1:${pieceRootOf('whole')}`
    await composed(store, await stageParts(store), { key })
    const id = await reserve(store, { ...whole(BOB), key })
    expect(await claim(store, id, { ...whole(BOB), key })).toEqual({ outcome: 'claimed' })
    expect(await commit(store, id, { ...whole(BOB), key })).toMatchObject({ outcome: 'recorded' })
    const longer = upload({ content: 'longer', sizeBytes: 201, facts: { pieceRoot: pieceRootOf('whole') } })
    expect(await commitAtOnce(store, { ...longer, key })).toEqual({ outcome: 'conflict', object: digestOf('whole') })
    const parts = [await stage(store, longer)]
    const bound = await compose(store, parts, { key })
    expect(bound).toEqual({ outcome: 'conflict', object: digestOf('whole') })
    expect(await served(store, longer.key)).toBe('longer as bytes')
  })

  it('shows its blocks, and no longer those of its parts', async (store) => {
    const digests = (...words: readonly string[]) => Buffer.from(words.map(digestOf).join(''), 'hex')
    const dag = (...words: readonly string[]) =>
      ({ kind: 'import', profile: 'unixfs-v1-2025', digests: digests(...words) }) as const
    const part = await stage(store, upload({ content: 'part 0', facts: { dags: [dag('leaf', 'root of part')] } }))
    const find = (word: string, within?: string) => {
      const multihash = Buffer.from(`1220${digestOf(word)}`, 'hex')
      return store.blocks.find({ multihash, now: NOW, ...(within === undefined ? {} : { within }) })
    }
    const file = await composed(store, [part, await stage(store, upload({ content: 'part 1' }))], {
      facts: { aliases: [{ key: WHOLE_ROOT, view: 'bytes' }], dags: [dag('leaf', 'part 1', 'root of whole')] },
    })
    expect(await find('leaf')).toMatchObject({ kind: 'node', node: 0, object: HANDLE, sizeBytes: 200 })
    expect(await find('part 1')).toMatchObject({ kind: 'node', node: 1, object: HANDLE })
    expect(await find('root of whole')).toMatchObject({ kind: 'node', node: 2, object: HANDLE })
    expect(await find('root of whole', HANDLE)).toMatchObject({ node: 2 })
    for (const word of ['root of part', 'part 0', 'whole']) expect(await find(word)).toBeUndefined()
    await end(store, file)
    for (const word of ['leaf', 'root of part', 'root of whole']) expect(await find(word)).toBeUndefined()
    while ((await store.blocks.sweep({ limit: 100 })) === 100);
    expect(await find('leaf')).toBeUndefined()
  })

  it('serves a private file to its owner alone', async (store) => {
    await composed(store, await stageParts(store), { visibility: 'private' })
    expect(await served(store, WHOLE_ROOT)).toBe('absent')
    expect(await served(store, WHOLE_ROOT, ALICE)).toBe('whole as bytes')
  })

  itAcrossRestart('survives a restart', async (store, restart) => {
    const file = await composed(store, await stageParts(store))
    const again = await restart()
    expect(await again.files.bySequence(file.sequence)).toEqual(file)
    expect(await partsOf(again, file.object, WORDS)).toEqual(['part 0', 'part 1'])
    expect(await account(again)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    await again.files.remove({ principal: ALICE, key: WHOLE_ROOT, now: NOW })
    expect(await discards(again)).toEqual(sorted(['part 0', 'part 1']))
  })
}
