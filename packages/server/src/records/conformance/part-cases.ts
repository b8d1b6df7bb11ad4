import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, digestOf, NOW, stage, stageAndRemove, times, upload } from './case.ts'
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
    const facts = { isPlain: true, pieceSubtreeRoots: new Uint8Array(), imports: [] }
    expect(found).toEqual(
      [file, file, opaque, file].map((each) => ({ outcome: 'found', part: { ...facts, file: each } })),
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
    const { key } = await stage(store, upload({ facts: { dags, pieceSubtreeRoots } }))
    const [found] = await find(store, [key])
    if (found?.outcome !== 'found') throw new Error('the part is not found')
    expect(Buffer.from(found.part.pieceSubtreeRoots)).toEqual(pieceSubtreeRoots)
    const kept = found.part.imports.map(({ profile, digests }) => [profile, Buffer.from(digests).length])
    expect(kept.toSorted()).toEqual([
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

  it('answers 4,096 keys at once', async (store) => {
    const { key } = await stage(store, upload())
    const found = await outcomes(
      store,
      times(4_096, (index) => (index % 2 === 0 ? key : keyOf(`${index}`))),
    )
    expect(found.filter((outcome) => outcome === 'found')).toHaveLength(2_048)
  })
}
