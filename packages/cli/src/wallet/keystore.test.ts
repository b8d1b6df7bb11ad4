import { createCipheriv, scryptSync } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openKeystore, readKeystore } from './keystore.ts'

// The two test vectors of the definition of Web3 Secret Storage.
const SECRET = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const BY_PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const BY_SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const read = (store: unknown) => readKeystore(JSON.stringify(store), 'wallet.json')

describe('a keystore', () => {
  it.each([
    ['pbkdf2', BY_PBKDF2],
    ['scrypt', BY_SCRYPT],
  ])('by %s is opened as the published vector says', async (_, store) => {
    expect((await openKeystore(read(store), 'testpassword'))?.toString('hex')).toBe(SECRET)
  })

  it('is opened by no other password', async () => {
    for (const password of ['testpassword ', 'Testpassword', '']) {
      expect(await openKeystore(read(BY_PBKDF2), password)).toBeUndefined()
    }
  })

  it('gives back whatever key was locked by whatever password', async () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(Buffer.from)
    await fc.assert(
      fc.asyncProperty(bytes(32), bytes(32), bytes(16), fc.string(), async (key, salt, iv, password) => {
        const derived = scryptSync(password, salt, 32, { N: 2, r: 8, p: 1 })
        const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
        const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
        const mac = Buffer.from(keccak_256(Buffer.concat([derived.subarray(16), ciphertext])))
        const store = {
          version: 3,
          Crypto: {
            cipher: 'aes-128-ctr',
            cipherparams: { iv: iv.toString('hex') },
            ciphertext: ciphertext.toString('hex'),
            kdf: 'scrypt',
            kdfparams: { n: 2, r: 8, p: 1, dklen: 32, salt: salt.toString('hex') },
            mac: mac.toString('hex'),
          },
        }
        expect(await openKeystore(read(store), password)).toEqual(key)
      }),
      { numRuns: 50 },
    )
  })

  it.each<[string, unknown]>([
    ['version 1', { ...BY_SCRYPT, version: 1 }],
    ['an Ethereum 2 keystore', { ...BY_SCRYPT, version: 4 }],
    ['nothing', {}],
    ['a list', []],
    ['null', null],
    ['another cipher', { ...BY_SCRYPT, crypto: { ...BY_SCRYPT.crypto, cipher: 'aes-128-cbc' } }],
    ['a short ciphertext', { ...BY_SCRYPT, crypto: { ...BY_SCRYPT.crypto, ciphertext: 'd172' } }],
    ['a mac that is no hex', { ...BY_SCRYPT, crypto: { ...BY_SCRYPT.crypto, mac: 'x'.repeat(64) } }],
    ['another derivation', { ...BY_SCRYPT, crypto: { ...BY_SCRYPT.crypto, kdf: 'argon2id' } }],
    ['a derivation that takes for ever', withParams({ n: 2 ** 40 })],
    ['rounds that are no power of two', withParams({ n: 1000 })],
    ['a derived key that is too short', withParams({ dklen: 16 })],
    ['no salt', withParams({ salt: undefined })],
  ])('error: %s is refused by one sentence, before anything is derived', (_, store) => {
    expect(() => read(store)).toThrow(/^wallet\.json is not a supported keystore: .*\.$/)
  })

  it('error: what is no JSON is refused without being repeated', () => {
    expect(() => readKeystore('{ secret', 'wallet.json')).toThrow('it is not JSON.')
  })
})

function withParams(changes: Record<string, unknown>) {
  const { crypto } = BY_SCRYPT
  return { ...BY_SCRYPT, crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, ...changes } } }
}
