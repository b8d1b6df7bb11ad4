import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { RecordStore, TokenRecord } from '../record-store.ts'
import { type Cases, counted, NOW, times, WEEK } from './case.ts'

/** A token of Alice. */
export function token(overrides: Partial<TokenRecord> = {}): TokenRecord {
  return {
    jti: randomUUID(),
    sub: 'alice',
    email: 'alice@example.org',
    label: 'laptop',
    scopes: ['put', 'list'],
    quotaMb: 1_024,
    issuedAt: NOW,
    expiresAt: NOW + WEEK,
    lastUsedAt: null,
    revokedAt: null,
    ...overrides,
  }
}

export function tokenCases({ it, itWithTwo }: Cases): void {
  const signUp = (store: RecordStore, of: TokenRecord, address = '192.0.2.1', hour = 500_000) =>
    store.tokens.signUp({ token: of, address, hour, limit: 3 })

  const revoke = (store: RecordStore, now: number, keepsLinks = false) =>
    store.tokens.revoke({ jti: 'one', sub: 'alice', now, keepsLinks })

  it('gives a token back as it was issued', async (store) => {
    const issued = token({ label: 'Bürorechner 💻', scopes: [] })
    expect(await signUp(store, issued)).toEqual({ outcome: 'issued' })
    expect(await store.tokens.list({ sub: 'alice' })).toEqual([issued])
    expect(await store.tokens.list({ sub: 'bob' })).toEqual([])
  })

  it('limits signups by address and hour', async (store) => {
    const outcomes = await Promise.all(times(5, () => signUp(store, token())))
    expect(counted(outcomes)).toEqual({ issued: 3, limited: 2 })
    expect(await signUp(store, token())).toEqual({ outcome: 'limited', used: 3 })
    expect(await store.tokens.list({ sub: 'alice' })).toHaveLength(3)
    expect(await signUp(store, token(), '192.0.2.2')).toEqual({ outcome: 'issued' })
    expect(await signUp(store, token(), '192.0.2.1', 500_001)).toEqual({ outcome: 'issued' })
  })

  itWithTwo('limits signups through two handles', async (store, other) => {
    const outcomes = await Promise.all(times(8, (index) => signUp(index % 2 === 0 ? store : other, token())))
    expect(counted(outcomes)).toEqual({ issued: 3, limited: 5 })
  })

  it('lists tokens newest first, and those of one moment by the code points of their ids', async (store) => {
    const jtis = ['b', 'é', 'B', '\u{1F600}', '\uFB00']
    for (const [index, jti] of jtis.entries()) await signUp(store, token({ jti }), `192.0.2.${index}`)
    await signUp(store, token({ jti: 'newest', issuedAt: NOW + 1 }))
    const listed = await store.tokens.list({ sub: 'alice' })
    expect(listed.map(({ jti }) => jti)).toEqual(['newest', 'B', 'b', 'é', '\uFB00', '\u{1F600}'])
  })

  it('revokes a token at once and keeps the first time', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    expect(await store.tokens.revocation('one')).toBeUndefined()
    expect(await revoke(store, NOW + 1)).toEqual({ revokedAt: NOW + 1 })
    expect(await revoke(store, NOW + 2)).toEqual({ revokedAt: NOW + 1 })
    expect(await store.tokens.revocation('one')).toEqual({ revokedAt: NOW + 1, keepsLinks: false })
    expect(await store.tokens.list({ sub: 'alice' })).toMatchObject([{ revokedAt: NOW + 1 }])
  })

  it('keeps the share links of a revoked token until a revocation ends them, for good', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    const linksAfter = async (now: number, keepsLinks: boolean) => {
      expect(await revoke(store, now, keepsLinks)).toEqual({ revokedAt: NOW + 1 })
      return (await store.tokens.revocation('one'))?.keepsLinks
    }
    expect(await linksAfter(NOW + 1, true)).toBe(true)
    expect(await linksAfter(NOW + 2, true)).toBe(true)
    expect(await linksAfter(NOW + 3, false)).toBe(false)
    expect(await linksAfter(NOW + 4, true)).toBe(false)
    expect(await store.tokens.revocation('one')).toEqual({ revokedAt: NOW + 1, keepsLinks: false })
  })

  it('revokes no token of another user and none that it does not know', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    expect(await store.tokens.revoke({ jti: 'one', sub: 'bob', now: NOW, keepsLinks: false })).toBeUndefined()
    expect(await store.tokens.revoke({ jti: 'two', sub: 'alice', now: NOW, keepsLinks: false })).toBeUndefined()
    expect(await store.tokens.revocation('one')).toBeUndefined()
    expect(await store.tokens.revocation('two')).toBeUndefined()
  })

  it('leaves a token of an operator to those who may revoke any', async (store) => {
    await signUp(store, token({ jti: 'one', scopes: ['list', 'admin'] }))
    expect(await revoke(store, NOW + 1)).toBe('admin_only')
    expect(await store.tokens.revocation('one')).toBeUndefined()
    expect(await store.tokens.revokeAny({ jti: 'one', now: NOW + 2, keepsLinks: false })).toEqual({
      revokedAt: NOW + 2,
    })
  })

  const shown = (of: TokenRecord) => ({ jti: of.jti, sub: of.sub, issuedAt: of.issuedAt })

  it('records a token that was issued elsewhere, once', async (store) => {
    const minted = token({ jti: 'minted' })
    expect(await store.tokens.status(shown(minted))).toEqual({ isKnown: false, revocation: undefined })
    await store.tokens.record({ token: minted, forgetAt: null })
    expect(await store.tokens.status(shown(minted))).toEqual({ isKnown: true, revocation: undefined })
    await store.tokens.record({ token: token({ jti: 'minted', sub: 'bob', label: 'other' }), forgetAt: null })
    expect(await store.tokens.list({ sub: 'alice' })).toEqual([minted])
    expect(await store.tokens.list({ sub: 'bob' })).toEqual([])
  })

  it('revokes any token by its id, also one that it does not know', async (store) => {
    const revokeAny = (jti: string, now: number, keepsLinks = false) => store.tokens.revokeAny({ jti, now, keepsLinks })
    await signUp(store, token({ jti: 'known' }))
    expect(await revokeAny('known', NOW + 1)).toEqual({ revokedAt: NOW + 1 })
    expect(await revokeAny('known', NOW + 2)).toEqual({ revokedAt: NOW + 1 })
    expect(await revokeAny('unseen', NOW + 3, true)).toEqual({ revokedAt: NOW + 3 })
    const unseen = token({ jti: 'unseen' })
    const revocation = { revokedAt: NOW + 3, keepsLinks: true }
    expect(await store.tokens.status(shown(unseen))).toEqual({ isKnown: false, revocation })
    await store.tokens.record({ token: unseen, forgetAt: null })
    expect(await store.tokens.status(shown(unseen))).toEqual({ isKnown: true, revocation })
    expect(await store.tokens.list({ sub: 'alice' })).toContainEqual({ ...unseen, revokedAt: NOW + 3 })
  })

  it('revokes every token of a user that was issued before, and no later one', async (store) => {
    const [known, unseen, later, sameTime, ofBob] = [
      token({ jti: 'known' }),
      token({ jti: 'unseen', issuedAt: NOW + 1 }),
      token({ jti: 'later', issuedAt: NOW + 3 }),
      token({ jti: 'same time', issuedAt: NOW + 2 }),
      token({ jti: 'of bob', sub: 'bob' }),
    ]
    await signUp(store, known)
    await signUp(store, ofBob)
    await signUp(store, token({ jti: 'over', expiresAt: NOW + 2 }))
    const revokeUser = (now: number, keepsLinks: boolean) => store.tokens.revokeUser({ sub: 'alice', now, keepsLinks })
    expect(await revokeUser(NOW + 2, true)).toEqual({ tokens: 1 })
    expect(await revokeUser(NOW + 2, true)).toEqual({ tokens: 0 })
    for (const of of [later, sameTime]) await store.tokens.record({ token: of, forgetAt: null })
    const revocationOf = async (of: TokenRecord) => (await store.tokens.status(shown(of))).revocation
    const first = { revokedAt: NOW + 2, keepsLinks: true }
    expect(await Promise.all([known, unseen, later, sameTime, ofBob].map(revocationOf))).toEqual([
      first,
      first,
      undefined,
      undefined,
      undefined,
    ])
    expect(await store.tokens.revocation('known')).toEqual(first)
    expect(await store.tokens.revocation('later')).toBeUndefined()
    // The first time stays; links end with the first revocation that does not keep them.
    expect(await revokeUser(NOW + 9, false)).toEqual({ tokens: 2 })
    expect(await revocationOf(known)).toEqual({ revokedAt: NOW + 2, keepsLinks: false })
    expect(await revocationOf(later)).toEqual({ revokedAt: NOW + 9, keepsLinks: false })
    const listed = await store.tokens.list({ sub: 'alice' })
    expect(new Map(listed.map(({ jti, revokedAt }) => [jti, revokedAt]))).toEqual(
      new Map([
        ['later', NOW + 9],
        ['same time', NOW + 9],
        ['known', NOW + 2],
        ['over', NOW + 2],
      ]),
    )
  })

  it('forgets tokens whose time has come, and revoked ones when their links are over', async (store) => {
    await signUp(store, token({ jti: 'kept' }))
    await store.tokens.record({ token: token({ jti: 'short' }), forgetAt: NOW })
    await store.tokens.record({ token: token({ jti: 'revoked' }), forgetAt: NOW })
    await store.tokens.revokeAny({ jti: 'revoked', now: NOW, keepsLinks: false })
    const forget = (now: number) => store.tokens.forget({ now, limit: 10 })
    expect(await forget(NOW - 1)).toBe(0)
    expect(await forget(NOW)).toBe(1)
    expect(await forget(NOW + 4 * WEEK)).toBe(0)
    expect(await store.tokens.revocation('revoked')).toBeDefined()
    expect(await forget(NOW + 5 * WEEK)).toBe(1)
    expect((await store.tokens.list({ sub: 'alice' })).map(({ jti }) => jti)).toEqual(['kept'])
  })

  itWithTwo('records a token once that is shown through two handles', async (store, other) => {
    const minted = token({ jti: 'minted' })
    await Promise.all(
      times(8, (index) => (index % 2 === 0 ? store : other).tokens.record({ token: minted, forgetAt: null })),
    )
    expect(await other.tokens.list({ sub: 'alice' })).toEqual([minted])
  })

  it('remembers the latest use, in whatever order uses arrive', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    await signUp(store, token({ jti: 'two', issuedAt: NOW - 1 }))
    await store.tokens.touch([
      { jti: 'one', usedAt: NOW + 9 },
      { jti: 'unknown', usedAt: NOW },
    ])
    await store.tokens.touch([{ jti: 'one', usedAt: NOW + 5 }])
    await store.tokens.touch([])
    const listed = await store.tokens.list({ sub: 'alice' })
    expect(listed.map(({ lastUsedAt }) => lastUsedAt)).toEqual([NOW + 9, null])
  })
}
