import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS } from '@lade/core/time'
import type { SignupResult, StartResult } from '@lade/core/wire'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MailServer, openMailServer } from '../../../testing/doubles/mail-server.ts'
import {
  bearer,
  databaseFileOf,
  type RunningService,
  type RunOptions,
  runService,
} from '../../../testing/running/running-service.ts'

const ADA = 'ada@example.org'
const START = Date.UTC(2030, 0, 1, 12)
const CODE_MINUTES = 15

let mailServer: MailServer
const clock = { now: START }
const running: RunningService[] = []
beforeEach(async () => {
  clock.now = START
  mailServer = await openMailServer()
})
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
  await mailServer.close()
})

async function run({ env = {}, ...options }: RunOptions = {}): Promise<RunningService> {
  const service = await runService({
    env: {
      LADE_SIGNUP: 'email',
      LADE_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      LADE_MAIL_FROM: 'Lade <lade@mail.example>',
      LADE_SIGNUPS_PER_HOUR: '1000',
      ...env,
    },
    substitutes: { now: () => clock.now },
    ...options,
  })
  running.push(service)
  return service
}

type Answer<Body> = { status: number; headers: Headers; body: Body & { error?: string; attemptsLeft?: number } }

async function post<Body>(service: RunningService, path: string, body: object, token?: string): Promise<Answer<Body>> {
  const response = await service.fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...bearer(token) },
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer<Body>['body'] }
}

const start = (service: RunningService, email = ADA, label = 'laptop') =>
  post<StartResult>(service, '/api/auth/start', { email, label })
const verify = (service: RunningService, challenge: string, code: string, more: object = {}) =>
  post<SignupResult>(service, '/api/auth/verify', { challenge, code, ...more })
const refusalOf = ({ status, body }: Answer<object>) => [status, body.error]

/** A code of six digits that is another one. */
const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

/** A challenge and the code that was mailed for it. */
async function begin(service: RunningService, email = ADA): Promise<{ challenge: string; code: string }> {
  const { status, body } = await start(service, email)
  expect(status, JSON.stringify(body)).toBe(200)
  return { challenge: body.challenge, code: mailServer.codeFor(email) }
}

