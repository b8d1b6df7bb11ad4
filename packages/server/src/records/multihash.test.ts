import { createHash } from 'node:crypto'
import * as Digest from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { describe, expect, test } from 'vitest'
import { keyOfMultihash, sha256Multihashes } from './multihash.ts'

const BLAKE3 = 0x1e
const BLAKE2B_256 = 0xb220
const SHA2_512 = 0x13
const DIGEST = Buffer.alloc(32, 0xab)

describe('the key of a multihash', () => {
  test('names sha2-256, blake3 and blake2b-256 of 32 bytes', async () => {
    const hello = await sha256.digest(Buffer.from('hello'))
    expect(keyOfMultihash(hello.bytes)).toBe(`sha256:${createHash('sha256').update('hello').digest('hex')}`)
    expect(keyOfMultihash(Digest.create(BLAKE3, DIGEST).bytes)).toBe(`blake3:${'ab'.repeat(32)}`)
    expect(keyOfMultihash(Digest.create(BLAKE2B_256, DIGEST).bytes)).toBe(`blake2b-256:${'ab'.repeat(32)}`)
  })

  test.each([
    ['another hash', Digest.create(SHA2_512, Buffer.alloc(64)).bytes],
    ['another hash of 32 bytes', Digest.create(SHA2_512, DIGEST).bytes],
    ['a digest cut short', Digest.create(BLAKE3, DIGEST.subarray(1)).bytes],
    ['identity', Digest.create(0, DIGEST).bytes],
    ['nothing', new Uint8Array()],
  ])('is none for %s', (_, multihash) => {
    expect(keyOfMultihash(multihash)).toBeUndefined()
  })

  test('reads a view into a larger buffer', () => {
    const whole = Buffer.concat([Buffer.from('left'), Digest.create(BLAKE3, DIGEST).bytes, Buffer.from('right')])
    expect(keyOfMultihash(whole.subarray(4, -5))).toBe(`blake3:${'ab'.repeat(32)}`)
  })
})

test('digests become multihashes in their order', async () => {
  const words = ['a', 'b', 'a']
  const digests = Buffer.concat(words.map((word) => createHash('sha256').update(word).digest()))
  const expected = await Promise.all(words.map(async (word) => (await sha256.digest(Buffer.from(word))).bytes))
  expect(sha256Multihashes(digests).map((one) => Buffer.from(one))).toEqual(expected.map((one) => Buffer.from(one)))
  expect(sha256Multihashes(new Uint8Array())).toEqual([])
})
