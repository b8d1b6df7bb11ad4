import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8Bytes, utf8Text } from './utf8.ts'

describe('UTF-8 of a text', () => {
  it('is that of the encoder of Node, whatever the length', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 400 })
    fc.assert(
      fc.property(texts, (text) => {
        expect(Buffer.from(utf8Bytes(text)).equals(Buffer.from(text))).toBe(true)
        expect(utf8Text(utf8Bytes(text))).toBe(text)
      }),
    )
  })

  it('has bytes of its own, which no later text changes', () => {
    const first = utf8Bytes('one name')
    utf8Bytes('another name')
    expect(utf8Text(first)).toBe('one name')
    expect(first.buffer.byteLength).toBe('one name'.length)
  })

  it.each([
    ['the longest that fits, of three bytes a unit', '€'.repeat(256)],
    ['one that is longer', '€'.repeat(257)],
    ['half a surrogate pair', '\ud83d'],
  ])('%s', (_name, text) => {
    expect(Buffer.from(utf8Bytes(text)).equals(Buffer.from(text))).toBe(true)
  })
})
