import { generateKeyPairSync } from 'node:crypto'
import { SecretString } from '@lade/node/settings'
import { describe, expect, it } from 'vitest'
import { parseRsaKey, parseTokenKey, tokenKeyBytes, tokenKeyMaterial } from './token-key.ts'

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

describe('parseRsaKey', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const jwk = privateKey.export({ format: 'jwk' })
  const read = (text: string) => parseRsaKey(text)?.export({ format: 'jwk' })

  it.each([
    ['PEM of PKCS#8', pem],
    ['PEM of PKCS#1', String(privateKey.export({ format: 'pem', type: 'pkcs1' }))],
    ['PEM on one line', pem.replaceAll('\n', '\\n')],
    ['PEM without its last line feed', pem.trim()],
    ['a JSON Web Key', JSON.stringify(jwk)],
    ['a JSON Web Key with more members', JSON.stringify({ ...jwk, kid: 'mine', use: 'sig', iat: 1 }, null, 2)],
  ])('reads %s', (_, text) => {
    expect(read(text)).toEqual(jwk)
    expect(tokenKeyMaterial('RS256', new SecretString(text)).alg).toBe('RS256')
  })

  it.each([
    ['a secret', 'k'.repeat(40)],
    ['torn PEM', pem.slice(0, 400)],
    ['a public key in PEM', String(publicKey.export({ format: 'pem', type: 'spki' }))],
    ['a public JSON Web Key', JSON.stringify(publicKey.export({ format: 'jwk' }))],
    ['a JSON Web Key without its primes', JSON.stringify({ ...jwk, p: undefined })],
    ['a JSON Web Key of no numbers', JSON.stringify({ ...jwk, n: '!' })],
    [
      'encrypted PEM',
      String(privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })),
    ],
    [
      'an RSA key of 1024 bits',
      String(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'pem', type: 'pkcs8' })),
    ],
    [
      'a key of another kind',
      String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' })),
    ],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseRsaKey(text)).toBeUndefined()
    expect(() => tokenKeyMaterial('RS256', new SecretString(text))).toThrow(TypeError)
  })

  it('is no secret for HS256, whichever half and form', () => {
    for (const key of [privateKey, publicKey]) {
      const type = key === privateKey ? 'pkcs8' : 'spki'
      expect(parseTokenKey(String(key.export({ format: 'pem', type })).trim())).toBeUndefined()
      expect(parseTokenKey(JSON.stringify(key.export({ format: 'jwk' })))).toBeUndefined()
    }
  })
})