async function tokenOf(service: RunningService, email = ADA, more: object = {}): Promise<SignupResult> {
  const { challenge, code } = await begin(service, email)
  const { status, body } = await verify(service, challenge, code, more)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** What the records keep of challenges and counts. */
function kept(service: RunningService) {
  const database = new Database(databaseFileOf(service.config), { readonly: true })
  try {
    const challenges = database.prepare('SELECT * FROM challenges').all() as Record<string, unknown>[]
    const counts = database.prepare('SELECT address, count FROM signups ORDER BY address').raw().all()
    return { challenges, counts }
  } finally {
    database.close()
  }
}

describe('signup by email', () => {
  it('mails a code and gives a token for it', async () => {
    const service = await run()
    const started = await start(service, ' Ada@Example.org ')
    expect(started.status).toBe(200)
    expect(started.headers.get('cache-control')).toBe('no-store')
    const challengeText = expect.stringMatching(/^[\w-]{43}$/)
    expect(started.body).toEqual({ sent: true, email: ADA, expiresIn: 900, challenge: challengeText })
    const { challenge } = started.body
    const verified = await verify(service, challenge, mailServer.codeFor(ADA))
    expect(verified.status).toBe(200)
    expect(verified.headers.get('cache-control')).toBe('no-store')
    expect(verified.body).toMatchObject({ email: ADA, scopes: ['put', 'get', 'list', 'pin'], quotaMb: 1024 })
    const tokens = await service.fetch('/api/tokens', { headers: bearer(verified.body.token) })
    expect(await tokens.json()).toMatchObject({ tokens: [{ label: 'laptop', current: true }] })
  })

  it('mails who asked, the code, how long it is good for, and that it can be ignored, and nothing else', async () => {
    const service = await run()
    await start(service, ADA, 'Win a prize at https://evil.example')
    const [received] = mailServer.received
    expect(mailServer.received).toHaveLength(1)
    expect(received).toMatchObject({ from: 'lade@mail.example', to: [ADA] })
    expect(received?.mail.subject).toBe(`Your code for ${new URL(service.url).host}`)
    const text = received?.mail.text ?? ''
    expect(text).toContain(`${service.url}\n`)
    expect(text).toMatch(/^The code is \d{6}$/m)
    expect(text).toContain('15 minutes')
    expect(text).toContain('ignore this mail')
    expect(text.split('\n').length).toBeLessThan(12)
    expect(received?.raw).not.toMatch(/evil|prize/)
  })

  const verifyByEmail = (service: RunningService, email: string, code: string) =>
    post<SignupResult>(service, '/api/auth/verify', { email, code })

  it('takes the email address in place of the challenge, as clients do that keep none', async () => {
    const service = await run()
    const { code } = await begin(service)
    expect(await verifyByEmail(service, ADA, otherThan(code))).toMatchObject({
      status: 403,
      body: { error: 'invalid_code', attemptsLeft: 4 },
    })
    const verified = await verifyByEmail(service, ' Ada@Example.org ', ` ${code.slice(0, 3)}-${code.slice(3)}`)
    expect(verified).toMatchObject({ status: 200, body: { email: ADA } })
    const tokens = await service.fetch('/api/tokens', { headers: bearer(verified.body.token) })
    expect(await tokens.json()).toMatchObject({ tokens: [{ label: 'laptop', isCurrent: true }] })
    expect(refusalOf(await verifyByEmail(service, ADA, code))).toEqual([403, 'invalid_challenge'])
    expect(refusalOf(await verifyByEmail(service, 'bob@example.org', code))).toEqual([403, 'invalid_challenge'])
    expect(refusalOf(await post(service, '/api/auth/verify', { code }))).toEqual([400, 'bad_request'])
  })

  it('lets nobody but the address that asked for a code answer it, or use up its attempts, by the email address', async () => {
    const service = await run({ env: { LADE_TRUSTED_PROXIES: '127.0.0.1' } })
    const from = async (address: string, path: string, body: object) => {
      const response = await service.fetch(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      })
      const answered = (await response.json()) as { error?: string }
      return [response.status, answered.error]
    }
    expect(await from('192.0.2.1', '/api/auth/start', { email: ADA, label: 'x' })).toEqual([200, undefined])
    const code = mailServer.codeFor(ADA)
    for (let times = 0; times < 6; times += 1) {
      const guess = { email: ADA, code: times === 0 ? code : otherThan(code) }
      expect(await from('192.0.2.2', '/api/auth/verify', guess)).toEqual([403, 'invalid_challenge'])
    }
    expect(await from('192.0.2.1', '/api/auth/verify', { email: ADA, code })).toEqual([200, undefined])
  })

  it('says so in /api/info', async () => {
    const service = await run()
    expect(await (await service.fetch('/api/info')).json()).toMatchObject({ signup: 'email', tokenAlg: 'HS256' })
  })

  it('narrows the token as the second step asks', async () => {
    const asked = { scopes: ['list', 'put'], quotaMb: 5, ttlDays: 1 }
    const { scopes, quotaMb, expiresAt } = await tokenOf(await run(), ADA, asked)
    expect({ scopes, quotaMb, expiresAt }).toEqual({
      scopes: ['put', 'list'],
      quotaMb: 5,
      expiresAt: new Date(START + 86_400_000).toISOString(),
    })
  })

  it('keeps neither the challenge nor the code', async () => {
    const service = await run()
    const { challenge, code } = await begin(service)
    const { challenges } = kept(service)
    expect(challenges).toMatchObject([{ email: ADA, label: 'laptop', attempts_left: 5 }])
    expect(JSON.stringify(challenges)).not.toContain(challenge)
    expect(Object.values(challenges[0] ?? {}).map(String)).not.toContain(code)
    expect(service.logLines.join()).not.toContain(challenge)
    expect(service.logLines.join()).not.toContain(code)
  })

  it('answers the same for an address that is known as for one that is not', async () => {
    const service = await run()
    await tokenOf(service)
    const [known, unknown] = [await start(service), await start(service, 'bob@example.org')]
    expect(known.status).toBe(unknown.status)
    const shape = { sent: true, expiresIn: 900, challenge: expect.stringMatching(/^[\w-]{43}$/) }
    expect(known.body).toEqual({ ...shape, email: ADA })
    expect(unknown.body).toEqual({ ...shape, email: 'bob@example.org' })
  })
})

