import { expect } from 'vitest'
import { addressAsToken } from '../../quota-rule/address-as-token.ts'
import type { RecordStore } from '../record-store.ts'
import {
  ALICE,
  BOB,
  type Cases,
  commit,
  commitAtOnce,
  counted,
  DAY,
  HOUR,
  NOW,
  overBytes,
  reserve,
  stage,
  times,
  tryReserve,
  type Upload,
  upload,
  WEEK,
} from './case.ts'

const MB = 1_048_576

const of = (content: string, sizeBytes: number, more: Partial<Upload> = {}) => upload({ content, sizeBytes, ...more })
const overStored = (usedBytes: number, used: number, limit: number) => ({
  outcome: 'over_quota',
  usedBytes,
  over: { unit: 'bytes', which: 'stored', used, limit },
})
const overToken = (usedBytes: number, used: number, limit: number) => ({
  outcome: 'over_quota',
  usedBytes,
  over: { unit: 'bytes', which: 'token', used, limit },
})
const ask = async (store: RecordStore, asked: Upload) => (await tryReserve(store, asked)).reserved

/** Makes a token of alice. */
const sign = (store: RecordStore, jti: string, quotaMb: number, expiresAt = NOW + WEEK) =>
  store.tokens.record({
    token: {
      jti,
      sub: 'alice',
      email: 'alice@example.org',
      label: '',
      scopes: ['put'],
      quotaMb,
      issuedAt: NOW - HOUR,
      expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    },
    forgetAt: null,
  })

