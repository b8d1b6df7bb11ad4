import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { BlockPlace, CarCommit, DagCommit, ImportCommit, RecordStore } from '../record-store.ts'
import {
  ALICE,
  BOB,
  type Cases,
  commitAtOnce,
  digestOf,
  HOUR,
  NOW,
  pending,
  stage,
  stageAndRemove,
  times,
  type Upload,
  upload,
} from './case.ts'

const BLAKE3_PREFIX = '1e20'
const PROFILE = 'unixfs-v1-2025'

/** The multihash of a block that is this word: by default its sha2-256, else any digest under another prefix. */
function multihashOf(word: string, prefix = '1220'): Buffer {
  return Buffer.from(prefix + digestOf(word), 'hex')
}

function digestsOf(words: readonly string[]): Buffer {
  return Buffer.concat(words.map((word) => createHash('sha256').update(word).digest()))
}

function importOf(words: readonly string[], profile = PROFILE): ImportCommit {
  return { kind: 'import', profile, digests: digestsOf(words) }
}

/** A CAR of blocks of 10 bytes each, 7 bytes apart, after a header of 50. */
function carOf(multihashes: readonly Uint8Array[]): CarCommit {
  let end = 0
  return {
    kind: 'car',
    multihashes: Buffer.concat(multihashes),
    multihashEnds: Uint32Array.from(multihashes, ({ length }) => {
      end += length
      return end
    }),
    offsetBytes: Float64Array.from(multihashes, (_, index) => 50 + 17 * index),
    sizeBytes: Uint32Array.from(multihashes, () => 10),
  }
}

const withDags = (dags: readonly DagCommit[], overrides: Partial<Upload> = {}) =>
  upload({ ...overrides, facts: { dags } })

