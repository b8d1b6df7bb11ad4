import { describe, expect, it } from 'vitest'
import { SecretString } from './secret-string.ts'
import { parseTokenKey, tokenKeyBytes } from './token-key.ts'

describe('parseTokenKey', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index))

  it.each([
    ['hex', bytes.toString('hex')],
    ['upper-case hex', bytes.toString('hex').toUpperCase()],
    ['base64 with padding', bytes.toString('base64')],
    ['base64 without padding', bytes.toString('base64').replace('=', '')],
    ['base64url', bytes.toString('base64url')],
    ['base64url with padding', `${bytes.toString('base64url')}=`],
  ])('reads %s as the bytes that it spells', (_, text) => {
    expect(Buffer.from(parseTokenKey(text) ?? [])).toEqual(bytes)
  })

  it('takes other text of 32 UTF-8 bytes as it is', () => {
    expect(parseTokenKey('!'.repeat(32))).toEqual(Buffer.from('!'.repeat(32)))
    expect(parseTokenKey('é!'.repeat(11))?.length).toBe(33)
  })

  it('takes text that looks like base64 of fewer than 32 bytes as it is', () => {
    expect(parseTokenKey('x'.repeat(32))).toEqual(Buffer.from('x'.repeat(32)))
  })

  it.each([
    ['31 bytes of text', '!'.repeat(31)],
    ['31 bytes in hex', 'ab'.repeat(31)],
    ['an odd number of hex digits', 'a'.repeat(65)],
    ['32 hex digits, which are only 16 bytes', 'ab'.repeat(16)],
    ['a key with a line feed after it', `${'ab'.repeat(32)}\n`],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseTokenKey(text)).toBeUndefined()
    expect(() => tokenKeyBytes(new SecretString(text))).toThrow(TypeError)
  })
})
