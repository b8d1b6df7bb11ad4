import { DAY_MS, HOUR_MS } from '@lade/core/time'
import type { Session, SessionList, SessionState, ShareResult, SignupResult, TokenList } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { createSiweMessage } from 'viem/siwe'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFakeChain } from '../../../chain/fake-chain.ts'
import { type MailServer, openMailServer } from '../../../testing/doubles/mail-server.ts'
import { bearer, type RunningService, type RunOptions, runService } from '../../../testing/running/running-service.ts'
import { TestBrowser } from '../../../testing/running/test-browser.ts'
import { ALICE } from '../../../wallets/testing-wallets.ts'

const ADA = 'ada@example.org'
const START = Date.UTC(2030, 0, 1, 12)
const OCTETS = { 'content-type': 'application/octet-stream' }

const clock = { now: START }
const running: RunningService[] = []
let mailServer: MailServer | undefined
beforeEach(() => {
  clock.now = START
})
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
  await mailServer?.close()
  mailServer = undefined
})

async function run({ env = {}, substitutes = {}, ...options }: RunOptions = {}): Promise<RunningService> {
  const service = await runService({ env, substitutes: { now: () => clock.now, ...substitutes }, ...options })
  running.push(service)
  return service
}

async function runWithCodes(): Promise<RunningService> {
  mailServer = await openMailServer()
  return run({
    env: {
      LADE_SIGNUP: 'email',
      LADE_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      LADE_MAIL_FROM: 'Lade <lade@mail.example>',
    },
  })
}

const sessionOf = async (browser: TestBrowser) => (await browser.json<SessionState>('/api/session')).session
const upload = (browser: TestBrowser, text: string, headers: Record<string, string> = {}) =>
  browser.fetch(`/api/upload?cid=${sha256Hex(Buffer.from(text))}`, {
    method: 'POST',
    body: text,
    headers: { ...OCTETS, ...headers },
  })
const post = (service: RunningService, path: string, body: object, token?: string) =>
  service.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...bearer(token) },
  })

