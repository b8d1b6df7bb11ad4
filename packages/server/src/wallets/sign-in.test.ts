import { LadeError } from '@lade/core/errors'
import { createSiweMessage } from 'viem/siwe'
import { beforeEach, describe, expect, it } from 'vitest'
import { type FakeChain, openFakeChain } from '../chain/fake-chain.ts'
import { SigningKey } from '../tokens/signing-key.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'
import { verifyToken } from '../tokens/verify-token.ts'
import { isOfWallet } from '../tokens/wallet-claims.ts'
import { issueNonce, SIGN_IN_SECONDS } from './issue-nonce.ts'
import { NonceLimit } from './nonce-limit.ts'
import { signIn } from './sign-in.ts'
import { ALICE, BOB, openTestNonces } from './testing-wallets.ts'
import { walletOfClaims } from './wallet-token.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const PUBLIC_URL = 'https://lade.example'
const key = await SigningKey.fromBytes(Buffer.alloc(32, 7))

let chain: FakeChain
let nonces = openTestNonces()
let now = NOW
beforeEach(() => {
  chain = openFakeChain({ chainId: 8453 })
  nonces = openTestNonces()
  now = NOW
})

const newNonce = async () =>
  (await issueNonce({ nonces, limit: new NonceLimit(), now: () => now }, { address: 'ip:192.0.2.1' })).nonce

type Fields = Parameters<typeof createSiweMessage>[0]
const messageOf = (nonce: string, changes: Partial<Fields> = {}) =>
  createSiweMessage({
    address: ALICE.address,
    chainId: 8453,
    domain: 'lade.example',
    nonce,
    uri: 'https://lade.example/console',
    version: '1',
    issuedAt: new Date(now),
    ...changes,
  })

const verify = (message: string, signature: string, publicUrl = PUBLIC_URL) =>
  signIn(
    {
      chain,
      nonces,
      keys: new SigningKeys(key),
      publicUrl: () => publicUrl,
      now: () => now,
      newId: () => '3f0c9c1e-5f0b-4c52-8f3c-0d8a9a1c7e55',
    },
    { message, signature },
  )

const enter = async (message: string, { account = ALICE, publicUrl = PUBLIC_URL } = {}) =>
  verify(message, await account.signMessage({ message }), publicUrl)

async function refusal(signing: Promise<unknown>): Promise<string> {
  const error: unknown = await signing.catch((reason: unknown) => reason)
  if (!LadeError.has(error, 'invalid_signature')) throw error
  return error.evidence.reason
}

