import { type AuditChain, addAuditLine, EMPTY_AUDIT_CHAIN, readAuditLine } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { expect } from 'vitest'
import type { RecordStore, TokenRecord } from '../record-store.ts'
import { type Cases, NOW, times, WEEK } from './case.ts'

const entry = (changes: { actor?: string; subject?: string; at?: number } = {}) => ({
  at: NOW,
  actor: 'operator',
  action: 'test.done',
  subject: 'user:alice',
  detail: { text: 'Ünïcödé "quoted"\n', number: 7, none: null, list: ['a', 'b'], yes: true },
  ...changes,
})

const token = (changes: Partial<TokenRecord> = {}): TokenRecord => ({
  jti: 'one',
  sub: 'alice',
  email: 'alice@example.org',
  label: 'laptop',
  scopes: ['put', 'list'],
  quotaMb: 1_024,
  issuedAt: NOW,
  expiresAt: NOW + WEEK,
  lastUsedAt: null,
  revokedAt: null,
  ...changes,
})

const signUp = (store: RecordStore, of: TokenRecord, limit = 100) =>
  store.tokens.signUp({ token: of, address: 'ip:192.0.2.1', hour: 500_000, limit })

async function entriesOf(store: RecordStore) {
  return (await store.audit.lines({ after: 0, limit: 1000 })).map(({ line }) => readAuditLine(line))
}

const told = async (store: RecordStore) => (await entriesOf(store)).map(({ action, actor }) => `${action} by ${actor}`)

/** What the lines come to, or what is wrong with them. */
async function chainOf(store: RecordStore): Promise<AuditChain | string> {
  let chain: AuditChain | string = EMPTY_AUDIT_CHAIN
  for (const { line } of await store.audit.lines({ after: 0, limit: 1000 })) {
    if (typeof chain === 'string') return chain
    chain = addAuditLine(chain, line, (text) => sha256Hex(Buffer.from(text)))
  }
  return chain
}

