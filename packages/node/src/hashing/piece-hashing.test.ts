import { createRequire } from 'node:module'
import { hashInto } from '@chainsafe/hashtree'
import { hashPiece, portableHashPairs } from '@lade/core/piece'
import { describe, expect, test } from 'vitest'
import { loadHashPairs, pieceHashing, pieceHashingWith } from './piece-hashing.ts'
import { scatteredBytes } from './testing-bodies.ts'

describe('loadHashPairs', () => {
  test('answers undefined where there is no binary for the platform', () => {
    const load = () => createRequire(import.meta.url)('@chainsafe/hashtree-plan9-mips')
    expect(load).toThrow()
    expect(loadHashPairs(load)).toBeUndefined()
  })

  test('loads the native hash', () => {
    expect(loadHashPairs()).toBe(hashInto)
  })
})

describe.each([
  ['the native way', pieceHashingWith(hashInto), { isNative: true, hashPairs: hashInto }],
  ['the portable way', pieceHashingWith(undefined), { isNative: false, hashPairs: portableHashPairs }],
  ['the way of this platform', pieceHashing, { isNative: true, hashPairs: hashInto }],
])('%s', (_, hashing, expected) => {
  test('says what it is', () => {
    expect(hashing).toMatchObject(expected)
  })

  test('hashes pieces', () => {
    const bytes = scatteredBytes(200_000, 1)
    const running = hashing.create()
    running.update(bytes.subarray(0, 1000))
    running.update(bytes.subarray(1000))
    expect(running.finish()).toEqual(hashPiece(bytes))
    expect(hashing.whole(bytes)).toEqual(hashPiece(bytes))
  })
})