describe('signIn', () => {
  it('gives a token of 15 minutes with all scopes, for this origin and chain', async () => {
    const { token, address, expiresAt } = await enter(messageOf(await newNonce()))
    expect(address).toBe(ALICE.address)
    expect(Date.parse(expiresAt)).toBe(NOW + 15 * 60_000)
    const claims = await verifyToken(token, key, new Date(NOW))
    expect(claims).toMatchObject({
      sub: `eip155:8453:${ALICE.address}`,
      aud: PUBLIC_URL,
      scopes: ['put', 'get', 'list', 'pin'],
      iat: NOW / 1000,
      exp: NOW / 1000 + 900,
    })
    await expect(verifyToken(token, key, new Date(NOW + 900_000))).rejects.toMatchObject({ code: 'invalid_token' })
    if (!isOfWallet(claims)) throw new Error('the token is none of a wallet')
    expect(walletOfClaims(claims, { origin: PUBLIC_URL, chainId: 8453 })).toEqual({ chainId: 8453, address })
    for (const elsewhere of [
      { origin: 'https://other.example', chainId: 8453 },
      { origin: PUBLIC_URL, chainId: 1 },
      undefined,
    ]) {
      expect(() => walletOfClaims(claims, elsewhere)).toThrow(expect.objectContaining({ code: 'invalid_token' }))
    }
  })

  it.each<[string, Partial<Fields>]>([
    ['a statement', { statement: 'I accept the terms: https://lade.example/terms (v1.0)' }],
    ['a scheme', { scheme: 'https' }],
    ['resources', { resources: ['https://lade.example/terms', 'ipfs://bafybeia'] }],
    ['a request id', { requestId: 'abc-1' }],
    ['a time to begin that has come', { notBefore: new Date(NOW) }],
    ['a URI of the origin alone', { uri: 'https://lade.example' }],
    ['a clock that is a minute ahead', { issuedAt: new Date(NOW + 60_000) }],
  ])('takes a message with %s', async (_, changes) => {
    expect((await enter(messageOf(await newNonce(), changes))).address).toBe(ALICE.address)
  })

  it('takes times with an offset and without a fraction', async () => {
    const message = messageOf(await newNonce()).replace(/Issued At: .*/, 'Issued At: 2026-11-21T13:00:00+01:00')
    expect((await enter(message)).address).toBe(ALICE.address)
  })

  it('takes a port in the domain, and the address that was bound', async () => {
    const at = { domain: 'localhost:8080', uri: 'http://localhost:8080/' }
    const message = messageOf(await newNonce(), at)
    expect((await enter(message, { publicUrl: 'http://localhost:8080' })).address).toBe(ALICE.address)
  })

  it('lets the token end with the message', async () => {
    const { expiresAt } = await enter(messageOf(await newNonce(), { expirationTime: new Date(NOW + 30_000) }))
    expect(Date.parse(expiresAt)).toBe(NOW + 30_000)
  })

  it('takes the word of a contract', async () => {
    const message = messageOf(await newNonce())
    chain.acceptAsContract(ALICE.address, Buffer.from('abcd', 'hex'))
    expect((await verify(message, '0xabcd')).address).toBe(ALICE.address)
  })

  it.each<[string, Partial<Fields>, RegExp]>([
    ['another domain', { domain: 'evil.example' }, /^The message is for another domain/],
    ['a domain with another port', { domain: 'lade.example:8443' }, /^The message is for another domain/],
    ['another scheme', { scheme: 'http' }, /^The message is for another domain/],
    ['a URI elsewhere', { uri: 'https://evil.example/' }, /^The URI of the message must start with/],
    ['a URI that only begins as ours', { uri: 'https://lade.example.evil.example/' }, /^The URI of the message/],
    ['a URI of another scheme', { uri: 'http://lade.example/' }, /^The URI of the message/],
    ['another chain', { chainId: 1 }, /^The message is for another chain/],
    ['an end that has come', { expirationTime: new Date(NOW) }, /^The message has expired/],
    ['a beginning to come', { notBefore: new Date(NOW + 60_001) }, /^The message is not valid yet/],
    ['a time of issue to come', { issuedAt: new Date(NOW + 60_001) }, /^The message was issued in the future/],
    ['a time of issue long ago', { issuedAt: new Date(NOW - 11 * 60_000) }, /^The message was issued too long ago/],
  ])('refuses %s, and the nonce stays good', async (_, changes, reason) => {
    const nonce = await newNonce()
    expect(await refusal(enter(messageOf(nonce, changes)))).toMatch(reason)
    expect((await enter(messageOf(nonce))).address).toBe(ALICE.address)
  })

  it.each<[string, (message: string) => string]>([
    ['another version', (text) => text.replace('Version: 1', 'Version: 2')],
    ['an address in lower case', (text) => text.replace(ALICE.address, ALICE.address.toLowerCase())],
    ['a short nonce', (text) => text.replace(/Nonce: .*/, 'Nonce: abc1234')],
    ['a nonce with other characters', (text) => text.replace(/Nonce: (.{8}).*/, 'Nonce: $1-abc')],
    ['a date without a time', (text) => text.replace(/Issued At: .*/, 'Issued At: 2026-11-21')],
    ['a day that is none', (text) => text.replace(/Issued At: .*/, 'Issued At: 2026-02-30T12:00:00Z')],
    ['a time in words', (text) => text.replace(/Issued At: .*/, 'Issued At: Sat, 21 Nov 2026 12:00:00 GMT')],
    ['a line of its own', (text) => `${text}\nAdmin: true`],
    ['a line before', (text) => `Hello\n${text}`],
    ['a line feed at its end', (text) => `${text}\n`],
    ['carriage returns', (text) => text.replaceAll('\n', '\r\n')],
    ['two statements', (text) => text.replace('\n\n\n', '\n\na\n\nb\n\n')],
    ['its fields twice', (text) => `${text}\n${text.slice(text.indexOf('URI:'))}`],
    ['a field away', (text) => text.replace(/Chain ID: .*\n/, '')],
    ['fields in another order', (text) => text.replace(/(URI: .*)\n(Version: .*)/, '$2\n$1')],
    ['a domain with a user', (text) => text.replace('lade.example wants', 'evil@lade.example wants')],
    ['nothing', () => ''],
  ])('refuses a message with %s', async (_, change) => {
    expect(await refusal(enter(change(messageOf(await newNonce()))))).toMatch(
      /^(The message is not a valid EIP-4361 message|The version|The address in the message|A time in the message)/,
    )
  })

  it('refuses the zero address', async () => {
    const message = messageOf(await newNonce(), { address: `0x${'0'.repeat(40)}` })
    expect(await refusal(enter(message))).toBe('The zero address cannot sign.')
  })

  it('refuses what somebody else signed, and a signature over another message', async () => {
    const message = messageOf(await newNonce())
    const other = await ALICE.signMessage({ message: `${message} ` })
    for (const signing of [enter(message, { account: BOB }), verify(message, other)]) {
      expect(await refusal(signing)).toBe(`This is not a signature of this message by ${ALICE.address}.`)
    }
    expect((await enter(message)).address).toBe(ALICE.address)
  })

  it.each(['', '0x', '0x0', '0xzz', 'abcd', '0Xabcd'])('refuses the signature %j', async (signature) => {
    expect(await refusal(verify(messageOf(await newNonce()), signature))).toBe('The signature must be 0x and hex.')
  })

  it('takes a nonce once, whoever comes with it', async () => {
    const nonce = await newNonce()
    const message = messageOf(nonce)
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => enter(message)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const theirs = messageOf(nonce, { address: BOB.address })
    await expect(enter(theirs, { account: BOB })).rejects.toMatchObject({ code: 'invalid_nonce' })
  })

  it('takes no nonce that was not handed out, and none that is ten minutes old', async () => {
    await expect(enter(messageOf('aaaaaaaabbbbbbbb'))).rejects.toMatchObject({ code: 'invalid_nonce' })
    const nonce = await newNonce()
    now += SIGN_IN_SECONDS * 1000
    await expect(enter(messageOf(nonce))).rejects.toMatchObject({ code: 'invalid_nonce' })
  })

  it('asks no chain about a nonce that was not handed out', async () => {
    chain.setOnline(false)
    await expect(verify(messageOf('aaaaaaaabbbbbbbb'), '0xabcd')).rejects.toMatchObject({ code: 'invalid_nonce' })
  })

  it('says that the chain is away when only the chain could tell, and the nonce stays good', async () => {
    const message = messageOf(await newNonce())
    chain.setOnline(false)
    await expect(verify(message, '0xabcd')).rejects.toMatchObject({ code: 'chain_offline' })
    expect((await enter(message)).address).toBe(ALICE.address)
  })

  it('says so when there is no signing key', async () => {
    const deps = {
      chain,
      nonces,
      keys: new SigningKeys(),
      publicUrl: () => PUBLIC_URL,
      now: () => now,
      newId: () => '',
    }
    const message = messageOf(await newNonce())
    const signature = await ALICE.signMessage({ message })
    await expect(signIn(deps, { message, signature })).rejects.toMatchObject({ code: 'auth_offline' })
  })
})

describe('issueNonce', () => {
  it('hands out nonces that the message can hold, each its own', async () => {
    const handedOut = await Promise.all(Array.from({ length: 20 }, newNonce))
    expect(new Set(handedOut).size).toBe(20)
    for (const nonce of handedOut) expect(nonce).toMatch(/^[0-9a-f]{32}$/)
  })

  it('gives an address no more than its share of a minute', async () => {
    const limit = new NonceLimit(2)
    const ask = (address: string) => issueNonce({ nonces, limit, now: () => now }, { address })
    now = NOW + 59_000
    await ask('ip:192.0.2.1')
    await ask('ip:192.0.2.1')
    await expect(ask('ip:192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      evidence: { used: 2, limit: 2, retryAfterSeconds: 1 },
    })
    await ask('ip:192.0.2.2')
    now = NOW + 60_000
    await ask('ip:192.0.2.1')
  })
})
