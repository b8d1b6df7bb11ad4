/**
 * Signup by a code that is mailed. It needs a server whose mail this suite receives, so all of it is about the code beside
 * this suite; against a foreign server it is skipped.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, Caller, headerOf } from './caller.ts'
import { codeIn, type Mailbox, openMailbox, otherThan } from './mailbox.ts'
import { OWN_ENV } from './own-env.ts'
import { newDataDir, startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import type { OwnServer } from './server-under-test.ts'
import type { SignupResult, TokenList } from './shapes.ts'
import { freshAddress, sampleBytes } from './target.ts'
import { readToken } from './token-forge.ts'

const isForeign = process.env.LADE_ACCEPTANCE_URL !== undefined
const options = { meta: { skippedBecause: 'not on a server of others' } }

interface Started {
  sent: boolean
  email: string
  expiresIn: number
  challenge: string
}

let mailbox: Mailbox
let server: OwnServer
const started: OwnServer[] = []

async function serve(changes: Record<string, string> = {}, dataDir?: string): Promise<OwnServer> {
  const one = await startOwnServer({ ...OWN_ENV, ...mailbox.env, ...changes }, dataDir)
  started.push(one)
  return one
}

const callerOf = (one: OwnServer, address = freshAddress()) =>
  new Caller(one.baseUrl, one.baseUrl, { 'X-Forwarded-For': address })
const freshEmail = () => `acceptance-${randomBytes(8).toString('hex')}@example.com`
const bearing = (token: string, one = server) => callerOf(one).with({ Authorization: `Bearer ${token}` })

const startAt = (caller: Caller, email: string, label = 'laptop') => caller.post('/api/auth/start', { email, label })
const verifyAt = (caller: Caller, challenge: string, code: string, more: object = {}) =>
  caller.post('/api/auth/verify', { challenge, code, ...more })

function ok<Body>(answer: Answer): Body {
  expect(answer.status, answer.body.toString()).toBe(200)
  return answer.json<Body>()
}

/** A challenge for `email`, and the code that came for it. */
async function begin(email: string, one = server): Promise<{ challenge: string; code: string }> {
  const before = mailbox.to(email).length
  const { challenge } = ok<Started>(await startAt(callerOf(one), email))
  expect(mailbox.to(email)).toHaveLength(before + 1)
  return { challenge, code: codeIn(mailbox.to(email).at(-1)) }
}

async function tokenFor(email: string, more: object = {}): Promise<SignupResult> {
  const { challenge, code } = await begin(email)
  return ok<SignupResult>(await verifyAt(callerOf(server), challenge, code, more))
}

