import { DAY_MS } from '@lade/core/time'
import { expect } from 'vitest'
import type { FileRecord, RecordStore } from '../record-store.ts'
import { ALICE, account, BOB, type Cases, digestOf, HOUR, NOW, pending, stage, upload, WEEK } from './case.ts'
import { token } from './token-cases.ts'

const SUB = 'alice'
const EMAIL = 'alice@example.org'
const ADDRESS = 'ip:192.0.2.7'
const LATER = NOW + 100 * DAY_MS

export function erasureCases({ it }: Cases): void {
  const filesOf = (store: RecordStore, principal: string) => store.files.list({ principal, now: NOW, limit: 100 })
  const namesOf = (files: readonly FileRecord[]) =>
    files.map(({ filename, owner, contentType }) => [filename, owner, contentType])
  const THIN = [null, null, 'application/octet-stream']
  const signIns = (store: RecordStore) =>
    store.erasure.signIns({ principal: ALICE, sub: SUB, email: EMAIL, by: 'user:admin', now: NOW })

  it('of sign-ins ends tokens and sessions, and keeps only that they have ended', async (store) => {
    const issued = token({ jti: 'one', sub: SUB, email: EMAIL, issuedAt: NOW - HOUR })
    await store.tokens.signUp({ token: issued, address: `mail:${EMAIL}`, hour: 1, limit: 3 })
    await store.limits.set({ principal: ALICE, dailyBytes: 5, storedBytes: null, now: NOW, by: 'user:admin' })
    await store.blockedCallers.block({
      kind: 'user',
      value: ALICE,
      given: EMAIL,
      reason: 'Spam.',
      files: 'keep',
      by: 'user:admin',
      now: NOW,
    })
    expect(await signIns(store)).toEqual({ tokens: 1, sessions: 0 })
    expect(await store.tokens.list({ sub: SUB })).toMatchObject([{ jti: 'one', email: '', label: '', revokedAt: NOW }])
    expect(await store.tokens.revocation('one')).toEqual({ revokedAt: NOW, keepsLinks: false })
    expect((await store.limits.find({ principal: ALICE, now: NOW })).dailyBytes).toBeNull()
    expect((await store.blockedCallers.list({ limit: 1 }))[0]).toMatchObject({ given: ALICE, value: ALICE })
    // Its links are over by then.
    expect(await store.tokens.forget({ now: NOW + 400 * DAY_MS, limit: 10 })).toBe(1)
    const shown = { jti: 'one', sub: SUB, issuedAt: NOW - HOUR }
    expect(await store.tokens.status(shown)).toMatchObject({ isKnown: false, revocation: { revokedAt: NOW } })
    const lines = (await store.audit.lines({ after: 0, limit: 100 })).map(({ line }) => line)
    expect(lines.at(-1)).toContain('"action":"caller.erased"')
    expect(lines.join('')).not.toContain(EMAIL)
  })

  it('of files ends them, and lets go at once of bytes that are of nobody else', async (store) => {
    for (const content of ['one', 'two', 'shared']) await stage(store, upload({ content, filename: `${content}.txt` }))
    await stage(store, upload({ content: 'shared', principal: BOB, filename: 'mine.txt' }))
    await stage(store, upload({ content: 'over', expiresAt: NOW - 1 }))
    await store.files.expire({ now: NOW, limit: 10, keepMs: WEEK })
    const request = { principal: ALICE, now: NOW, limit: 2 }
    const first = await store.erasure.endFiles(request)
    expect(first).toEqual({ files: 2, deleted: [digestOf('one'), digestOf('two')] })
    expect(await store.erasure.endFiles(request)).toEqual({ files: 1, deleted: [] })
    expect(await store.erasure.endFiles(request)).toEqual({ files: 0, deleted: [] })
    const thinned = await store.erasure.endedFiles({ ...request, after: 0 })
    expect([thinned.files, typeof thinned.last]).toEqual([2, 'number'])
    const rest = await store.erasure.endedFiles({ ...request, after: thinned.last ?? 0, limit: 10 })
    expect(rest).toMatchObject({ files: 2, last: undefined })
    expect([...thinned.deleted, ...rest.deleted]).toContain(digestOf('over'))
    const again = await store.erasure.endedFiles({ ...request, after: 0, limit: 10 })
    expect(again.files).toBe(0)
    const left = await filesOf(store, ALICE)
    expect(namesOf(left)).toEqual([THIN, THIN, THIN, THIN])
    expect(namesOf(await filesOf(store, BOB))).toEqual([['mine.txt', `${BOB}@example.org`, 'text/plain']])
    expect([...(await pending(store, NOW))].sort()).toEqual(['one', 'over', 'two'].map(digestOf).sort())
    expect(await account(store, BOB)).toMatchObject({ stored: 100 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('of old files leaves live ones, those that ended lately, and those that may come back', async (store) => {
    for (const content of ['live', 'lately', 'kept', 'old']) {
      await stage(
        store,
        upload({ content, filename: `${content}.txt`, expiresAt: content === 'kept' ? NOW : LATER * 2 }),
      )
    }
    const remove = (content: string, now: number) =>
      store.files.remove({ principal: ALICE, key: `sha256:${digestOf(content)}`, now })
    await store.files.expire({ now: NOW, limit: 10, keepMs: 200 * DAY_MS })
    await remove('old', NOW)
    await remove('lately', LATER)
    expect(await store.erasure.oldFiles({ endedBefore: LATER, limit: 10 })).toBe(1)
    expect(await store.erasure.oldFiles({ endedBefore: LATER, limit: 10 })).toBe(0)
    const names = (await filesOf(store, ALICE)).map(({ filename }) => filename)
    expect(names).toEqual([null, 'kept.txt', 'lately.txt', 'live.txt'])
  })

  it('of old addresses moves files and their charges, and leaves days with newer ends', async (store) => {
    const one = 'ip:2001:db8:1:2::/64'
    const other = 'ip:2001:db8:1:3::/64'
    for (const principal of [ADDRESS, 'ip:192.0.2.8', one, other]) {
      await stage(store, upload({ content: principal, principal, sponsored: true, expiresAt: NOW + HOUR }))
    }
    await stage(store, upload({ content: 'still live', principal: other, sponsored: true, expiresAt: LATER * 2 }))
    await store.files.expire({ now: NOW + HOUR, limit: 10 })
    const request = { day: '2026-11-22', endedBefore: NOW + 2 * HOUR, limit: 10 }
    expect(await store.erasure.oldAddresses({ ...request, endedBefore: NOW })).toBe(0)
    expect(await store.erasure.oldAddresses({ ...request, day: '2026-11-21' })).toBe(0)
    expect(await store.erasure.oldAddresses(request)).toBe(3)
    expect(await store.erasure.oldAddresses(request)).toBe(0)
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await filesOf(store, ADDRESS)).toEqual([])
    expect(await account(store, ADDRESS)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await account(store, other)).toMatchObject({ charged: 200, stored: 100 })
    const listed = await store.admin.principals({ today: '2026-11-21', order: 'principal', offset: 0, limit: 10 })
    expect(listed.map(({ principal }) => principal)).toEqual([other])
    // 410 still says that they were there.
    const key = `sha256:${digestOf(ADDRESS)}`
    expect(await store.files.serving({ key, now: NOW + 2 * HOUR })).toEqual({ outcome: 'gone', end: 'expired' })
  })

  it('of old tokens leaves revocations of tokens that nobody has shown', async (store) => {
    await store.tokens.record({ token: token({ jti: 'old', expiresAt: NOW }), forgetAt: null })
    await store.tokens.record({ token: token({ jti: 'new', expiresAt: LATER }), forgetAt: null })
    await store.tokens.revokeAny({ jti: 'unseen', now: NOW, keepsLinks: false })
    expect(await store.erasure.oldTokens({ expiredBefore: NOW + 1, limit: 10 })).toBe(1)
    expect(await store.erasure.oldTokens({ expiredBefore: NOW + 1, limit: 10 })).toBe(0)
    expect(await store.tokens.revocation('unseen')).toEqual({ revokedAt: NOW, keepsLinks: false })
    expect(await store.tokens.list({ sub: SUB })).toMatchObject([{ jti: 'new' }])
  })
}
