import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { inspect } from 'node:util'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { mintToken } from './mint-token.ts'
import { SigningKey } from './signing-key.ts'
import { claimsOf, KEY_BYTES, NOW, NOW_SECONDS, testKey } from './testing-token-jwt.ts'
import { verifyToken } from './verify-token.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = await SigningKey.fromPrivateKey(pair.privateKey, NOW_SECONDS)
const hmacKey = await testKey()
const invalid = expect.objectContaining({ code: 'invalid_token', evidence: {} })
const good = await mintToken(claimsOf(), key)
const ofSecret = await mintToken(claimsOf(), hmacKey)

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token of this header with an RS256 signature of the right key, or what `sign` makes of it. */
function forge(header: object, sign = (input: string) => rsaSignature(input, 'RSA-SHA256')): string {
  const input = `${part(header)}.${part(claimsOf())}`
  return `pk_live_${input}.${sign(input).toString('base64url')}`
}

function rsaSignature(input: string, hash: string, privateKey: KeyObject = pair.privateKey): Buffer {
  return createSign(hash).update(input).sign(privateKey)
}

describe('an RS256 key', () => {
  it('has the thumbprint of its public half for its id', async () => {
    expect(key.alg).toBe('RS256')
    expect(key.id).toMatch(/^[\w-]{43}$/)
    expect((await SigningKey.fromPrivateKey(pair.privateKey)).id).toBe(key.id)
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    expect((await SigningKey.fromPrivateKey(other)).id).not.toBe(key.id)
  })

  it('publishes its public half and nothing else', () => {
    const { n, e } = createPublicKey(pair.privateKey).export({ format: 'jwk' })
    expect(key.publicJwk).toEqual({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: key.id, n, e })
    expect(hmacKey.publicJwk).toBeUndefined()
  })

  it('does not print what is secret of it', () => {
    const { d = '', p = '' } = pair.privateKey.export({ format: 'jwk' })
    const printed = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key)
    expect(printed).not.toContain(d)
    expect(printed).not.toContain(p)
    expect(key.signer.extractable).toBe(false)
  })

  it('derives keys that its public half does not tell, the same in every process', async () => {
    const again = await SigningKey.fromPrivateKey(pair.privateKey)
    const [one, two] = [key, again].map((from) => from.derive('a').export().toString('hex'))
    expect(one).toBe(two)
    expect(one).not.toBe(key.derive('b').export().toString('hex'))
  })

  it.each([
    ['a public key', pair.publicKey],
    ['a smaller key', generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey],
    ['a key for PSS alone', generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey],
    ['an elliptic key', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
  ])('is not made from %s', async (_, other) => {
    await expect(SigningKey.fromPrivateKey(other)).rejects.toThrow(TypeError)
  })
})

describe('a token of an RS256 key', () => {
  it('names the algorithm and the key, and is verified by the key', async () => {
    const [header = ''] = good.slice('pk_live_'.length).split('.')
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: key.id })
    expect(await verifyToken(good, key, NOW)).toEqual(claimsOf())
  })

  it('is verified by others with the public half', async () => {
    const keys = createLocalJWKSet({ keys: [{ ...key.publicJwk, kty: 'RSA' }] })
    const { payload } = await jwtVerify(good.slice('pk_live_'.length), keys, {
      currentDate: NOW,
      algorithms: ['RS256'],
    })
    expect(payload).toEqual(claimsOf())
  })

  const header = { alg: 'RS256', typ: 'JWT', kid: key.id }
  const publicTexts = {
    'the PEM': String(pair.publicKey.export({ format: 'pem', type: 'spki' })),
    'the PEM without its last line feed': String(pair.publicKey.export({ format: 'pem', type: 'spki' })).trim(),
    'the PKCS#1 PEM': String(pair.publicKey.export({ format: 'pem', type: 'pkcs1' })),
    'the DER': pair.publicKey.export({ format: 'der', type: 'spki' }),
    'the JSON Web Key': JSON.stringify(key.publicJwk),
    'the modulus': Buffer.from(key.publicJwk?.n ?? '', 'base64url'),
  }
  it.each(Object.entries(publicTexts))(
    'is not one that %s of the public half signed as a secret',
    async (_, secret) => {
      const sign = (input: string) => createHmac('sha256', secret).update(input).digest()
      for (const alg of ['HS256', 'RS256']) {
        for (const members of [
          { alg, typ: 'JWT' },
          { ...header, alg },
        ]) {
          await expect(verifyToken(forge(members, sign), key, NOW)).rejects.toEqual(invalid)
        }
      }
    },
  )

  it.each<[string, string]>([
    ['of an HS256 service', ofSecret],
    ['without kid', forge({ alg: 'RS256', typ: 'JWT' })],
    ['with another kid', forge({ ...header, kid: 'other' })],
    ['with a kid that is a path', forge({ ...header, kid: '../../dev/null' })],
    ['with crit', forge({ ...header, crit: ['exp'] })],
    ['that brings its key', forge({ ...header, jwk: key.publicJwk })],
    ['that says where its key is', forge({ ...header, jku: 'https://evil.example/keys' })],
    ['with alg none', forge({ ...header, alg: 'none' }, () => Buffer.alloc(0))],
    ['signed as RS512', forge({ ...header, alg: 'RS512' }, (input) => rsaSignature(input, 'RSA-SHA512'))],
    ['signed with another hash', forge(header, (input) => rsaSignature(input, 'RSA-SHA512'))],
    ['said to be PS256', forge({ ...header, alg: 'PS256' })],
    [
      'of another key under this kid',
      forge(header, (input) =>
        rsaSignature(input, 'RSA-SHA256', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
      ),
    ],
    ['with padding', `${good}=`],
  ])('is not one %s', async (_, token) => {
    await expect(verifyToken(token, key, NOW)).rejects.toEqual(invalid)
  })

  it('is accepted when it is forged as it should be, so that the refusals mean something', async () => {
    expect(await verifyToken(forge(header), key, NOW)).toEqual(claimsOf())
  })

  it('is nothing to an HS256 service, whichever key signed', async () => {
    await expect(verifyToken(good, hmacKey, NOW)).rejects.toEqual(invalid)
    const asSecret = forge({ alg: 'HS256', typ: 'JWT' }, (input) =>
      createHmac('sha256', KEY_BYTES).update(input).digest(),
    )
    expect(await verifyToken(asSecret, hmacKey, NOW)).toEqual(claimsOf())
    const named = forge(header, (input) => createHmac('sha256', KEY_BYTES).update(input).digest())
    await expect(verifyToken(named, hmacKey, NOW)).rejects.toEqual(invalid)
  })
})