async function tokenOf(service: RunningService, wishes: object = {}): Promise<SignupResult & { jti: string }> {
  const response = await post(service, '/api/auth/signup', { email: ADA, label: 'x', ...wishes })
  const result = (await response.json()) as SignupResult
  const { jti } = JSON.parse(Buffer.from(result.token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
  return { ...result, jti }
}

describe('signing in', () => {
  it('with an address alone, where signup is open', async () => {
    const service = await run()
    const browser = new TestBrowser(service)
    expect(await browser.json('/api/session')).toEqual({ session: null, signIn: ['email', 'token'] })
    const response = await browser.signIn({ email: ' Ada@Example.org ' })
    expect(response.status).toBe(200)
    const { session } = (await response.json()) as { session: Session }
    expect(session).toMatchObject({
      via: 'email',
      email: ADA,
      owner: ADA,
      scopes: ['put', 'get', 'list', 'pin'],
      quotaMb: 1024,
      current: true,
      jti: null,
      createdAt: new Date(START).toISOString(),
      expiresAt: new Date(START + 12 * HOUR_MS).toISOString(),
    })
    expect(await sessionOf(browser)).toEqual(session)
    expect(await (await upload(browser, 'by cookie')).json()).toMatchObject({ owner: ADA, sponsored: false })
    expect(await browser.json('/api/usage')).toMatchObject({ userId: session.userId, today: { bytes: 9 } })
    expect(await browser.json<TokenList>('/api/tokens')).toEqual({ tokens: [] })
  })

  it('with a code, by its challenge or by the address', async () => {
    const service = await runWithCodes()
    for (const by of ['challenge', 'email'] as const) {
      const browser = new TestBrowser(service)
      expect(await browser.json('/api/session')).toEqual({ session: null, signIn: ['code', 'token'] })
      const { challenge } = await browser.json<{ challenge: string }>('/api/auth/start', {
        method: 'POST',
        json: { email: ADA, label: 'laptop' },
      })
      const code = mailServer?.codeFor(ADA) ?? ''
      const first = by === 'challenge' ? { challenge } : { email: ADA }
      expect((await browser.signIn({ ...first, code: code === '111111' ? '222222' : '111111' })).status).toBe(403)
      expect((await browser.signIn({ ...first, code })).status).toBe(200)
      expect((await browser.signIn({ ...first, code })).status).toBe(403)
      expect(await sessionOf(browser)).toMatchObject({ via: 'code', email: ADA, jti: null })
    }
    const other = new TestBrowser(service)
    expect(await (await other.signIn({ email: ADA })).json()).toMatchObject({ error: 'email_code_required' })
  })

  it('with the message of a wallet, whose balance is the quota, and no longer than the message says', async () => {
    const chain = openFakeChain()
    chain.setBalance(ALICE.address, 10n ** 9n)
    const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
    const service = await run({
      env: { LADE_CHAIN_RPC: 'http://127.0.0.1:9/', LADE_USDC: USDC },
      substitutes: { chain },
    })
    const browser = new TestBrowser(service)
    expect(await browser.json('/api/session')).toEqual({ session: null, signIn: ['email', 'wallet', 'token'] })
    const { nonce } = await browser.json<{ nonce: string }>('/api/auth/wallet/nonce', { method: 'POST' })
    const { host, origin } = new URL(service.url)
    const message = createSiweMessage({
      address: ALICE.address,
      chainId: chain.chainId,
      domain: host,
      nonce,
      uri: origin,
      version: '1',
      issuedAt: new Date(START),
      expirationTime: new Date(START + HOUR_MS),
    })
    const signature = await ALICE.signMessage({ message })
    expect((await browser.signIn({ message, signature })).status).toBe(200)
    expect(await sessionOf(browser)).toMatchObject({
      via: 'wallet',
      userId: `eip155:${chain.chainId}:${ALICE.address}`,
      email: null,
      owner: ALICE.address,
      quotaMb: null,
      expiresAt: new Date(START + HOUR_MS).toISOString(),
    })
    expect(await (await upload(browser, 'of a wallet')).json()).toMatchObject({ owner: ALICE.address })
    expect(await browser.statusOf('/api/auth/signup', { method: 'POST', json: { email: ADA, label: 'x' } })).toBe(
      '400 bad_request',
    )
    expect((await new TestBrowser(service).signIn({ message, signature })).status).toBe(401)
    clock.now += HOUR_MS
    expect(await sessionOf(browser)).toBeNull()
  })

  it('with a token, whose scopes and quota it has, and with which it ends', async () => {
    const service = await run()
    const { token, jti, expiresAt } = await tokenOf(service, { scopes: ['list', 'put'], quotaMb: 7, ttlDays: 1 })
    const browser = new TestBrowser(service)
    expect((await browser.signIn({ token })).status).toBe(200)
    expect(await sessionOf(browser)).toMatchObject({
      via: 'token',
      email: ADA,
      scopes: ['put', 'list'],
      quotaMb: 7,
      jti,
    })
    expect(browser.setCookie).toBeNull()
    expect(await browser.json('/api/usage')).toMatchObject({ quotaMb: 7 })
    expect(await browser.statusOf('/api/files/abcdefgh', { method: 'DELETE' })).toBe('403 insufficient_scope')
    const { tokens } = await browser.json<TokenList>('/api/tokens')
    expect(tokens.map(({ current }) => current)).toEqual([true])
    clock.now += 12 * HOUR_MS - 1
    expect(await sessionOf(browser)).not.toBeNull()
    await browser.json('/api/sessions')
    clock.now += 12 * HOUR_MS - 1
    expect(await sessionOf(browser)).toMatchObject({ expiresAt: new Date(expiresAt).toISOString() })
    clock.now += 2
    expect(await sessionOf(browser)).toBeNull()
    expect(browser.cookie).toBeUndefined()
  })

  it('is refused where it is not open, and for what does not belong together', async () => {
    const service = await run({ env: { LADE_SIGNUP: 'closed' } })
    const browser = new TestBrowser(service)
    expect(await browser.json('/api/session')).toEqual({ session: null, signIn: ['token'] })
    const refusals: [object, string][] = [
      [{ email: ADA }, 'signup_closed'],
      [{ email: ADA, code: '123456' }, 'signup_closed'],
      [{ token: 'pk_live_x' }, 'invalid_token'],
      [{ message: 'x', signature: '0xab' }, 'invalid_signature'],
      [{}, 'bad_request'],
      [{ token: 'pk_live_x', email: ADA }, 'bad_request'],
      [{ challenge: 'x' }, 'bad_request'],
      [{ code: '123456' }, 'bad_request'],
      [{ message: 'x' }, 'bad_request'],
      [{ email: 7 }, 'invalid_email'],
    ]
    for (const [body, error] of refusals) {
      const response = await browser.fetch('/api/session', { method: 'POST', json: body })
      expect(await response.json(), JSON.stringify(body)).toMatchObject({ error })
      expect(response.headers.get('set-cookie')).toBeNull()
    }
  })

  it('counts with the signups of its address', async () => {
    const service = await run({ env: { LADE_SIGNUPS_PER_HOUR: '2' } })
    const browser = new TestBrowser(service)
    const headers = { via: '1.1 proxy' }
    expect((await browser.signIn({ email: ADA }, { headers })).status).toBe(200)
    const json = { email: ADA, label: 'x' }
    expect(await browser.statusOf('/api/auth/signup', { method: 'POST', json, headers })).toBe('200')
    const refused = await browser.signIn({ email: ADA }, { headers })
    expect(await refused.json()).toMatchObject({ error: 'rate_limited', used: 2, limit: 2 })
    expect(await sessionOf(browser)).not.toBeNull()
  })
})

describe('a session', () => {
  it('slides: it lasts 12 hours from its last use, and 30 days at most', async () => {
    const service = await run()
    const [used, unused] = [new TestBrowser(service), new TestBrowser(service)]
    for (const browser of [used, unused]) await browser.signIn({ email: ADA })
    expect(used.setCookie).toContain(`Max-Age=${30 * 86_400};`)
    clock.now += 11 * HOUR_MS
    expect(await sessionOf(used)).toMatchObject({ expiresAt: new Date(clock.now + 12 * HOUR_MS).toISOString() })
    // What is remembered of uses is written now and then.
    await used.json('/api/sessions')
    clock.now += HOUR_MS
    expect(await unused.statusOf('/api/files')).toBe('401 invalid_session')
    expect(await (await upload(unused, 'after the end')).json()).toMatchObject({ error: 'invalid_session' })
    for (let hour = 12; hour < 30 * 24; hour += 11) {
      expect(await sessionOf(used), `${hour}`).not.toBeNull()
      await used.json('/api/sessions')
      clock.now += 11 * HOUR_MS
    }
    expect(await sessionOf(used)).toBeNull()
  })

  it('is kept as a digest, and logged by its id alone', async () => {
    const service = await run()
    const browser = new TestBrowser(service)
    await browser.signIn({ email: ADA })
    await upload(browser, 'some bytes')
    const [, secret = ''] = browser.cookie?.split('=') ?? []
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const { id } = (await sessionOf(browser)) ?? {}
    expect(service.logged()).toContainEqual(expect.objectContaining({ route: '/api/upload', session: id }))
    expect(service.logLines.join('\n')).not.toContain(secret)
    await service.close()
    const { readdirSync, readFileSync } = await import('node:fs')
    for (const name of readdirSync(service.dataDir, { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect(readFileSync(`${name.parentPath}/${name.name}`).includes(secret), name.name).toBe(false)
    }
  })

  it('outlives a restart', async () => {
    const before = await run()
    const browser = new TestBrowser(before)
    await browser.signIn({ email: ADA })
    await before.close()
    const after = await run({ dataDir: before.dataDir })
    const again = new TestBrowser(after)
    again.cookie = browser.cookie
    expect(await sessionOf(again)).toMatchObject({ email: ADA })
  })

  it('is signed out of, once and again, and not used after that', async () => {
    const service = await run()
    const browser = new TestBrowser(service)
    await browser.signIn({ email: ADA })
    const stolen = browser.cookie
    expect(await browser.json('/api/session', { method: 'DELETE' })).toEqual({ session: null })
    expect(browser.cookie).toBeUndefined()
    expect(await browser.json('/api/session', { method: 'DELETE' })).toEqual({ session: null })
    const replay = new TestBrowser(service)
    for (const path of ['/api/files', '/api/usage', '/api/sessions', '/api/tokens']) {
      replay.cookie = stolen
      expect(await replay.statusOf(path), path).toBe('401 invalid_session')
    }
    expect(await sessionOf(replay)).toBeNull()
    expect(replay.cookie).toBeUndefined()
  })

  it('is listed with the others of its user, and ended by any of them and by tokens', async () => {
    const service = await run()
    const { token } = await tokenOf(service)
    const [one, two, bob] = [new TestBrowser(service), new TestBrowser(service), new TestBrowser(service)]
    await one.signIn({ email: ADA })
    clock.now += 1000
    await two.signIn({ token })
    await bob.signIn({ email: 'bob@example.org' })
    const { sessions } = await one.json<SessionList>('/api/sessions')
    expect(sessions.map(({ via, current }) => [via, current]).toSorted()).toEqual([
      ['email', true],
      ['token', false],
    ])
    const byToken = await service.fetch('/api/sessions', { headers: bearer(token) })
    expect(((await byToken.json()) as SessionList).sessions.map(({ current }) => current)).toEqual([false, false])
    const idOf = async (browser: TestBrowser) => (await sessionOf(browser))?.id ?? ''
    const [first, second] = [await idOf(one), await idOf(two)]
    expect(await bob.statusOf(`/api/sessions/${first}`, { method: 'DELETE' })).toBe('404 not_found')
    expect(await one.json(`/api/sessions/${second}`, { method: 'DELETE' })).toEqual({
      id: second,
      endedAt: new Date(clock.now).toISOString(),
    })
    expect(await sessionOf(two)).toBeNull()
    const ended = await service.fetch(`/api/sessions/${first}`, { method: 'DELETE', headers: bearer(token) })
    expect(ended.status).toBe(200)
    expect(await one.statusOf('/api/files')).toBe('401 invalid_session')
    expect(await idOf(bob)).not.toBe('')
  })

  it('ends by itself, with its cookie', async () => {
    const service = await run()
    const browser = new TestBrowser(service)
    await browser.signIn({ email: ADA })
    const { id = '' } = (await sessionOf(browser)) ?? {}
    expect(await browser.statusOf(`/api/sessions/${id}`, { method: 'DELETE' })).toBe('200')
    expect(browser.cookie).toBeUndefined()
  })

  it('ends at once with the token that it was made from', async () => {
    const service = await run()
    const { token, jti } = await tokenOf(service)
    const browser = new TestBrowser(service)
    await browser.signIn({ token })
    expect(await browser.statusOf('/api/files')).toBe('200')
    expect((await post(service, '/api/tokens/revoke', { jti }, token)).status).toBe(200)
    expect(await browser.statusOf('/api/files')).toBe('401 invalid_session')
    expect(await (await new TestBrowser(service).signIn({ token })).json()).toMatchObject({ error: 'revoked_token' })
  })

  it('gives share links that outlive the sign-out, and end when the session is ended from the list', async () => {
    const service = await run()
    const browser = new TestBrowser(service)
    for (const how of ['signed out', 'ended'] as const) {
      await browser.signIn({ email: ADA })
      const text = `private ${how}`
      const cid = sha256Hex(Buffer.from(text))
      expect((await upload(browser, text, { 'x-visibility': 'private' })).status).toBe(200)
      const json = { ttlSeconds: 3600 }
      const { url } = await browser.json<ShareResult>(`/api/files/${cid}/share`, { method: 'POST', json })
      expect((await fetch(url)).status).toBe(200)
      const { id = '' } = (await sessionOf(browser)) ?? {}
      await browser.fetch(how === 'ended' ? `/api/sessions/${id}` : '/api/session', { method: 'DELETE' })
      expect((await fetch(url)).status).toBe(how === 'ended' ? 403 : 200)
    }
  })
})

describe('tokens made in a session', () => {
  const make = (browser: TestBrowser, wishes: object = {}) =>
    browser.fetch('/api/auth/signup', { method: 'POST', json: { email: ADA, label: 'ci', ...wishes } })

  it('allow no more than the session, and end with what it was made from at the latest', async () => {
    const service = await run()
    const made = await tokenOf(service, { scopes: ['put', 'list'], quotaMb: 7, ttlDays: 3 })
    const browser = new TestBrowser(service)
    await browser.signIn({ token: made.token })
    expect(await (await make(browser)).json()).toMatchObject({
      scopes: ['put', 'list'],
      quotaMb: 7,
      expiresAt: made.expiresAt,
    })
    expect(await (await make(browser, { scopes: ['put'], quotaMb: 1, ttlDays: 1 })).json()).toMatchObject({
      scopes: ['put'],
      quotaMb: 1,
    })
    expect(await (await make(browser, { scopes: ['pin'] })).json()).toMatchObject({ error: 'insufficient_scope' })
    expect(await (await make(browser, { quotaMb: 8 })).json()).toMatchObject({ error: 'bad_request' })
    expect(await (await make(browser, { email: 'eve@example.org' })).json()).toMatchObject({ error: 'bad_request' })
  })

  it('need no code where signup is by email', async () => {
    const service = await runWithCodes()
    const browser = new TestBrowser(service)
    const { challenge } = await browser.json<{ challenge: string }>('/api/auth/start', {
      method: 'POST',
      json: { email: ADA, label: 'laptop' },
    })
    await browser.signIn({ challenge, code: mailServer?.codeFor(ADA) ?? '' })
    const token = (await (await make(browser)).json()) as SignupResult
    expect(token).toMatchObject({ email: ADA, quotaMb: 1024, scopes: ['put', 'get', 'list', 'pin'] })
    expect(Date.parse(token.expiresAt)).toBe(START + 365 * DAY_MS)
    expect((await service.fetch('/api/files', { headers: bearer(token.token) })).status).toBe(200)
  })
})