describe('an answer to a challenge', () => {
  it('is taken once', async () => {
    const service = await run()
    const { challenge, code } = await begin(service)
    expect((await verify(service, challenge, code)).status).toBe(200)
    expect(refusalOf(await verify(service, challenge, code))).toEqual([403, 'invalid_challenge'])
  })

  it('is taken once of many at once', async () => {
    const service = await run()
    const { challenge, code } = await begin(service)
    const answers = await Promise.all(Array.from({ length: 10 }, () => verify(service, challenge, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error === 'invalid_challenge')).toHaveLength(9)
  })

  it('may be wrong four times; after the fifth the right one comes too late', async () => {
    const service = await run()
    const steady = await begin(service)
    const hasty = await begin(service, 'bob@example.org')
    for (const attemptsLeft of [4, 3, 2, 1]) {
      for (const { challenge, code } of [steady, hasty]) {
        const { status, body } = await verify(service, challenge, otherThan(code))
        expect([status, body]).toMatchObject([403, { error: 'invalid_code', attemptsLeft }])
      }
    }
    expect((await verify(service, steady.challenge, steady.code)).status).toBe(200)
    expect(await verify(service, hasty.challenge, otherThan(hasty.code))).toMatchObject({ body: { attemptsLeft: 0 } })
    expect(refusalOf(await verify(service, hasty.challenge, hasty.code))).toEqual([403, 'invalid_challenge'])
  })

  it('is taken until its time is over, and is then swept', async () => {
    const service = await run()
    const [early, late] = [await begin(service), await begin(service, 'bob@example.org')]
    clock.now = START + CODE_MINUTES * MINUTE_MS - 1
    expect((await verify(service, early.challenge, early.code)).status).toBe(200)
    clock.now += 1
    expect(refusalOf(await verify(service, late.challenge, late.code))).toEqual([403, 'invalid_challenge'])
    await service.close()
    await run({ dataDir: service.dataDir })
    expect(kept(service).challenges).toEqual([])
  })

  it('belongs to its challenge, also of two for one address at once', async () => {
    const service = await run()
    const one = await begin(service)
    let two = await begin(service)
    while (two.code === one.code) two = await begin(service)
    expect((await verify(service, one.challenge, two.code)).body.error).toBe('invalid_code')
    expect((await verify(service, two.challenge, two.code)).status).toBe(200)
    expect((await verify(service, one.challenge, one.code)).status).toBe(200)
  })

  it('is taken after a restart', async () => {
    const service = await run()
    const { challenge, code } = await begin(service)
    await verify(service, challenge, otherThan(code))
    await service.close()
    const again = await run({ dataDir: service.dataDir })
    expect((await verify(again, challenge, otherThan(code))).body.attemptsLeft).toBe(3)
    expect((await verify(again, challenge, code)).status).toBe(200)
  })

  it('is taken by another process on the same data, once in all', async () => {
    const service = await run()
    const other = await run({ dataDir: service.dataDir })
    const { challenge, code } = await begin(service)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => verify(at % 2 === 0 ? service : other, challenge, code)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const wrong = await begin(other)
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        verify(at % 2 === 0 ? service : other, wrong.challenge, otherThan(wrong.code)),
      ),
    )
    expect(guesses.filter(({ body }) => body.error === 'invalid_code')).toHaveLength(5)
  })

  it('may be typed with spaces and hyphens', async () => {
    const service = await run()
    const { challenge, code } = await begin(service)
    expect((await verify(service, challenge, ` ${code.slice(0, 3)}-${code.slice(3)} `)).status).toBe(200)
  })

  it.each([
    ['neither challenge nor email', { code: '123456' }, 400, 'bad_request'],
    ['no code', { challenge: 'x' }, 400, 'bad_request'],
    ['a code that is a number', { challenge: 'x', code: 123456 }, 400, 'bad_request'],
    ['a code of 60,000 digits', { challenge: 'x', code: '1'.repeat(60_000) }, 400, 'bad_request'],
    ['an unknown scope', { challenge: 'x', code: '123456', scopes: ['admin'] }, 400, 'invalid_scopes'],
    ['no scopes', { challenge: 'x', code: '123456', scopes: [] }, 400, 'invalid_scopes'],
    ['a challenge that was never there', { challenge: 'x'.repeat(43), code: '123456' }, 403, 'invalid_challenge'],
    ['an empty challenge', { challenge: '', code: '123456' }, 403, 'invalid_challenge'],
  ])('with %s is refused', async (_, body, status, error) => {
    expect(refusalOf(await post(await run(), '/api/auth/verify', body))).toEqual([status, error])
  })
})

