import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { LoginCodeRecord, RecordStore, TokenRecord } from '../record-store.ts'
import { type Cases, counted, digestOf, HOUR, NOW, times, WEEK } from './case.ts'

const HOUR_NUMBER = 500_000

export function loginCodeCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  const loginCode = (id: string, overrides: Partial<LoginCodeRecord> = {}): LoginCodeRecord => ({
    id,
    email: 'alice@example.org',
    label: 'laptop',
    codeDigest: digestOf('right'),
    askedBy: 'ip:192.0.2.1',
    emailCodeDigest: digestOf('right by email'),
    attemptsLeft: 5,
    expiresAt: NOW + HOUR,
    ...overrides,
  })
  const token = (): TokenRecord => ({
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
  })
  const open = (store: RecordStore, of: LoginCodeRecord, limits = [{ address: 'ip:192.0.2.1', limit: 100 }]) =>
    store.loginCodes.open({ code: of, hour: HOUR_NUMBER, limits })
  const answer = (store: RecordStore, id: string, code = 'right', now = NOW) =>
    store.loginCodes.answer({ id, codeDigest: digestOf(code), now, reward: { token: token() } })
  const tokensOf = (store: RecordStore) => store.tokens.list({ sub: 'alice' })

  it('issues the token for the right answer, once', async (store) => {
    expect(await open(store, loginCode('one'))).toEqual({ outcome: 'opened' })
    expect(await store.loginCodes.find({ id: 'one', now: NOW })).toEqual({
      email: 'alice@example.org',
      label: 'laptop',
    })
    expect(await answer(store, 'one')).toEqual({ outcome: 'issued' })
    expect(await answer(store, 'one')).toEqual({ outcome: 'over' })
    expect(await store.loginCodes.find({ id: 'one', now: NOW })).toBeUndefined()
    expect(await tokensOf(store)).toHaveLength(1)
  })

  it('takes as many wrong answers as there are attempts, and then no right one', async (store) => {
    await open(store, loginCode('one', { attemptsLeft: 3 }))
    for (const attemptsLeft of [2, 1, 0]) {
      expect(await answer(store, 'one', 'wrong')).toEqual({ outcome: 'wrong', attemptsLeft })
    }
    expect(await answer(store, 'one')).toEqual({ outcome: 'over' })
    expect(await tokensOf(store)).toEqual([])
  })

  it('knows no login code from the moment on at which it expires', async (store) => {
    await open(store, loginCode('one', { expiresAt: NOW + 10 }))
    expect(await store.loginCodes.find({ id: 'one', now: NOW + 9 })).toBeDefined()
    expect(await store.loginCodes.find({ id: 'one', now: NOW + 10 })).toBeUndefined()
    expect(await answer(store, 'one', 'right', NOW + 10)).toEqual({ outcome: 'over' })
    expect(await answer(store, 'one', 'right', NOW + 9)).toEqual({ outcome: 'issued' })
  })

  it('answers several login codes of one address each by itself', async (store) => {
    await open(store, loginCode('one'))
    await open(store, loginCode('two', { codeDigest: digestOf('other') }))
    expect(await answer(store, 'two')).toEqual({ outcome: 'wrong', attemptsLeft: 4 })
    expect(await answer(store, 'one')).toEqual({ outcome: 'issued' })
    expect(await answer(store, 'two', 'other')).toEqual({ outcome: 'issued' })
    expect(await answer(store, 'three')).toEqual({ outcome: 'over' })
  })

  const ofEmail = { email: 'alice@example.org', askedBy: 'ip:192.0.2.1', now: NOW }
  const answerByEmail = (store: RecordStore, code: string, of: Partial<typeof ofEmail> = {}) =>
    store.loginCodes.answerByEmail({ ...ofEmail, ...of, codeDigest: digestOf(code), reward: { token: token() } })

  it('issues the token for a right answer with the email address, with the label of its code, once', async (store) => {
    await open(store, loginCode('one', { emailCodeDigest: digestOf('first') }))
    await open(store, loginCode('two', { emailCodeDigest: digestOf('second'), label: 'phone' }))
    expect(await store.loginCodes.isAwaited(ofEmail)).toBe(true)
    expect(await answerByEmail(store, 'second')).toEqual({ outcome: 'issued' })
    expect(await tokensOf(store)).toMatchObject([{ label: 'phone' }])
    expect(await answerByEmail(store, 'second')).toEqual({ outcome: 'wrong', attemptsLeft: 4 })
    expect(await answer(store, 'one')).toEqual({ outcome: 'issued' })
    expect(await store.loginCodes.isAwaited(ofEmail)).toBe(false)
    expect(await answerByEmail(store, 'first')).toEqual({ outcome: 'over' })
  })

  it('takes an answer with the email address only from who asked for the code, and in its time', async (store) => {
    await open(store, loginCode('one', { expiresAt: NOW + 10 }))
    for (const of of [{ askedBy: 'ip:192.0.2.2' }, { email: 'bob@example.org' }, { now: NOW + 10 }]) {
      expect(await store.loginCodes.isAwaited({ ...ofEmail, ...of })).toBe(false)
      expect(await answerByEmail(store, 'right by email', of)).toEqual({ outcome: 'over' })
    }
    expect(await answerByEmail(store, 'right by email')).toEqual({ outcome: 'issued' })
  })

  it('counts wrong answers with the email address against every code that they could be for', async (store) => {
    await open(store, loginCode('one', { attemptsLeft: 1 }))
    await open(store, loginCode('two', { attemptsLeft: 2 }))
    await open(store, loginCode('of another', { askedBy: 'ip:192.0.2.2', attemptsLeft: 1 }))
    for (const attemptsLeft of [1, 0]) {
      expect(await answerByEmail(store, 'wrong')).toEqual({ outcome: 'wrong', attemptsLeft })
    }
    expect(await answer(store, 'one')).toEqual({ outcome: 'over' })
    expect(await answer(store, 'two')).toEqual({ outcome: 'over' })
    expect(await answer(store, 'of another')).toEqual({ outcome: 'issued' })
  })

  it('counts under every limit or under none', async (store) => {
    const limits = [
      { address: 'ip:192.0.2.1', limit: 3 },
      { address: 'mail:alice@example.org', limit: 2 },
    ]
    await open(store, loginCode('one'), limits)
    await open(store, loginCode('two'), limits)
    const refused = { outcome: 'limited', address: 'mail:alice@example.org', used: 2, limit: 2 }
    expect(await open(store, loginCode('three'), limits)).toEqual(refused)
    expect(await open(store, loginCode('three'), limits)).toEqual(refused)
    expect(await store.loginCodes.find({ id: 'three', now: NOW })).toBeUndefined()
    const other = [{ address: 'ip:192.0.2.1', limit: 3 }]
    expect(await open(store, loginCode('three'), other)).toEqual({ outcome: 'opened' })
    const third = { outcome: 'limited', address: 'ip:192.0.2.1', used: 3, limit: 3 }
    expect(await open(store, loginCode('four'), other)).toEqual(third)
  })

  it('does not hold whoever has a low count of its own to a limit that has an exception', async (store) => {
    const limitsOf = (sender: string) => [
      { address: sender, limit: 3 },
      { address: 'mail', limit: 3, unlessBelow: { address: sender, limit: 2 } },
    ]
    const openBy = async (sender: string) => {
      const { outcome } = await open(store, loginCode(randomUUID()), limitsOf(sender))
      return outcome
    }
    for (let times = 0; times < 3; times += 1) expect(await openBy('a')).toBe('opened')
    expect(await open(store, loginCode('by a'), limitsOf('a'))).toMatchObject({ address: 'a', used: 3, limit: 3 })
    // The count of all is at its limit, and goes on counting.
    for (const sender of ['b', 'b', 'c', 'c']) expect(await openBy(sender)).toBe('opened')
    expect(await open(store, loginCode('by b'), limitsOf('b'))).toMatchObject({ address: 'mail', used: 7, limit: 3 })
    expect(await openBy('c')).toBe('limited')
  })

  it('counts together with signups', async (store) => {
    await open(store, loginCode('one'))
    const signUp = { token: token(), address: 'ip:192.0.2.1', hour: HOUR_NUMBER, limit: 1 }
    expect(await store.tokens.signUp(signUp)).toEqual({ outcome: 'limited', used: 1 })
  })

  it('forgets a withdrawn login code, and gives back the counts that it is asked to', async (store) => {
    const limits = [
      { address: 'ip:192.0.2.1', limit: 1 },
      { address: 'mail:alice@example.org', limit: 1 },
    ]
    await open(store, loginCode('one'), limits)
    await store.loginCodes.withdraw({ id: 'one', hour: HOUR_NUMBER, addresses: [] })
    expect(await answer(store, 'one')).toEqual({ outcome: 'over' })
    expect(await open(store, loginCode('two'), limits)).toMatchObject({ outcome: 'limited' })
    const addresses = limits.map(({ address }) => address)
    await store.loginCodes.withdraw({ id: 'one', hour: HOUR_NUMBER, addresses })
    expect(await open(store, loginCode('two'), limits)).toEqual({ outcome: 'opened' })
    await store.loginCodes.withdraw({ id: 'nobody', hour: HOUR_NUMBER, addresses: ['ip:203.0.113.9'] })
  })

  it('sweeps what has expired and nothing else', async (store) => {
    await open(store, loginCode('old', { expiresAt: NOW }))
    await open(store, loginCode('new', { expiresAt: NOW + 1 }))
    expect(await store.loginCodes.expire({ now: NOW })).toBe(1)
    expect(await store.loginCodes.expire({ now: NOW })).toBe(0)
    expect(await answer(store, 'new')).toEqual({ outcome: 'issued' })
  })

  itWithTwo('issues one token for many right answers through two handles', async (store, other) => {
    await open(store, loginCode('one'))
    const outcomes = await Promise.all(times(8, (index) => answer(index % 2 === 0 ? store : other, 'one')))
    expect(counted(outcomes)).toEqual({ issued: 1, over: 7 })
    expect(await tokensOf(other)).toHaveLength(1)
  })

  itWithTwo('takes no more wrong answers than attempts through two handles', async (store, other) => {
    await open(store, loginCode('one'))
    const outcomes = await Promise.all(times(20, (index) => answer(index % 2 === 0 ? store : other, 'one', 'wrong')))
    expect(counted(outcomes)).toEqual({ wrong: 5, over: 15 })
  })

  itAcrossRestart('keeps login codes and their attempts', async (store, restart) => {
    await open(store, loginCode('one', { attemptsLeft: 2 }))
    await answer(store, 'one', 'wrong')
    const again = await restart()
    expect(await answer(again, 'one', 'wrong')).toEqual({ outcome: 'wrong', attemptsLeft: 0 })
    expect(await answer(again, 'one')).toEqual({ outcome: 'over' })
  })

  itBroken('error: a broken medium is storage_failed, and never an unknown login code', async (store, breakNow) => {
    await open(store, loginCode('one'))
    breakNow()
    const failed = { code: 'storage_failed' }
    await expect(store.loginCodes.find({ id: 'one', now: NOW })).rejects.toMatchObject(failed)
    await expect(answer(store, 'one')).rejects.toMatchObject(failed)
  })
}