export function auditLogCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  it('gives entries back as they were added, each with the hash of the one before', async (store) => {
    expect(await store.audit.lines({ after: 0, limit: 10 })).toEqual([])
    await store.audit.append(entry())
    await store.audit.append(entry({ actor: 'service', at: NOW + 1 }))
    const lines = await store.audit.lines({ after: 0, limit: 10 })
    expect(lines.map(({ sequence }) => sequence)).toEqual([1, 2])
    const [first, second] = lines.map(({ line }) => readAuditLine(line))
    expect(first).toEqual({ sequence: 1, ...entry(), at: new Date(NOW).toISOString(), previous: '0'.repeat(64) })
    expect(second?.previous).toBe(sha256Hex(Buffer.from(lines[0]?.line ?? '')))
    expect(await chainOf(store)).toMatchObject({ entries: 2 })
  })

  it('reads lines forwards, and pages backwards with a filter', async (store) => {
    for (const index of times(5, (at) => at)) await store.audit.append(entry({ subject: `user:u${index % 2}` }))
    const sequences = (lines: readonly { sequence: number }[]) => lines.map(({ sequence }) => sequence)
    expect(sequences(await store.audit.lines({ after: 2, limit: 2 }))).toEqual([3, 4])
    expect(sequences(await store.audit.page({ limit: 3 }))).toEqual([5, 4, 3])
    expect(sequences(await store.audit.page({ before: 3, limit: 3 }))).toEqual([2, 1])
    expect(sequences(await store.audit.page({ from: 4, limit: 9 }))).toEqual([5, 4])
    expect(sequences(await store.audit.page({ limit: 9, search: 'USER:U1' }))).toEqual([4, 2])
    expect(sequences(await store.audit.page({ limit: 9, search: '100%' }))).toEqual([])
  })

  itWithTwo('chains entries of two handles that add at once', async (store, other) => {
    await Promise.all(
      times(40, (index) => (index % 2 === 0 ? store : other).audit.append(entry({ subject: `user:${index}` }))),
    )
    expect(await chainOf(store)).toMatchObject({ entries: 40 })
    expect(new Set((await entriesOf(other)).map(({ subject }) => subject)).size).toBe(40)
  })

  itAcrossRestart('goes on after a restart', async (store, restart) => {
    await store.audit.append(entry())
    const again = await restart()
    await again.audit.append(entry())
    expect(await chainOf(again)).toMatchObject({ entries: 2 })
  })

  it('tells of tokens that are made, first used and revoked, and not of what changes nothing', async (store) => {
    await signUp(store, token())
    await signUp(store, token({ jti: 'too many' }), 1)
    await store.tokens.record({ token: token({ jti: 'minted' }), forgetAt: null, now: NOW + 1 })
    await store.tokens.record({ token: token({ jti: 'minted' }), forgetAt: null, now: NOW + 2 })
    await store.tokens.record({ token: token({ jti: 'of a wallet' }), forgetAt: NOW + 2 })
    await store.tokens.revoke({ jti: 'one', sub: 'alice', now: NOW + 3, keepsLinks: false })
    await store.tokens.revoke({ jti: 'one', sub: 'alice', now: NOW + 4, keepsLinks: false })
    await store.tokens.revoke({ jti: 'minted', sub: 'bob', now: NOW + 4, keepsLinks: false })
    await store.tokens.revokeAny({ jti: 'minted', now: NOW + 5, keepsLinks: true, by: 'user:ops' })
    await store.tokens.revokeAny({ jti: 'unseen', now: NOW + 6, keepsLinks: false })
    await store.tokens.revokeUser({ sub: 'alice', now: NOW + 7, keepsLinks: false })
    expect(await told(store)).toEqual([
      'token.made by user:alice',
      'token.first_used by user:alice',
      'token.revoked by user:alice',
      'token.revoked by user:ops',
      'token.revoked by operator',
      'tokens.revoked by operator',
    ])
    const [made] = await entriesOf(store)
    expect(made).toMatchObject({
      subject: 'token:one',
      detail: { via: 'signup', scopes: ['put', 'list'], quotaMb: 1024, expiresAt: new Date(NOW + WEEK).toISOString() },
    })
    const text = JSON.stringify(await entriesOf(store))
    for (const personal of ['alice@example.org', 'laptop', '192.0.2.1']) expect(text).not.toContain(personal)
    expect(await chainOf(store)).toMatchObject({ entries: 6 })
  })

  it('tells of a sign-in with the nonce that it uses up, once', async (store) => {
    await store.nonces.issue({ nonce: 'n', until: NOW + WEEK })
    const audit = entry({ actor: 'wallet:8453:0x1' })
    expect(await store.nonces.redeem({ nonce: 'n', now: NOW, audit })).toBe(true)
    expect(await store.nonces.redeem({ nonce: 'n', now: NOW, audit })).toBe(false)
    expect(await told(store)).toEqual(['test.done by wallet:8453:0x1'])
  })

  it('tells of another signing key, and not again of the same', async (store) => {
    for (const keyId of ['a', 'a', 'b', 'a']) await store.audit.keyInUse({ keyId, at: NOW })
    const found = (await entriesOf(store)).map(({ subject, detail }) => [subject, detail.replaces])
    expect(found).toEqual([
      ['key:a', null],
      ['key:b', 'a'],
      ['key:a', 'b'],
    ])
  })

  itWithTwo('tells once of a signing key that two handles notice at once', async (store, other) => {
    await Promise.all(times(8, (index) => (index % 2 === 0 ? store : other).audit.keyInUse({ keyId: 'a', at: NOW })))
    expect(await told(store)).toEqual(['key.used by service'])
  })

  itBroken('error: a broken medium is storage_failed, and never an empty log', async (store, breakNow) => {
    await store.audit.append(entry())
    breakNow()
    await expect(store.audit.append(entry())).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.audit.lines({ after: 0, limit: 10 })).rejects.toMatchObject({ code: 'storage_failed' })
  })
}