describe('starting a challenge', () => {
  it.each([
    ['an address with a line break', { email: 'a@b.example\r\nBcc: eve@evil.example', label: 'x' }, 'invalid_email'],
    ['two addresses', { email: 'a@b.example,eve@evil.example', label: 'x' }, 'invalid_email'],
    ['an address with a name', { email: 'Eve <eve@evil.example>', label: 'x' }, 'invalid_email'],
    ['no address', { label: 'x' }, 'invalid_email'],
    [
      'a label with a line break',
      { email: ADA, label: 'x\r\nBcc: eve@evil.example\r\n\r\nThe code is 111111' },
      'invalid_label',
    ],
    ['a label with a line separator', { email: ADA, label: 'x\u2028y' }, 'invalid_label'],
    ['no label', { email: ADA }, 'invalid_label'],
  ])('for %s is refused, and mails nothing', async (_, body, error) => {
    const service = await run()
    expect(refusalOf(await post(service, '/api/auth/start', body))).toEqual([400, error])
    expect(mailServer.received).toEqual([])
    expect(kept(service)).toEqual({ challenges: [], counts: [] })
  })

  it('names the service by its own address, whatever host was asked for', async () => {
    const service = await run()
    await service.fetch('/api/auth/start', {
      method: 'POST',
      body: JSON.stringify({ email: ADA, label: 'x' }),
      headers: {
        'content-type': 'application/json',
        'x-forwarded-host': 'evil.example',
        forwarded: 'host=evil.example',
      },
    })
    expect(mailServer.received).toHaveLength(1)
    expect(mailServer.received[0]?.raw).not.toContain('evil')
  })

  it('mails one address five times an hour for one sender, and others all the same', async () => {
    const service = await run()
    for (let mails = 0; mails < 5; mails += 1) await begin(service)
    const refused = await start(service, 'ADA@example.org')
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited', used: 5, limit: 5 } })
    expect(refused.body).toMatchObject({ detail: expect.stringContaining('Codes stay valid for 15 minutes') })
    expect(Number(refused.headers.get('retry-after'))).toBe(3600)
    expect(mailServer.received).toHaveLength(5)
    await begin(service, 'bob@example.org')
    clock.now += 60 * MINUTE_MS
    await begin(service)
  })

  it('never keeps the owner from a code, however many others had mails sent there', async () => {
    const service = await run({ env: { LADE_TRUSTED_PROXIES: '127.0.0.1' } })
    const startFrom = async (sender: string, email = ADA) => {
      const response = await service.fetch('/api/auth/start', {
        method: 'POST',
        body: JSON.stringify({ email, label: 'x' }),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': sender },
      })
      return { status: response.status, body: (await response.json()) as StartResult & { limit?: number } }
    }
    const statusesOf = async (sender: string, times: number) => {
      const statuses: number[] = []
      for (let time = 0; time < times; time += 1) statuses.push((await startFrom(sender)).status)
      return statuses
    }
    for (const sender of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
      expect(await statusesOf(sender, 6)).toEqual([200, 200, 200, 200, 200, 429])
    }
    // The /64s of one /48 are one sender to one recipient.
    const addresses = Array.from({ length: 6 }, (_, index) => `2001:db8:1:${index}::1`)
    const fromNetwork: number[] = []
    for (const address of addresses) fromNetwork.push((await startFrom(address)).status)
    expect(fromNetwork).toEqual([200, 200, 200, 200, 200, 429])
    // The 20 of an hour are used up: from now on two for each further sender.
    expect(await statusesOf('198.51.100.4', 3)).toEqual([200, 200, 429])
    expect((await startFrom('198.51.100.4')).body).toMatchObject({ error: 'rate_limited', limit: 20 })
    expect((await startFrom('198.51.100.4', 'bob@example.org')).status).toBe(200)

    const { challenge } = (await startFrom('192.0.2.7')).body
    expect((await verify(service, challenge, mailServer.codeFor(ADA))).status).toBe(200)
  })

  it('counts as a signup of the caller', async () => {
    const service = await run({ env: { LADE_SIGNUPS_PER_HOUR: '2' } })
    await begin(service, 'a@example.org')
    await begin(service, 'b@example.org')
    const refused = await start(service, 'c@example.org')
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited', used: 2, limit: 2 } })
    expect(mailServer.received).toHaveLength(2)
  })

  it('is auth_offline, and mails nothing, where no token could be signed', async () => {
    const service = await run()
    await service.close()
    writeFileSync(join(service.dataDir, 'token.key'), 'no key')
    const again = await run({ dataDir: service.dataDir })
    expect(refusalOf(await start(again))).toEqual([503, 'auth_offline'])
    expect(mailServer.received).toEqual([])
  })
})

