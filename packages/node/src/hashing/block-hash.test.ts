import { expect, test } from 'vitest'
import { blockHashOf } from './block-hash.ts'
import { hexOf } from './hex.ts'

// Codes by https://github.com/multiformats/multicodec/blob/master/table.csv.
test.each([
  [0x12, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [0x1e, '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'],
  [0xb220, 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'],
])('the hash of code %i digests "abc"', (code, expected) => {
  expect(hexOf(blockHashOf(code)?.(Buffer.from('abc')) ?? Buffer.of())).toBe(expected)
})

test.each([0x00, 0x11, 0x13, 0xb240])('the hash of code %i is not checked', (code) => {
  expect(blockHashOf(code)).toBeUndefined()
})