describe.skipIf(isForeign)('signup by email', options, () => {
  beforeAll(async () => {
    mailbox = await openMailbox()
    server = await serve()
  }, 60_000)
  afterAll(async () => {
    // One that follows another on its data writes there until it ends.
    await Promise.all(started.map((one) => one.stop()))
    await Promise.all(started.map((one) => one.discard()))
    await mailbox.close()
  }, 60_000)

  test('GET /api/info says that signup is by email, and /openapi.json has both steps', async () => {
    expect((await callerOf(server).get('/api/info')).json<object>()).toMatchObject({ signup: 'email' })
    const { paths } = (await callerOf(server).get('/openapi.json')).json<{ paths: Record<string, object> }>()
    expect(paths).toMatchObject({ '/api/auth/start': { post: {} }, '/api/auth/verify': { post: {} } })
  })

  test('a code goes to the address, and the code gives a token that works', async () => {
    const email = freshEmail()
    const answer = await startAt(callerOf(server), email.toUpperCase())
    expect(headerOf(answer, 'cache-control')).toContain('no-store')
    const { sent, expiresIn, challenge } = ok<Started>(answer)
    expect({ sent, expiresIn }).toEqual({ sent: true, expiresIn: 900 })
    const code = codeIn(mailbox.to(email)[0])
    const result = ok<SignupResult>(await verifyAt(callerOf(server), challenge, code))
    expect(result.email).toBe(email)
    expect(readToken(result.token).payload).toMatchObject({ email, scopes: ['put', 'get', 'list', 'pin'] })
    const user = bearing(result.token)
    expect((await user.stage(sampleBytes())).cid).toMatch(/\w/)
    const { tokens } = (await user.get('/api/tokens')).json<TokenList>()
    expect(tokens.map(({ label }) => label)).toEqual(['laptop'])
  })

  test('the mail is short, plain, to nobody else, and holds nothing that the caller chose', async () => {
    const email = freshEmail()
    await startAt(callerOf(server), email, 'Claim your prize at https://evil.example')
    const [letter, ...others] = mailbox.to(email)
    expect(others).toEqual([])
    expect(letter?.to).toEqual([email])
    expect(letter?.mail).toMatchObject({ from: { name: 'Lade', address: 'lade@example.net' } })
    expect(letter?.mail.html).toBeUndefined()
    expect(letter?.mail.attachments).toEqual([])
    expect(letter?.mail.text).toContain(server.baseUrl.origin)
    expect(letter?.mail.text).toMatch(/15 minutes/)
    expect(letter?.mail.text).toMatch(/ignore/)
    expect(letter?.raw).not.toMatch(/evil|prize/)
  })

  test('scopes, quotaMb and ttlDays are asked with the code', async () => {
    const { token } = await tokenFor(freshEmail(), { scopes: ['list'], quotaMb: 1, ttlDays: 1 })
    const { payload } = readToken(token)
    expect(payload).toMatchObject({ scopes: ['list'], quotaMb: 1 })
    expect(payload.exp - payload.iat).toBe(86_400)
  })

  test('a challenge is answered once, and five attempts are all there are', async () => {
    const email = freshEmail()
    const used = await begin(email)
    const spent = await begin(email)
    const caller = callerOf(server)
    ok(await verifyAt(caller, used.challenge, used.code))
    expectProblem(await verifyAt(caller, used.challenge, used.code), 403, 'invalid_challenge')
    for (const attemptsLeft of [4, 3, 2, 1, 0]) {
      const refused = await verifyAt(caller, spent.challenge, otherThan(spent.code))
      expect(expectProblem(refused, 403, 'invalid_code')).toMatchObject({ attemptsLeft })
    }
    expectProblem(await verifyAt(caller, spent.challenge, spent.code), 403, 'invalid_challenge')
  })

  test('a code is worth nothing with the challenge of another address', async () => {
    const mine = await begin(freshEmail())
    let theirs = await begin(freshEmail())
    while (theirs.code === mine.code) theirs = await begin(freshEmail())
    expectProblem(await verifyAt(callerOf(server), theirs.challenge, mine.code), 403, 'invalid_code')
    expectProblem(await verifyAt(callerOf(server), 'A'.repeat(43), mine.code), 403, 'invalid_challenge')
  })

  test('known and unknown addresses are answered alike', async () => {
    const email = freshEmail()
    await tokenFor(email)
    const shapes = await Promise.all(
      [email, freshEmail()].map(async (address) => {
        const { status, ...answer } = await startAt(callerOf(server), address)
        const body = answer.json<Started>()
        return { status, ...body, email: body.email === address, challenge: body.challenge.length }
      }),
    )
    expect(shapes[0]).toEqual(shapes[1])
  })

  test.for([
    ['a line break in the address', 'a@example.com\r\nBcc: eve@example.com', 'x', 'invalid_email'],
    ['two addresses', 'a@example.com, eve@example.com', 'x', 'invalid_email'],
    ['a name with the address', 'Eve <eve@example.com>', 'x', 'invalid_email'],
    ['a line break in the label', 'a@example.com', 'x\r\nBcc: eve@example.com', 'invalid_label'],
    ['an empty label', 'a@example.com', ' ', 'invalid_label'],
  ] as const)('refuses %s and mails nobody', async ([, email, label, code]) => {
    const before = mailbox.letters.length
    expectProblem(await startAt(callerOf(server), email, label), 400, code)
    expect(mailbox.letters).toHaveLength(before)
  })

  test('five mails an hour from one caller to one address, then rate_limited; another caller still gets a code', async () => {
    const email = freshEmail()
    const caller = callerOf(server)
    for (let mails = 0; mails < 5; mails += 1) ok(await startAt(caller, email))
    const refused = await startAt(caller, email)
    expectProblem(refused, 429, 'rate_limited')
    expect(Number(headerOf(refused, 'retry-after'))).toBeLessThanOrEqual(3_600)
    expect(mailbox.to(email)).toHaveLength(5)
    ok(await startAt(callerOf(server), email))
  })

  test('ten an hour for each caller, as with any signup', async () => {
    const one = await serve({ LADE_SIGNUPS_PER_HOUR: '10' })
    const caller = callerOf(one)
    for (let starts = 0; starts < 10; starts += 1) ok(await startAt(caller, freshEmail()))
    expectProblem(await startAt(caller, freshEmail()), 429, 'rate_limited')
    ok(await startAt(callerOf(one), freshEmail()))
  })

  test('POST /api/auth/signup asks for the code, unless a token of the same address stands in for it', async () => {
    const email = freshEmail()
    const body = { email, label: 'phone' }
    expectProblem(await callerOf(server).post('/api/auth/signup', body), 403, 'email_code_required')
    const { token } = await tokenFor(email)
    const second = ok<SignupResult>(await bearing(token).post('/api/auth/signup', body))
    expect((await bearing(second.token).get('/api/usage')).status).toBe(200)
    const other = await bearing(token).post('/api/auth/signup', { ...body, email: freshEmail() })
    expectProblem(other, 403, 'email_code_required')
    expectProblem(await bearing(`${token}x`).post('/api/auth/signup', body), 401, 'invalid_token')
    expect(mailbox.to(email)).toHaveLength(1)
  })

  test('a token that stands in for the code gives no more than it has', async () => {
    const email = freshEmail()
    const { token } = await tokenFor(email, { scopes: ['list'], quotaMb: 1 })
    const narrow = ok<SignupResult>(await bearing(token).post('/api/auth/signup', { email, label: 'x' }))
    expect(narrow).toMatchObject({ scopes: ['list'], quotaMb: 1 })
    const wider = await bearing(token).post('/api/auth/signup', { email, label: 'x', scopes: ['put'] })
    expectProblem(wider, 403, 'insufficient_scope')
  })

  test('a challenge outlives a restart, with the attempts it has left', async () => {
    const dataDir = await newDataDir()
    const before = await serve({}, dataDir)
    const { challenge, code } = await begin(freshEmail(), before)
    await verifyAt(callerOf(before), challenge, otherThan(code))
    expect(await before.stop()).toBe(0)
    const after = await serve({}, dataDir)
    const refused = await verifyAt(callerOf(after), challenge, otherThan(code))
    expect(expectProblem(refused, 403, 'invalid_code')).toMatchObject({ attemptsLeft: 3 })
    ok(await verifyAt(callerOf(after), challenge, code))
  })

  test('several processes know of one challenge and take one answer', async () => {
    const one = await serve({ LADE_PROCESSES: '2' })
    const { challenge, code } = await begin(freshEmail(), one)
    const answers = await Promise.all(Array.from({ length: 12 }, () => verifyAt(callerOf(one), challenge, code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(11).fill(403)])
  })

  test('a mail server that is not there is mail_failed, and everything else goes on', async () => {
    const one = await serve({ LADE_SMTP_URL: 'smtp://127.0.0.1:1' })
    const caller = callerOf(one)
    for (let starts = 0; starts < 6; starts += 1) {
      expectProblem(await startAt(caller, 'same@example.com'), 503, 'mail_failed')
    }
    expect((await caller.get('/readyz')).status).toBe(200)
    expect((await caller.upload(sampleBytes())).status).toBe(200)
  })

  test('without a mail server to send by, the server does not start, and says why in one sentence', async () => {
    const env = { ...OWN_ENV, LADE_SIGNUP: 'email' }
    await expect(startOwnServer(env)).rejects.toThrow(
      /^LADE_SIGNUP is email, so LADE_SMTP_URL must be set to send login codes.*$/m,
    )
  })
})