export function blockCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const hello = { object: digestOf('hello'), sizeBytes: 100 }
  const words = ['leaf 0', 'leaf 1', 'leaf 2', 'root']

  const find = (store: RecordStore, multihash: Uint8Array, now = NOW) => store.blocks.find({ multihash, now })
  const findNode = async (store: RecordStore, word: string): Promise<Extract<BlockPlace, { kind: 'node' }>> => {
    const place = await find(store, multihashOf(word))
    if (place?.kind !== 'node') throw new Error(`${word} is found as ${place?.kind}.`)
    return place
  }
  const sweepAll = async (store: RecordStore, limit = 100): Promise<number> => {
    let swept = 0
    for (;;) {
      const count = await store.blocks.sweep({ limit })
      swept += count
      if (count < limit) return swept
    }
  }

  it('finds an object as a block by its sha2-256 and by its other names', async (store) => {
    const blake3 = `blake3:${digestOf('hello')}`
    const blake2b = `blake2b-256:${digestOf('hello')}`
    const aliases = [
      { key: blake3, view: 'bytes' },
      { key: blake2b, view: 'car' },
    ] as const
    await stage(store, upload({ facts: { aliases } }))
    expect(await find(store, multihashOf('hello'))).toEqual({ kind: 'object', ...hello })
    expect(await find(store, multihashOf('hello', BLAKE3_PREFIX))).toEqual({ kind: 'object', ...hello })
    // A CAR is not the block that its root is.
    expect(await find(store, multihashOf('hello', 'a0e40220'))).toBeUndefined()
    expect(await find(store, multihashOf('other'))).toBeUndefined()
    expect(await find(store, multihashOf('hello', '1b20'))).toBeUndefined()
  })

  it('finds every block of an import by its number', async (store) => {
    await stage(store, withDags([importOf(words)]))
    const { dag } = await findNode(store, 'root')
    for (const [node, word] of words.entries()) {
      expect(await find(store, multihashOf(word))).toEqual({ kind: 'node', dag, profile: PROFILE, node, ...hello })
    }
    expect(await find(store, multihashOf('leaf 0', BLAKE3_PREFIX))).toBeUndefined()
  })

  it('finds the first of equal blocks', async (store) => {
    const same = ['other', ...Array<string>(200).fill('zeros'), 'root']
    await stage(store, withDags([importOf(same)]))
    expect(await findNode(store, 'zeros')).toMatchObject({ node: 1 })
    expect(await findNode(store, 'root')).toMatchObject({ node: 201 })
  })

  it('finds every block of a CAR where it lies, whatever its hash', async (store) => {
    const multihashes = [
      multihashOf('a'),
      multihashOf('a', BLAKE3_PREFIX),
      multihashOf('b', 'a0e40220'),
      Buffer.from(`1340${digestOf('c')}${digestOf('d')}`, 'hex'),
      Buffer.from('0003616263', 'hex'),
      Buffer.from('000461626364', 'hex'),
    ]
    await stage(store, withDags([carOf(multihashes)]))
    for (const [index, multihash] of multihashes.entries()) {
      const slice = { offsetBytes: 50 + 17 * index, lengthBytes: 10 }
      expect(await find(store, multihash)).toEqual({ kind: 'slice', ...hello, ...slice })
    }
  })

  it('counts offsets beyond four bytes and empty blocks', async (store) => {
    const car = { ...carOf([multihashOf('far')]), offsetBytes: Float64Array.of(2 ** 40 + 3) }
    await stage(store, withDags([{ ...car, sizeBytes: Uint32Array.of(0) }]))
    expect(await find(store, multihashOf('far'))).toMatchObject({ offsetBytes: 2 ** 40 + 3, lengthBytes: 0 })
  })

  it('takes views into larger buffers for what they are', async (store) => {
    const three = carOf([multihashOf('a'), multihashOf('b'), multihashOf('c')])
    const car = {
      kind: 'car',
      multihashes: three.multihashes.subarray(34),
      multihashEnds: three.multihashEnds.subarray(0, 2),
      offsetBytes: three.offsetBytes.subarray(1),
      sizeBytes: three.sizeBytes.subarray(1),
    } as const
    const list = digestsOf(['left', ...words, 'right']).subarray(32, -32)
    await stage(store, withDags([car, { kind: 'import', profile: PROFILE, digests: list }]))
    expect(await find(store, multihashOf('a'))).toBeUndefined()
    expect(await find(store, multihashOf('b'))).toMatchObject({ offsetBytes: 67 })
    expect(await find(store, multihashOf('c'))).toMatchObject({ offsetBytes: 84 })
    expect(await find(store, multihashOf('left'))).toBeUndefined()
    expect(await findNode(store, 'root')).toMatchObject({ node: 3 })
  })

  it('finds many blocks, each at its own place', async (store) => {
    const many = times(3_000, (index) => multihashOf(`block ${index}`))
    await stage(store, withDags([carOf(many)]))
    for (const index of [0, 1, 1_499, 2_998, 2_999]) {
      expect(await find(store, multihashOf(`block ${index}`))).toMatchObject({ offsetBytes: 50 + 17 * index })
    }
  })

  it('prefers a whole object to a part of another', async (store) => {
    await stage(store, withDags([importOf(words)]))
    const { object, key } = await stage(store, upload({ content: 'leaf 1', sizeBytes: 7 }))
    expect(await find(store, multihashOf('leaf 1'))).toEqual({ kind: 'object', object, sizeBytes: 7 })
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await findNode(store, 'leaf 1')).toMatchObject({ node: 1 })
  })

  it('keeps the imports of an object under several profiles, and its blocks as a CAR, apart', async (store) => {
    await stage(store, withDags([importOf(['a', 'b']), importOf(['a', 'c'], 'raw-1m-174'), carOf([multihashOf('d')])]))
    expect(await findNode(store, 'b')).toMatchObject({ profile: PROFILE, node: 1 })
    expect(await findNode(store, 'c')).toMatchObject({ profile: 'raw-1m-174', node: 1 })
    expect(await find(store, multihashOf('d'))).toMatchObject({ kind: 'slice' })
    expect((await findNode(store, 'b')).dag).not.toBe((await findNode(store, 'c')).dag)
  })

  it('finds blocks of live public files only', async (store) => {
    const own = (overrides: Partial<Upload>) => withDags([importOf(words)], overrides)
    await stage(store, own({ visibility: 'private' }))
    for (const word of ['hello', 'root']) expect(await find(store, multihashOf(word))).toBeUndefined()
    await stage(store, own({ principal: BOB, expiresAt: NOW + HOUR }))
    expect(await findNode(store, 'root')).toMatchObject(hello)
    expect(await find(store, multihashOf('hello'), NOW + HOUR - 1)).toMatchObject({ kind: 'object' })
    for (const word of ['hello', 'root']) expect(await find(store, multihashOf(word), NOW + HOUR)).toBeUndefined()
  })

  it('finds blocks of one object for those who may see it', async (store) => {
    const dags = [importOf(words), carOf([multihashOf('a')])]
    await stage(store, withDags(dags, { visibility: 'private' }))
    const findIn = (content: string, word: string) =>
      store.blocks.find({ multihash: multihashOf(word), now: NOW, within: digestOf(content) })
    expect(await findIn('hello', 'root')).toMatchObject({ kind: 'node', node: 3, ...hello })
    expect(await findIn('hello', 'a')).toMatchObject({ kind: 'slice', offsetBytes: 50, ...hello })
    expect(await findIn('hello', 'hello')).toEqual({ kind: 'object', ...hello })
    await stage(store, withDags(dags, { content: 'other' }))
    expect(await findIn('other', 'root')).toMatchObject({ kind: 'node', object: digestOf('other') })
    expect(await findIn('hello', 'other')).toBeUndefined()
    expect(await findIn('unknown', 'root')).toBeUndefined()
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    for (const word of ['hello', 'root', 'a']) expect(await findIn('hello', word)).toBeUndefined()
  })

  it('looks past a private object for a public one that holds the same block', async (store) => {
    await stage(store, withDags([importOf(words)], { visibility: 'private' }))
    await stage(store, withDags([importOf(['other', 'root'])], { content: 'public' }))
    expect(await findNode(store, 'root')).toMatchObject({ object: digestOf('public'), node: 1 })
    expect(await find(store, multihashOf('leaf 0'))).toBeUndefined()
    await stage(store, withDags([carOf([multihashOf('root')])], { content: 'later' }))
    expect(await findNode(store, 'root')).toMatchObject({ object: digestOf('public') })
  })

  it('reads any part of the digests of an import', async (store) => {
    await stage(store, withDags([importOf(words)]))
    const { dag } = await findNode(store, 'root')
    const read = async (from: number, count: number) =>
      Buffer.from((await store.blocks.digests({ dag, from, count })) ?? 'none').toString('hex')
    const expected = (...of: string[]) => digestsOf(of).toString('hex')
    expect(await read(0, 4)).toBe(expected(...words))
    expect(await read(1, 2)).toBe(expected('leaf 1', 'leaf 2'))
    expect(await read(3, 10)).toBe(expected('root'))
    expect(await read(4, 1)).toBe('')
    expect(await read(0, 0)).toBe('')
    expect(await store.blocks.digests({ dag: dag + 1, from: 0, count: 1 })).toBeUndefined()
  })

  it('has no digests of a CAR', async (store) => {
    await stage(store, withDags([importOf(words), carOf([multihashOf('a')])]))
    const { dag } = await findNode(store, 'root')
    const read = await Promise.all(
      [dag - 1, dag, dag + 1].map((id) => store.blocks.digests({ dag: id, from: 0, count: 1 })),
    )
    expect(read.filter((digests) => digests !== undefined)).toHaveLength(1)
  })

  it('forgets blocks with the bytes, not before, and sweeps them a few at a time', async (store) => {
    const dags = [importOf(words), carOf([multihashOf('a'), multihashOf('b')])]
    await stage(store, withDags(dags))
    await stage(store, withDags(dags, { principal: BOB }))
    const { dag } = await findNode(store, 'root')
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await sweepAll(store)).toBe(0)
    expect(await find(store, multihashOf('a'))).toMatchObject({ kind: 'slice' })
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    for (const word of ['a', 'root']) expect(await find(store, multihashOf(word))).toBeUndefined()
    expect(await store.blocks.digests({ dag, from: 0, count: 1 })).toBeUndefined()
    expect(await pending(store)).toEqual([hello.object])
    const counts = []
    for (let round = 0; round < 6; round += 1) counts.push(await store.blocks.sweep({ limit: 3 }))
    // Six blocks, and the two dags that they were in.
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8)
    expect(Math.max(...counts)).toBe(3)
    expect(counts.at(-1)).toBe(0)
  })

  it('forgets blocks of inline bytes and of files that expire', async (store) => {
    const inline = Buffer.from('hello')
    await stage(store, withDags([importOf(words)], { inline, expiresAt: NOW + 1 }))
    expect(await findNode(store, 'root')).toMatchObject(hello)
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await find(store, multihashOf('root'))).toBeUndefined()
    expect(await sweepAll(store)).toBe(words.length + 1)
  })

  it('learns the blocks again when the bytes come back, swept or not', async (store) => {
    await stageAndRemove(store, withDags([importOf(words)]))
    await stage(store, withDags([importOf(words)]))
    const { dag } = await findNode(store, 'root')
    expect(await sweepAll(store, 2)).toBe(words.length + 1)
    expect(await findNode(store, 'root')).toMatchObject({ dag })
    expect(Buffer.from((await store.blocks.digests({ dag, from: 0, count: 4 })) ?? [])).toEqual(digestsOf(words))
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    await sweepAll(store)
    await stage(store, upload())
    expect(await find(store, multihashOf('root'))).toBeUndefined()
  })

  it('never uses the number of a dag again', async (store) => {
    const seen = new Set<number>()
    for (const content of ['one', 'two', 'three']) {
      const one = withDags([importOf([content])], { content: `file ${content}` })
      await stage(store, one)
      seen.add((await findNode(store, content)).dag)
      await store.files.remove({ principal: ALICE, key: one.key, now: NOW })
      await sweepAll(store)
    }
    expect(seen.size).toBe(3)
  })

  it('learns blocks from a retry and from others, and each layout once', async (store) => {
    await stage(store, upload())
    expect(await commitAtOnce(store, withDags([importOf(words)]))).toMatchObject({ outcome: 'retry' })
    const { dag } = await findNode(store, 'root')
    await stage(store, withDags([importOf(words), carOf([multihashOf('a')])], { principal: BOB }))
    expect(await findNode(store, 'root')).toMatchObject({ dag })
    expect(await find(store, multihashOf('a'))).toMatchObject({ kind: 'slice' })
    for (const principal of [ALICE, BOB]) await store.files.remove({ principal, key: upload().key, now: NOW })
    expect(await sweepAll(store)).toBe(words.length + 1 + 2)
  })

  itWithTwo('shows blocks through another handle, and their end', async (store, other) => {
    await stage(store, withDags([importOf(words)]))
    expect(await findNode(other, 'root')).toMatchObject(hello)
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await find(other, multihashOf('root'))).toBeUndefined()
  })

  itAcrossRestart('finds and sweeps blocks after a restart', async (store, restart) => {
    await stage(store, withDags([carOf([multihashOf('a')])], { content: 'kept' }))
    await stageAndRemove(store, withDags([importOf(words)]))
    const again = await restart()
    expect(await find(again, multihashOf('a'))).toMatchObject({ kind: 'slice', object: digestOf('kept') })
    expect(await sweepAll(again)).toBe(words.length + 1)
  })

  it('error: lists that do not fit together are refused, and leave nothing', async (store) => {
    const car = carOf([multihashOf('a'), multihashOf('b')])
    const dags = [
      { ...car, multihashes: car.multihashes.subarray(1) },
      { ...car, offsetBytes: new Float64Array(1) },
      { ...car, sizeBytes: new Uint32Array(3) },
      { ...importOf(words), digests: Buffer.alloc(33) },
    ]
    for (const dag of dags) await expect(commitAtOnce(store, withDags([dag]))).rejects.toThrow(TypeError)
    expect(await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).toEqual([])
    expect(await commitAtOnce(store, withDags([carOf([]), importOf(words)]))).toMatchObject({ outcome: 'recorded' })
  })
}