describe('mail that cannot be sent', () => {
  it('error: is mail_failed where nobody is there, and keeps nothing', async () => {
    const service = await run()
    await mailServer.close()
    for (let times = 0; times < 7; times += 1) {
      const failed = await start(service)
      expect(refusalOf(failed)).toEqual([503, 'mail_failed'])
      expect(failed.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
    const { challenges, counts } = kept(service)
    expect(challenges).toEqual([])
    expect(counts.filter((row) => (row as unknown[])[1] !== 0)).toEqual([])
    expect(service.logLines.join()).toContain('ECONNREFUSED')
    expect((await service.fetch('/readyz')).status).toBe(200)
  })

  it('error: is mail_failed where the server refuses, keeps no challenge, and counts', async () => {
    await mailServer.close()
    mailServer = await openMailServer({ onRcptTo: (_address, _session, done) => done(new Error('nobody here')) })
    const service = await run()
    for (let times = 0; times < 5; times += 1) expect(refusalOf(await start(service))).toEqual([503, 'mail_failed'])
    expect(kept(service).challenges).toEqual([])
    expect(refusalOf(await start(service))).toEqual([429, 'rate_limited'])
    expect(service.logLines.join()).toContain('nobody here')
    expect(service.logLines.join()).not.toContain(ADA)
  })
})

describe('/api/auth/signup where signup is by email', () => {
  const signUp = (service: RunningService, body: object, token?: string) =>
    post<SignupResult>(service, '/api/auth/signup', { email: ADA, label: 'phone', ...body }, token)

  it('asks for the code', async () => {
    const service = await run()
    expect(refusalOf(await signUp(service, {}))).toEqual([403, 'email_code_required'])
    expect(refusalOf(await signUp(service, { email: 'nobody' }))).toEqual([400, 'invalid_email'])
  })

  it('takes a valid token of the same address in its place', async () => {
    const service = await run()
    const { token } = await tokenOf(service)
    const second = await signUp(service, { email: ' ADA@example.org' }, token)
    expect(second).toMatchObject({ status: 200, body: { email: ADA, scopes: ['put', 'get', 'list', 'pin'] } })
    const listed = await service.fetch('/api/tokens', { headers: bearer(second.body.token) })
    expect(await listed.json()).toMatchObject({ tokens: expect.objectContaining({ length: 2 }) })
    expect(mailServer.received).toHaveLength(1)
  })

  it('takes no token of another address, and none that is not valid', async () => {
    const service = await run()
    const { token } = await tokenOf(service)
    expect(refusalOf(await signUp(service, { email: 'bob@example.org' }, token))).toEqual([403, 'email_code_required'])
    expect(refusalOf(await signUp(service, {}, `${token}x`))).toEqual([401, 'invalid_token'])
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    await post(service, '/api/tokens/revoke', { jti }, token)
    expect(refusalOf(await signUp(service, {}, token))).toEqual([401, 'revoked_token'])
    clock.now += 366 * 24 * 60 * MINUTE_MS
    expect(refusalOf(await signUp(service, {}, token))).toEqual([401, 'invalid_token'])
  })

  it('gives no more than the token that stands in for the code has', async () => {
    const service = await run()
    const { token } = await tokenOf(service, ADA, { scopes: ['put', 'list'], quotaMb: 5 })
    expect(await signUp(service, {}, token)).toMatchObject({
      status: 200,
      body: { scopes: ['put', 'list'], quotaMb: 5 },
    })
    expect(await signUp(service, { scopes: ['list'], quotaMb: 900 }, token)).toMatchObject({
      status: 400,
      body: { error: 'bad_request', detail: expect.stringContaining('quotaMb is 900; the limit is 5.') },
    })
    const wider = await signUp(service, { scopes: ['list', 'pin'] }, token)
    expect(wider).toMatchObject({ status: 403, body: { error: 'insufficient_scope', required: 'pin' } })
  })

  it('gives a token that ends no later than the one that stands in for the code', async () => {
    const service = await run()
    const { token, expiresAt } = await tokenOf(service, ADA, { ttlDays: 2 })
    clock.now += 24 * 60 * MINUTE_MS
    expect(await signUp(service, {}, token)).toMatchObject({ status: 200, body: { expiresAt } })
    expect(await signUp(service, { ttlDays: 365 }, token)).toMatchObject({ status: 200, body: { expiresAt } })
    const ofTheSecond = await signUp(service, { ttlDays: 365 }, (await signUp(service, {}, token)).body.token)
    expect(ofTheSecond.body.expiresAt).toBe(expiresAt)
    clock.now += 60 * MINUTE_MS
    const shorter = await signUp(service, { ttlDays: 1 }, token)
    expect(shorter).toMatchObject({ status: 200, body: { expiresAt } })
  })
})

describe('where signup is not by email', () => {
  it.each(['open', 'closed'])('there are no codes: %s', async (signup) => {
    const service = await run({ env: { LADE_SIGNUP: signup } })
    expect(refusalOf(await start(service))).toEqual([404, 'not_found'])
    expect(refusalOf(await verify(service, 'x', '123456'))).toEqual([404, 'not_found'])
    expect(mailServer.received).toEqual([])
  })
})

describe('upkeep', () => {
  it('forgets challenges while the service runs', async () => {
    const service = await run()
    await begin(service)
    clock.now += CODE_MINUTES * MINUTE_MS
    await vi.waitFor(() => expect(kept(service).challenges).toEqual([]), { timeout: 15_000, interval: 200 })
  })
})
