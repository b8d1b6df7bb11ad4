import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { RecordStore, SessionOpening, SessionRecord, TokenRecord } from '../record-store.ts'
import { type Cases, counted, digestOf, HOUR, NOW, times, WEEK } from './case.ts'

const SIGNUP = { address: 'ip:192.0.2.1', hour: 500_000, limit: 3 }

export function sessionCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  const session = (overrides: Partial<SessionRecord> = {}): SessionRecord => ({
    id: randomUUID(),
    via: 'code',
    sub: 'alice',
    email: 'alice@example.org',
    scopes: ['put', 'list'],
    quotaMb: 1_024,
    jti: null,
    keyId: 'key-1',
    issuedAt: NOW,
    createdAt: NOW,
    lastUsedAt: NOW,
    expiresAt: NOW + HOUR,
    endsAt: NOW + WEEK,
    ...overrides,
  })
  const token = (jti: string): TokenRecord => ({
    jti,
    sub: 'alice',
    email: 'alice@example.org',
    label: 'laptop',
    scopes: ['put'],
    quotaMb: 1_024,
    issuedAt: NOW,
    expiresAt: NOW + WEEK,
    lastUsedAt: null,
    revokedAt: null,
  })
  const opening = (word: string, of: Partial<SessionRecord> = {}): SessionOpening => ({
    session: session(of),
    digest: digestOf(word),
    replaces: undefined,
    mostOfUser: 100,
  })
  const open = (store: RecordStore, word: string, of: Partial<SessionRecord> = {}) =>
    store.sessions.open({ opening: opening(word, of) })
  const find = (store: RecordStore, word: string, now = NOW) => store.sessions.find({ digest: digestOf(word), now })
  const idsOf = async (store: RecordStore, sub = 'alice', now = NOW) =>
    (await store.sessions.list({ sub, now })).map(({ id }) => id)

  it('gives a session back as it was opened, by its digest alone', async (store) => {
    const user = opening('one', { scopes: [] })
    const wallet = opening('two', { sub: 'eip155:1:0xAB', via: 'wallet', email: null, quotaMb: null })
    for (const each of [user, wallet]) {
      expect(await store.sessions.open({ opening: each })).toEqual({ outcome: 'opened' })
    }
    expect(await find(store, 'one')).toEqual(user.session)
    expect(await find(store, 'two')).toEqual(wallet.session)
    expect(await find(store, 'three')).toBeUndefined()
    expect(await store.sessions.list({ sub: 'alice', now: NOW })).toEqual([user.session])
  })

  it('takes the place of the session that it replaces', async (store) => {
    await open(store, 'before')
    await store.sessions.open({ opening: { ...opening('after'), replaces: digestOf('before') } })
    expect(await find(store, 'before')).toBeUndefined()
    expect(await find(store, 'after')).toBeDefined()
  })

  it('counts a signup with others of the hour, and changes nothing when they are used up', async (store) => {
    await open(store, 'before')
    const outcomes = []
    for (const word of ['a', 'b', 'c', 'd']) {
      const replaces = word === 'd' ? digestOf('before') : undefined
      outcomes.push(await store.sessions.open({ opening: { ...opening(word), replaces }, signup: SIGNUP }))
    }
    expect(outcomes.at(-1)).toEqual({ outcome: 'limited', used: 3 })
    expect(await find(store, 'd')).toBeUndefined()
    expect(await find(store, 'before')).toBeDefined()
    expect(await store.tokens.signUp({ token: token('one'), ...SIGNUP })).toEqual({ outcome: 'limited', used: 3 })
  })

  itWithTwo('limits signups through two handles', async (store, other) => {
    const outcomes = await Promise.all(
      times(8, (index) =>
        (index % 2 === 0 ? store : other).sessions.open({ opening: opening(`s${index}`), signup: SIGNUP }),
      ),
    )
    expect(counted(outcomes)).toEqual({ opened: 3, limited: 5 })
  })

  it('makes room for a session of a user with the one that would end first', async (store) => {
    for (const [index, word] of ['a', 'b', 'c'].entries())
      await open(store, word, { id: word, expiresAt: NOW + 9 - index })
    await open(store, 'bob', { sub: 'bob' })
    await store.sessions.open({ opening: { ...opening('d', { id: 'd' }), mostOfUser: 3 } })
    expect((await idsOf(store)).sort()).toEqual(['a', 'b', 'd'])
    expect(await find(store, 'bob')).toBeDefined()
  })

  it('lasts until it expires, and longer when it is used', async (store) => {
    await open(store, 'one', { id: 'one' })
    expect(await find(store, 'one', NOW + HOUR - 1)).toBeDefined()
    expect(await find(store, 'one', NOW + HOUR)).toBeUndefined()
    await store.sessions.touch([
      { id: 'one', usedAt: NOW + 10, expiresAt: NOW + HOUR + 10 },
      { id: 'one', usedAt: NOW + 5, expiresAt: NOW + HOUR + 5 },
      { id: 'gone', usedAt: NOW, expiresAt: NOW },
    ])
    expect(await find(store, 'one', NOW + HOUR)).toMatchObject({ lastUsedAt: NOW + 10, expiresAt: NOW + HOUR + 10 })
  })

  it('ends with the token that it was made from, whether or not that is recorded', async (store) => {
    await store.tokens.record({ token: token('known'), forgetAt: null })
    for (const jti of ['known', 'unknown', 'other']) await open(store, jti, { jti })
    await store.tokens.revoke({ jti: 'known', sub: 'alice', now: NOW, keepsLinks: true })
    await store.tokens.revokeAny({ jti: 'unknown', now: NOW, keepsLinks: true })
    expect(await find(store, 'known')).toBeUndefined()
    expect(await find(store, 'unknown')).toBeUndefined()
    expect(await find(store, 'other')).toBeDefined()
    expect(await idsOf(store)).toHaveLength(1)
  })

  it('ends with all tokens of its user, unless it is of a later one', async (store) => {
    await open(store, 'before', { id: 'before' })
    await open(store, 'bob', { sub: 'bob', id: 'bob' })
    await open(store, 'of a token', { id: 'of a token', jti: 'one' })
    await store.tokens.revokeUser({ sub: 'alice', now: NOW + 1, keepsLinks: false })
    // Of a token whose revocation somebody has not heard of yet.
    await open(store, 'late', { issuedAt: NOW, createdAt: NOW + 2 })
    await open(store, 'after', { issuedAt: NOW + 1 })
    for (const word of ['before', 'of a token', 'late']) expect(await find(store, word)).toBeUndefined()
    expect(await find(store, 'after')).toBeDefined()
    expect(await find(store, 'bob')).toBeDefined()
    expect(await store.tokens.revocation('before')).toEqual({ revokedAt: NOW + 1, keepsLinks: false })
    expect(await store.tokens.revocation('of a token')).toBeUndefined()
    expect(await store.tokens.list({ sub: 'alice' })).toEqual([])
  })

  it('leaves the links of sessions when those of tokens are left', async (store) => {
    await open(store, 'one', { id: 'one' })
    await store.tokens.revokeUser({ sub: 'alice', now: NOW + 1, keepsLinks: true })
    expect(await find(store, 'one')).toBeUndefined()
    expect(await store.tokens.revocation('one')).toBeUndefined()
  })

  it('is signed out of, once and again, and its links go on', async (store) => {
    await open(store, 'one', { id: 'one' })
    await store.sessions.signOut(digestOf('one'))
    await store.sessions.signOut(digestOf('one'))
    expect(await find(store, 'one')).toBeUndefined()
    expect(await store.tokens.revocation('one')).toBeUndefined()
  })

  it('is ended by its own user alone, with its links unless they are of a token', async (store) => {
    const end = (id: string, sub: string) => store.sessions.end({ id, sub, now: NOW })
    await open(store, 'one', { id: 'one' })
    await open(store, 'two', { id: 'two', jti: 'token' })
    expect(await end('one', 'bob')).toBe(false)
    expect(await find(store, 'one')).toBeDefined()
    expect(await end('one', 'alice')).toBe(true)
    expect(await end('one', 'alice')).toBe(false)
    expect(await end('two', 'alice')).toBe(true)
    expect(await idsOf(store)).toEqual([])
    expect(await store.tokens.revocation('one')).toEqual({ revokedAt: NOW, keepsLinks: false })
    expect(await store.tokens.revocation('two')).toBeUndefined()
    expect(await store.tokens.revocation('token')).toBeUndefined()
  })

  it('lists those that were used last first', async (store) => {
    for (const [index, id] of ['b', 'a', 'c'].entries()) await open(store, id, { id, lastUsedAt: NOW + index })
    await open(store, 'over', { expiresAt: NOW })
    expect(await idsOf(store)).toEqual(['c', 'a', 'b'])
  })

  it('is the reward of a login code, in place of a token', async (store) => {
    const code = (id: string, emailCode: string) => ({
      id,
      email: 'alice@example.org',
      label: 'laptop',
      codeDigest: digestOf('right'),
      askedBy: 'ip:192.0.2.1',
      emailCodeDigest: digestOf(emailCode),
      attemptsLeft: 5,
      expiresAt: NOW + HOUR,
    })
    for (const each of [code('one', 'first'), code('two', 'second')]) {
      await store.loginCodes.open({ code: each, hour: 500_000, limits: [] })
    }
    await open(store, 'before')
    const answer = (word: string) =>
      store.loginCodes.answer({
        id: 'one',
        codeDigest: digestOf('right'),
        now: NOW,
        reward: { session: { ...opening(word), replaces: digestOf('before') } },
      })
    expect(await answer('by challenge')).toEqual({ outcome: 'issued' })
    expect(await answer('again')).toEqual({ outcome: 'over' })
    const byEmail = await store.loginCodes.answerByEmail({
      email: 'alice@example.org',
      askedBy: 'ip:192.0.2.1',
      now: NOW,
      codeDigest: digestOf('second'),
      reward: { session: opening('by email') },
    })
    expect(byEmail).toEqual({ outcome: 'issued' })
    expect(await find(store, 'by challenge')).toBeDefined()
    expect(await find(store, 'by email')).toBeDefined()
    expect(await find(store, 'again')).toBeUndefined()
    expect(await find(store, 'before')).toBeUndefined()
    expect(await store.tokens.list({ sub: 'alice' })).toEqual([])
  })

  it('forgets what has expired, oldest first and no more than asked for', async (store) => {
    for (const [index, id] of ['a', 'b', 'c'].entries()) await open(store, id, { id, expiresAt: NOW - 10 + index })
    await open(store, 'live', { id: 'live' })
    expect(await store.sessions.expire({ now: NOW, limit: 2 })).toBe(2)
    expect(await idsOf(store, 'alice', NOW - 20)).toEqual(['c', 'live'])
    expect(await store.sessions.expire({ now: NOW, limit: 2 })).toBe(1)
    expect(await store.sessions.expire({ now: NOW, limit: 2 })).toBe(0)
  })

  itAcrossRestart('lasts across a restart', async (store, restart) => {
    const one = opening('one')
    await store.sessions.open({ opening: one })
    expect(await find(await restart(), 'one')).toEqual(one.session)
  })

  itBroken('error: a broken medium is storage_failed, and never a session that has ended', async (store, breakNow) => {
    await open(store, 'one')
    breakNow()
    await expect(find(store, 'two')).rejects.toMatchObject({ code: 'storage_failed' })
  })
}
