import { expect, test } from 'vitest'
import { hasDigestLength } from './digest-length.ts'

const has = (hashCode: number, length: number) => hasDigestLength(hashCode, new Uint8Array(length))

test.each([
  ['sha2-256', 0x12, 32],
  ['sha2-512', 0x13, 64],
  ['sha3-224', 0x17, 28],
  ['shake-256', 0x19, 64],
  ['keccak-384', 0x1c, 48],
  ['blake3', 0x1e, 32],
  ['dbl-sha2-256', 0x56, 32],
  ['blake2b-160', 0xb214, 20],
  ['blake2b-512', 0xb240, 64],
  ['blake2s-160', 0xb254, 20],
  ['blake2s-256', 0xb260, 32],
])('a digest of %s has its full length', (_name, hashCode, length) => {
  expect(has(hashCode, length)).toBe(true)
  for (const other of [0, 20, 32, 64, length - 1, length + 1]) {
    if (other !== length) expect(has(hashCode, other), `${other}`).toBe(false)
  }
})

test.each([
  ['sha1', 0x11, 20],
  ['blake2b of 152 bits', 0xb213, 19],
  ['blake2s of 152 bits', 0xb253, 19],
  ['md5', 0xd5, 16],
])('no digest of %s is one', (_name, hashCode, length) => {
  expect(has(hashCode, length)).toBe(false)
})

test('inline bytes are few', () => {
  expect([has(0, 0), has(0, 128), has(0, 129)]).toEqual([true, true, false])
})
