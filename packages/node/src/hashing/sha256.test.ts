import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hexOf } from './hex.ts'
import { sha256, sha256Hex } from './sha256.ts'

/** The examples of FIPS 180-4's companion page, and the empty message. */
const KNOWN = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
] as const

describe('sha256Hex', () => {
  test.each(KNOWN)('hashes %j to the published digest', (text, digest) => {
    expect(sha256Hex(Buffer.from(text))).toBe(digest)
  })
})

describe('sha256', () => {
  test.each(KNOWN)('hashes %j to the published digest, at once and byte by byte', (text, digest) => {
    expect(hexOf(sha256.of(Buffer.from(text)))).toBe(digest)
    const running = sha256.create()
    for (const byte of Buffer.from(text)) running.update(Uint8Array.of(byte))
    expect(hexOf(running.digest())).toBe(digest)
  })

  test('gives the same digest however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (chunks) => {
        const running = sha256.create()
        for (const chunk of chunks) running.update(chunk)
        expect(hexOf(running.digest())).toBe(sha256Hex(Buffer.concat(chunks)))
      }),
    )
  })

  test('reads each chunk before update returns', () => {
    const running = sha256.create()
    const buffer = Buffer.from('abc')
    running.update(buffer)
    buffer.fill(0)
    expect(hexOf(running.digest())).toBe(sha256Hex(Buffer.from('abc')))
  })

  test('refuses to go on after its digest', () => {
    const running = sha256.create()
    running.digest()
    expect(() => running.update(Uint8Array.of(1))).toThrow()
    expect(() => running.digest()).toThrow()
  })
})
