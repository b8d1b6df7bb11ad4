import { SCOPES } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { mintToken } from './mint-token.ts'
import { claimsOf, forge, NOW, NOW_SECONDS, testKey } from './testing-token-jwt.ts'
import { verifyToken } from './verify-token.ts'
import { isOfWallet, type WalletClaims } from './wallet-claims.ts'

const HEADER = { alg: 'HS256', typ: 'JWT' }
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const key = await testKey()

function walletClaims(changes: Record<string, unknown> = {}): WalletClaims {
  const { iat, exp, jti } = claimsOf()
  return { sub: `eip155:8453:${ADDRESS}`, aud: 'https://lade.example', scopes: SCOPES, iat, exp, jti, ...changes }
}

const verify = (payload: unknown) => verifyToken(forge(HEADER, payload), key, NOW)

describe('a token of a wallet', () => {
  it('comes back as it was minted, and is told from that of a user', async () => {
    const claims = await verifyToken(await mintToken(walletClaims(), key), key, NOW)
    expect(claims).toEqual(walletClaims())
    expect(isOfWallet(claims)).toBe(true)
    expect(isOfWallet(await verifyToken(await mintToken(claimsOf(), key), key, NOW))).toBe(false)
  })

  it.each<[string, Record<string, unknown>]>([
    ['an email, as a user has', { email: 'test@example.com' }],
    ['a quota, as a user has', { quotaMb: 1024 }],
    ['both', { email: 'test@example.com', quotaMb: 1024 }],
    ['no audience', { aud: undefined }],
    ['a list of audiences', { aud: ['https://lade.example'] }],
    ['no scopes', { scopes: [] }],
    ['the scope of an operator', { scopes: ['list', 'admin'] }],
    ['no jti', { jti: undefined }],
    ['an address in lower case', { sub: `eip155:8453:${ADDRESS.toLowerCase()}` }],
    ['a short address', { sub: `eip155:8453:${ADDRESS.slice(0, -1)}` }],
    ['no chain', { sub: `eip155::${ADDRESS}` }],
    ['a chain with a leading zero', { sub: `eip155:08453:${ADDRESS}` }],
    ['nothing but the namespace', { sub: 'eip155:' }],
    ['a time that has not come', { nbf: NOW_SECONDS + 61 }],
    ['a time that is over', { exp: NOW_SECONDS }],
  ])('is refused with %s', async (_, changes) => {
    await expect(verify(walletClaims(changes))).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('is no token of a user, whatever its subject is', async () => {
    await expect(verify(walletClaims({ sub: '973dfe463ec85785' }))).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('error: claims that would be refused are a TypeError', async () => {
    await expect(mintToken(walletClaims({ aud: '' }), key)).rejects.toThrow(TypeError)
    await expect(mintToken({ ...claimsOf(), sub: `eip155:8453:${ADDRESS}` }, key)).rejects.toThrow(TypeError)
  })
})
