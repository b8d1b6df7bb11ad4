import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 as nobleBlake3 } from '@noble/hashes/blake3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blake2b256, blake3 } from './blake.ts'
import { hexOf } from './hex.ts'

/** Bytes 0, 1, …, 250 over and over, as the vectors of blake3 are made. */
const patternOf = (sizeBytes: number) => Buffer.from(Array.from({ length: sizeBytes }, (_, index) => index % 251))

describe('blake3', () => {
  // https://github.com/BLAKE3-team/BLAKE3/blob/1.5.4/test_vectors/test_vectors.json, `hash`, first 32 bytes.
  test.each([
    [0, 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
    [1, '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
    [1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7'],
    [1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444'],
    [102400, 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'],
  ])('hashes %i bytes to the published digest', (sizeBytes, expected) => {
    expect(hexOf(blake3.of(patternOf(sizeBytes)))).toBe(expected)
  })
})

describe('blake2b256', () => {
  test.each([
    ['', '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'],
    ['abc', 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'],
  ])('hashes %j to the published digest', (text, expected) => {
    expect(hexOf(blake2b256.of(Buffer.from(text)))).toBe(expected)
  })
})

describe.each([
  ['blake3', blake3, (bytes: Uint8Array) => nobleBlake3(bytes)],
  ['blake2b256', blake2b256, (bytes: Uint8Array) => blake2b(bytes, { dkLen: 32 })],
])('%s', (_, hash, oracle) => {
  test('agrees with another implementation, with many hashes taking turns', () => {
    const chunk = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 1000, maxLength: 3000 }))
    const bodies = fc.array(fc.array(chunk, { maxLength: 6 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(bodies, (bodies) => {
        const running = bodies.map(() => hash.create())
        for (let turn = 0; turn < 6; turn += 1) {
          for (const [index, body] of bodies.entries()) {
            const bytes = body[turn]
            if (bytes === undefined) continue
            running[index]?.update(bytes)
            expect(hexOf(hash.of(bytes))).toBe(hexOf(oracle(bytes)))
          }
        }
        const expected = bodies.map((body) => hexOf(oracle(Buffer.concat(body))))
        expect(running.map((each) => hexOf(each.digest()))).toEqual(expected)
      }),
    )
  })

  test('reads shared memory, before update returns', () => {
    const block = Buffer.from(new SharedArrayBuffer(100_000)).fill(1)
    const running = hash.create()
    running.update(block)
    block.fill(2)
    expect(hexOf(running.digest())).toBe(hexOf(oracle(Buffer.alloc(100_000, 1))))
    expect(hexOf(hash.of(block))).toBe(hexOf(oracle(Buffer.alloc(100_000, 2))))
  })

  test('refuses to go on after its digest', () => {
    const running = hash.create()
    running.digest()
    expect(() => running.update(Uint8Array.of(1))).toThrow(TypeError)
    expect(() => running.digest()).toThrow(TypeError)
  })
})
