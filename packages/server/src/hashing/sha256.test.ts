import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSha256, sha256Hex } from './sha256.ts'

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

describe('createSha256', () => {
  test.each(KNOWN)('hashes %j byte by byte to the published digest', (text, digest) => {
    const hasher = createSha256()
    for (const byte of Buffer.from(text)) hasher.update(Uint8Array.of(byte))
    expect(hasher.digestHex()).toBe(digest)
  })

  test('gives the same digest however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (chunks) => {
        const hasher = createSha256()
        for (const chunk of chunks) hasher.update(chunk)
        expect(hasher.digestHex()).toBe(sha256Hex(Buffer.concat(chunks)))
      }),
    )
  })

  test('reads each chunk before update returns', () => {
    const hasher = createSha256()
    const buffer = Buffer.from('abc')
    hasher.update(buffer)
    buffer.fill(0)
    expect(hasher.digestHex()).toBe(sha256Hex(Buffer.from('abc')))
  })

  test('refuses to go on after its digest', () => {
    const hasher = createSha256()
    hasher.digestHex()
    expect(() => hasher.update(Uint8Array.of(1))).toThrow()
    expect(() => hasher.digestHex()).toThrow()
  })
})
