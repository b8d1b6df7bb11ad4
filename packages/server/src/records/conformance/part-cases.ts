import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, digestOf, NOW, pieceRootOf, stage, stageAndRemove, times, upload } from './case.ts'
import { composed, stageParts, WHOLE_ROOT } from './composing.ts'

export function partCases({ it }: Cases): void {
  const find = (store: RecordStore, keys: readonly string[], principal = ALICE) =>
    store.compositions.find({ principal, keys, now: NOW })
  const outcomes = async (store: RecordStore, keys: readonly string[], principal = ALICE) =>
    (await find(store, keys, principal)).map(({ outcome }) => outcome)
  const keyOf = (content: string) => upload({ content }).key

  it('finds files by any of their names, each as often as it is asked for', async (store) => {
    const key = `dag-pb:${digestOf('root')}`
    const file = await stage(store, upload({ key, facts: { aliases: [{ key, view: 'bytes' }] } }))
    const opaque = await stage(store, upload({ content: 'named', key: 'opaque:myfile01' }))
    const found = await find(store, [file.key, key, 'opaque:myfile01', file.key])
    expect(found).toEqual(
      [file, file, opaque, file].map((each) => ({ outcome: 'found', part: { isPlain: true, file: each } })),
    )
    // An opaque file is a file of its own.
    expect(await outcomes(store, [keyOf('named')])).toEqual(['foreign'])
  })

  it('gives what was kept of their pieces and imports, and nothing of CARs', async (store) => {
    const digests = Buffer.alloc(96, 7)
    const pieceSubtreeRoots = Buffer.alloc(64, 9)
    const car = {
      kind: 'car',
      multihashes: Buffer.from(`1220${digestOf('block')}`, 'hex'),
      multihashEnds: Uint32Array.of(34),
      offsetBytes: Float64Array.of(50),
      sizeBytes: Uint32Array.of(10),
    } as const
    const dags = [
      { kind: 'import', profile: 'raw-1m-174', digests },
      car,
      { kind: 'import', profile: 'unixfs-v0-2015', digests: digests.subarray(32) },
    ] as const
    const { sequence } = await stage(store, upload({ facts: { dags, pieceSubtreeRoots } }))
    const plain = await stage(store, upload({ content: 'plain' }))
    const facts = await store.compositions.factsOf([plain.sequence, sequence, sequence, 987_654])
    expect(facts.size).toBe(2)
    expect(facts.get(plain.sequence)).toMatchObject({ imports: [] })
    expect(facts.get(plain.sequence)?.pieceSubtreeRoots).toHaveLength(0)
    expect(Buffer.from(facts.get(sequence)?.pieceSubtreeRoots ?? [])).toEqual(pieceSubtreeRoots)
    const kept = facts.get(sequence)?.imports.map(({ profile, digests }) => [profile, Buffer.from(digests).length])
    expect(kept?.toSorted()).toEqual([
      ['raw-1m-174', 96],
      ['unixfs-v0-2015', 64],
    ])
  })

  it('tells files of others, where anybody can see them, from what is not there', async (store) => {
    await stage(store, upload({ content: 'public', principal: BOB }))
    await stage(store, upload({ content: 'private', principal: BOB, visibility: 'private' }))
    await stage(store, upload({ content: 'expired', principal: BOB, expiresAt: NOW }))
    await stage(store, upload({ content: 'own', visibility: 'private' }))
    await stage(store, upload({ content: 'own and expired', expiresAt: NOW }))
    await stageAndRemove(store, upload({ content: 'removed' }))
    const keys = ['public', 'private', 'expired', 'own', 'own and expired', 'removed', 'unknown'].map(keyOf)
    expect(await outcomes(store, keys)).toEqual([
      'foreign',
      'missing',
      'missing',
      'found',
      'missing',
      'missing',
      'missing',
    ])
  })

  it('says when a name leads to a CAR, and prefers the bytes themselves', async (store) => {
    const key = `dag-pb:${digestOf('root')}`
    await stage(store, upload({ content: 'car', facts: { aliases: [{ key, view: 'unixfs' }] } }))
    const isPlain = async () => (await find(store, [key])).map((each) => each.outcome === 'found' && each.part.isPlain)
    expect(await isPlain()).toEqual([false])
    await stage(store, upload({ content: 'file', facts: { aliases: [{ key, view: 'bytes' }] } }))
    expect(await isPlain()).toEqual([true])
  })

  it('finds a composed file, and its parts no more', async (store) => {
    const parts = await stageParts(store)
    const file = await composed(store, parts)
    expect(await find(store, [WHOLE_ROOT])).toMatchObject([{ outcome: 'found', part: { file, isPlain: true } }])
    expect(
      await outcomes(
        store,
        parts.map(({ key }) => key),
      ),
    ).toEqual(['missing', 'missing'])
  })

  it('finds files by every kind of key, among many of each kind', async (store) => {
    const root = pieceRootOf('of a piece')
    const car = `dag-pb:${digestOf('root of a car')}`
    const blake = `blake3:${digestOf('blake')}`
    const pieces = upload({ content: 'of a piece', key: `piece-v1:${root}` })
    const files = {
      [`piece-v1:${root}`]: await stage(store, pieces),
      [`piece:${root}:${pieces.sizeBytes}`]: undefined,
      [`sha256:${digestOf('of a piece')}`]: undefined,
      'opaque:myfile02': await stage(store, upload({ content: 'opaque', key: 'opaque:myfile02' })),
      [blake]: await stage(
        store,
        upload({ content: 'blake', key: blake, facts: { aliases: [{ key: blake, view: 'bytes' }] } }),
      ),
      [car]: await stage(store, upload({ content: 'car', key: car, facts: { aliases: [{ key: car, view: 'car' }] } })),
    }
    const unknown = times(600, (index) => [
      keyOf(`${index}`),
      `dag-pb:${digestOf(`${index}`)}`,
      `blake3:${digestOf(`${index}`)}`,
      `piece-v1:${pieceRootOf(`${index}`)}`,
      `piece:${root}:${index + 200}`,
      `piece:${pieceRootOf(`${index}`)}:100`,
      `opaque:unknown${index}`,
    ]).flat()
    const found = await find(store, [...unknown, ...Object.keys(files)])
    expect(found.slice(0, unknown.length).every(({ outcome }) => outcome === 'missing')).toBe(true)
    const own = found
      .slice(unknown.length)
      .map((each) => each.outcome === 'found' && [each.part.file.cid, each.part.isPlain])
    expect(own).toEqual([
      ['cid-of-of a piece', true],
      ['cid-of-of a piece', true],
      ['cid-of-of a piece', true],
      ['cid-of-opaque', true],
      ['cid-of-blake', true],
      ['cid-of-car', false],
    ])
    expect(new Set(await outcomes(store, Object.keys(files), BOB))).toEqual(new Set(['foreign']))
  })

  it('answers 4,096 keys at once', async (store) => {
    const { key } = await stage(store, upload())
    const found = await outcomes(
      store,
      times(4_096, (index) => (index % 2 === 0 ? key : keyOf(`${index}`))),
    )
    expect(found.map((outcome) => outcome === 'found')).toEqual(times(4_096, (index) => index % 2 === 0))
  })
}