export function limitCases({ it, itWithTwo }: Cases): void {
  const capStoredBytes = 500

  it('fills the day of a client address over all wallets that use it, to its last byte', async (store) => {
    const token = addressAsToken('ip:192.0.2.7', 500)
    const elsewhere = addressAsToken('ip:192.0.2.8', 500)
    await stage(store, of('one', 200, { token }))
    expect(await ask(store, of('two', 100, { token, principal: BOB }))).toMatchObject({ outcome: 'reserved' })
    expect(await ask(store, of('three', 201, { token }))).toMatchObject(overToken(200, 300, 500))
    expect(await commitAtOnce(store, of('three', 201, { token, principal: BOB }))).toMatchObject(
      overToken(100, 300, 500),
    )
    expect(await ask(store, of('three', 500, { token: elsewhere }))).toMatchObject({ outcome: 'reserved' })
    expect(await commitAtOnce(store, of('four', 200, { token }))).toMatchObject({ outcome: 'recorded' })
    expect(await ask(store, of('five', 1, { token, principal: BOB }))).toMatchObject(overToken(100, 500, 500))
    expect(await ask(store, of('five', 1, { token, day: '2026-11-22' }))).toMatchObject({ outcome: 'reserved' })
    expect(await store.quotas.checkDrift()).toEqual([])
    await store.erasure.oldAddresses({ day: '2027-01-01', endedBefore: NOW, limit: 9 })
    expect(await store.limits.tokenUsage({ principal: ALICE, token: token.id, day: DAY })).toEqual({ bytes: 100 })
  })

  itWithTwo('gives the last bytes of a client address to one of two wallets', async (store, other) => {
    const token = addressAsToken('ip:192.0.2.7', 150)
    const outcomes = await Promise.all([
      ask(store, of('one', 100, { token })),
      ask(other, of('two', 100, { token, principal: BOB })),
    ])
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['over_quota', 'reserved'])
  })

  it('fills what may be stored to its last byte, over days, and refuses one byte more', async (store) => {
    await stage(store, of('one', 300, { day: '2026-11-20', capStoredBytes }))
    expect(await ask(store, of('two', 201, { capStoredBytes }))).toMatchObject(overStored(0, 300, 500))
    expect(await ask(store, of('two', 200, { capStoredBytes }))).toMatchObject({ outcome: 'reserved' })
    expect(await ask(store, of('three', 1, { capStoredBytes }))).toMatchObject(overStored(200, 500, 500))
    expect(await commitAtOnce(store, of('three', 1, { capStoredBytes }))).toMatchObject(overStored(200, 500, 500))
  })

  it('gives room back with files that are removed, that expire, and uploads that end', async (store) => {
    await stage(store, of('one', 300, { capStoredBytes }))
    await store.files.remove({ principal: ALICE, key: of('one', 0).key, now: NOW })
    await stage(store, of('two', 500, { capStoredBytes, expiresAt: NOW + HOUR }))
    // Its term is over, and nobody has ended it yet.
    const later = { capStoredBytes, capBytes: 10_000, now: NOW + HOUR }
    const id = await reserve(store, of('three', 500, later))
    expect(await ask(store, of('four', 1, later))).toMatchObject(overStored(1300, 500, 500))
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await commitAtOnce(store, of('four', 200, later))).toMatchObject({ outcome: 'recorded' })
  })

  it('asks nothing of what is stored already, also over the limit', async (store) => {
    await stage(store, of('one', 300))
    expect(await ask(store, of('one', 300, { capStoredBytes: 100 }))).toMatchObject({ reservedBytes: 0 })
    const again = of('one', 300, { capStoredBytes: 100 })
    expect(await commit(store, await reserve(store, again), again)).toMatchObject({ outcome: 'retry' })
  })

  it('lets a /48 have sixteen times as much stored as one of its /64s', async (store) => {
    const from = (n: number) => `ip:2001:db8:1:${n}::/64`
    for (const n of times(16, (at) => at)) {
      await stage(store, of(`file ${n}`, 500, { principal: from(n), day: n < 8 ? DAY : '2026-11-20', capStoredBytes }))
    }
    expect(await ask(store, of('one more', 1, { principal: from(17), capStoredBytes }))).toMatchObject({
      over: { which: 'stored', used: 8000, limit: 8000, network: 'ip:2001:db8:1::/48' },
    })
    await store.files.remove({ principal: from(3), key: of('file 3', 0).key, now: NOW })
    expect(await ask(store, of('one more', 500, { principal: from(17), capStoredBytes }))).toMatchObject({
      outcome: 'reserved',
    })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('keeps what one token is charged within its own quota, and all of them within that of the user', async (store) => {
    const small = { token: { id: 'small', capBytes: 300 } }
    const big = { token: { id: 'big', capBytes: 900 } }
    await stage(store, of('one', 300, small))
    expect(await ask(store, of('two', 1, small))).toMatchObject(overToken(300, 300, 300))
    await stage(store, of('two', 600, big))
    expect(await ask(store, of('three', 101, big))).toMatchObject(overBytes(900))
    const id = await reserve(store, of('three', 100, big))
    expect(await store.limits.tokenUsage({ principal: ALICE, token: 'big', day: DAY })).toEqual({ bytes: 700 })
    expect(await store.limits.tokenUsage({ principal: ALICE, token: 'small', day: DAY })).toEqual({ bytes: 300 })
    await commit(store, id, of('three', 100, big))
    expect(await store.limits.tokenUsage({ principal: ALICE, token: 'big', day: DAY })).toEqual({ bytes: 700 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('counts for every token what was charged by nobody knows which', async (store) => {
    await stage(store, of('by an older version', 250))
    const token = { id: 'one', capBytes: 300 }
    expect(await ask(store, of('two', 51, { token }))).toMatchObject(overToken(250, 250, 300))
    expect(await ask(store, of('two', 50, { token }))).toMatchObject({ outcome: 'reserved' })
    expect(await ask(store, of('three', 1, { day: '2026-11-22', token }))).toMatchObject({ outcome: 'reserved' })
  })

  it('gives a user the largest quota of its live tokens, at least what is asked about', async (store) => {
    const limits = async () => (await store.limits.find({ principal: ALICE, now: NOW })).tokensBytes
    expect(await limits()).toBe(0)
    await sign(store, 'one', 2)
    await sign(store, 'over', 9, NOW)
    await sign(store, 'revoked', 8)
    await store.tokens.revokeAny({ jti: 'revoked', now: NOW, keepsLinks: false })
    expect(await limits()).toBe(2 * MB)
    expect(await ask(store, of('one', 2 * MB))).toMatchObject({ outcome: 'reserved', day: { limitBytes: 2 * MB } })
    expect(await ask(store, of('two', 1))).toMatchObject(overBytes(2 * MB, 2 * MB))
    await store.tokens.revokeUser({ sub: 'alice', now: NOW, keepsLinks: false })
    expect(await limits()).toBe(0)
    expect(await ask(store, of('two', 1))).toMatchObject(overBytes(2 * MB, 1000))
  })

  it('sets limits for one caller, which take the place of all others, and takes them away', async (store) => {
    await sign(store, 'one', 2)
    const set = (limits: { dailyBytes?: number | null; storedBytes?: number | null }, principal = ALICE) =>
      store.limits.set({ principal, now: NOW, by: 'user:ops', ...limits })
    expect(await set({ dailyBytes: 50 })).toEqual({ dailyBytes: 50, storedBytes: null, tokensBytes: 2 * MB })
    expect(await ask(store, of('one', 51))).toMatchObject(overBytes(0, 50))
    await set({ dailyBytes: 5000, storedBytes: 2000 })
    await set({ storedBytes: 0 }, BOB)
    expect(await ask(store, of('one', 2001, { capStoredBytes }))).toMatchObject(overStored(0, 0, 2000))
    expect(await ask(store, of('one', 2000, { capStoredBytes }))).toMatchObject({ outcome: 'reserved' })
    expect(await ask(store, of('one', 1, { principal: BOB }))).toMatchObject(overStored(0, 0, 0))
    expect(await set({ storedBytes: null })).toEqual({ dailyBytes: 5000, storedBytes: null, tokensBytes: 2 * MB })
    expect(await set({ dailyBytes: null })).toMatchObject({ dailyBytes: null, storedBytes: null })
    expect(await ask(store, of('two', 1000, { principal: BOB, capStoredBytes: 10 ** 6 }))).toMatchObject(
      overStored(0, 0, 0),
    )
    const [last] = await store.audit.page({ limit: 1, search: 'limits.set' })
    expect(JSON.parse(last?.line ?? '')).toMatchObject({
      actor: 'user:ops',
      subject: ALICE,
      detail: { dailyBytes: null },
    })
  })

  it('tells which limit of the day leaves the least', async (store) => {
    const token = { id: 'one', capBytes: 300 }
    expect(await commitAtOnce(store, of('one', 100, { token }))).toMatchObject({
      usedBytes: 100,
      day: { usedBytes: 100, limitBytes: 300 },
    })
    await stage(store, of('two', 750, { token: { id: 'other', capBytes: 900 } }))
    const id = await reserve(store, of('three', 50, { token }))
    const committed = await commit(store, id, of('three', 50, { token }))
    expect(committed).toMatchObject({ usedBytes: 900, day: { usedBytes: 900, limitBytes: 1000 } })
    expect(await commitAtOnce(store, of('four', 1, { principal: BOB }))).not.toHaveProperty('day')
  })

  itWithTwo('keeps every limit to the byte when uploads come at once', async (store, other) => {
    for (const round of times(3, (at) => at)) {
      const principal = `user:racer${round}`
      const token = { id: 'one', capBytes: 600 }
      const outcomes = await Promise.all(
        times(40, async (index) => {
          const at = index % 2 === 0 ? store : other
          const asked = of(`${round} ${index}`, 100, {
            principal,
            capStoredBytes: 700,
            capBytes: 10_000,
            ...(index % 4 < 2 && { token }),
          })
          if (index % 3 === 0) return commitAtOnce(at, asked)
          const { id, reserved } = await tryReserve(at, asked)
          return reserved.outcome === 'reserved' ? commit(at, id, asked) : reserved
        }),
      )
      expect(counted(outcomes)).toEqual({ recorded: 7, over_quota: 33 })
      expect(await store.quotas.checkDrift()).toEqual([])
    }
  })
}
