import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { expectProblem } from './problem.ts'
import type { SignupResult, TokenList } from './shapes.ts'
import { useTarget } from './target.ts'
import { readToken } from './token-forge.ts'

const target = useTarget()
const SCOPES = ['put', 'get', 'list', 'pin']
const DAY_SECONDS = 86_400
const freshEmail = () => `acceptance-${randomBytes(8).toString('hex')}@example.com`

describe('POST /api/auth/signup', () => {
  test('answers every field of the signup result, without credentials', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    const email = freshEmail()
    const answer = await target.anonymous().post('/api/auth/signup', { email, label: 'laptop' })
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(headerOf(answer, 'cache-control')).toContain('no-store')
    const result = answer.json<SignupResult>()
    expect(result).toMatchObject({ email, quotaMb: target.info.tiers.token.quotaMb })
    expect(new Set(result.scopes)).toEqual(new Set(SCOPES))
    expect(result.userId).toBe(createHash('sha256').update(email).digest('hex').slice(0, 16))
    expect(Date.parse(result.expiresAt)).toBe(readToken(result.token).payload.exp * 1_000)
  })

  test('the user id is of the trimmed, lower-cased email', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    const email = freshEmail()
    const spelled = `  ${email.replace('acceptance', 'ACCEPTANCE').replace('example', 'Example')} `
    const answer = await target.anonymous().post('/api/auth/signup', { email: spelled, label: 'laptop' })
    expect(answer.json<SignupResult>().userId).toBe(createHash('sha256').update(email).digest('hex').slice(0, 16))
  })

  test('a second signup of one email mints another token, and both work', async (context) => {
    const first = await target.freshUser(context)
    const second = await target.freshUser(context, { email: first.email, label: 'phone' })
    expect(second.userId).toBe(first.userId)
    expect(readToken(second.token).payload.jti).not.toBe(readToken(first.token).payload.jti)
    for (const user of [first, second]) expect((await user.get('/api/usage')).status).toBe(200)
    const { tokens } = (await first.get('/api/tokens')).json<TokenList>()
    expect(tokens.map((token) => token.label).sort()).toEqual(['acceptance', 'phone'])
  })

  test('scopes narrow, in the token and in the answer', async (context) => {
    const user = await target.freshUser(context, { scopes: ['list'] })
    expect(readToken(user.token).payload.scopes).toEqual(['list'])
  })

  test('quotaMb lowers, and above the limit it is refused with the limit', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    const { quotaMb } = target.info.tiers.token
    const lower = await target.freshUser(context, { quotaMb: 1 })
    expect(readToken(lower.token).payload.quotaMb).toBe(1)
    const answer = await target
      .anonymous()
      .post('/api/auth/signup', { email: freshEmail(), label: 'x', quotaMb: quotaMb * 1_000 })
    const { detail } = expectProblem(answer, 400, 'bad_request')
    expect(detail).toContain(`quotaMb is ${quotaMb * 1_000}; the limit is ${quotaMb}.`)
  })

  test('ttlDays shortens, and above the limit it is refused with the limit', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    const lifeOf = (token: string) => readToken(token).payload.exp - readToken(token).payload.iat
    const usual = lifeOf((await target.freshUser(context)).token)
    expect(usual).toBeLessThanOrEqual(365 * DAY_SECONDS)
    expect(lifeOf((await target.freshUser(context, { ttlDays: 1 })).token)).toBe(DAY_SECONDS)
    const answer = await target
      .anonymous()
      .post('/api/auth/signup', { email: freshEmail(), label: 'x', ttlDays: 100_000 })
    expect(expectProblem(answer, 400, ['invalid_json', 'bad_request']).detail).toContain('365')
  })

  test.for([
    ['no email', { label: 'x' }, 'invalid_email'],
    ['an empty email', { email: '', label: 'x' }, 'invalid_email'],
    ['an email without an at sign', { email: 'nobody', label: 'x' }, 'invalid_email'],
    ['an email without a domain', { email: 'nobody@', label: 'x' }, 'invalid_email'],
    ['an email with a line break', { email: 'a@example.com\nBcc: b@example.com', label: 'x' }, 'invalid_email'],
    ['an email of 10,000 characters', { email: `${'a'.repeat(10_000)}@example.com`, label: 'x' }, 'invalid_email'],
    ['an email that is a number', { email: 1, label: 'x' }, 'invalid_email'],
    ['an email that is an array', { email: ['a@example.com'], label: 'x' }, 'invalid_email'],
    ['no label', { email: 'a@example.com' }, 'invalid_label'],
    ['an empty label', { email: 'a@example.com', label: '' }, 'invalid_label'],
    ['a label that is a number', { email: 'a@example.com', label: 7 }, 'invalid_label'],
    ['a label of 10,000 characters', { email: 'a@example.com', label: 'x'.repeat(10_000) }, 'invalid_label'],
    ['an unknown scope', { email: 'a@example.com', label: 'x', scopes: ['put', 'admin'] }, 'invalid_scopes'],
    ['a scope in upper case', { email: 'a@example.com', label: 'x', scopes: ['PUT'] }, 'invalid_scopes'],
    ['the scope of a prototype', { email: 'a@example.com', label: 'x', scopes: ['constructor'] }, 'invalid_scopes'],
    ['scopes as one string', { email: 'a@example.com', label: 'x', scopes: 'put' }, 'invalid_scopes'],
    ['nested scopes', { email: 'a@example.com', label: 'x', scopes: [['put']] }, 'invalid_scopes'],
    ['a wildcard scope', { email: 'a@example.com', label: 'x', scopes: ['*'] }, 'invalid_scopes'],
  ] as const)('refuses %s', async ([, body, code]) => {
    expectProblem(await target.anonymous().post('/api/auth/signup', body), 400, code)
  })

  test.for([
    ['quotaMb', -1],
    ['quotaMb', 0.5],
    ['quotaMb', '1'],
    ['ttlDays', 0],
    ['ttlDays', -1],
    ['ttlDays', '1'],
  ] as const)('refuses %s: %j', async ([field, value]) => {
    const answer = await target
      .anonymous()
      .post('/api/auth/signup', { email: freshEmail(), label: 'x', [field]: value })
    expectProblem(answer, 400, ['invalid_json', 'bad_request'])
  })

  test('fields that a caller may not choose change nothing', async (context) => {
    target.needsOwnServer(context, 'needs as many signups as it likes')
    const answer = await target.anonymous().post('/api/auth/signup', {
      email: freshEmail(),
      label: 'x',
      sub: 'root',
      userId: 'root',
      jti: '00000000-0000-4000-8000-000000000000',
      admin: true,
      exp: 9_999_999_999,
      iat: 1,
    })
    if (answer.status !== 200) return void expectProblem(answer, 400, ['invalid_json', 'bad_request'])
    const { payload } = readToken(answer.json<SignupResult>().token)
    expect(payload.sub).toMatch(/^[0-9a-f]{16}$/)
    expect(payload.jti).not.toBe('00000000-0000-4000-8000-000000000000')
    expect(payload.exp).toBeLessThan(9_999_999_999)
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(60)
    expect(payload).not.toHaveProperty('admin')
  })

  test('the token is shown in this answer only', async (context) => {
    const user = await target.freshUser(context)
    for (const path of ['/api/tokens', '/api/tokens/list', '/api/usage', '/api/files']) {
      const text = (await user.get(path)).body.toString()
      expect(text).not.toContain('pk_live_')
      expect(text).not.toContain(user.token.slice(-43))
    }
  })
})

describe('token fields', () => {
  test('a token is pk_live_ and a JWT of three parts whose payload has exactly the documented types', async (context) => {
    const user = await target.freshUser(context)
    expect(user.token).toMatch(/^pk_live_[\w-]+\.[\w-]+\.([\w-]{43}|[\w-]{342,})$/)
    const { header, payload } = readToken(user.token)
    expect(header).toMatchObject({ alg: target.info.tokenAlg, typ: 'JWT' })
    expect(payload).toMatchObject({
      sub: createHash('sha256').update(user.email).digest('hex').slice(0, 16),
      email: user.email,
      quotaMb: target.info.tiers.token.quotaMb,
    })
    expect(new Set(payload.scopes)).toEqual(new Set(SCOPES))
    expect(payload.jti).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    for (const value of [payload.quotaMb, payload.iat, payload.exp]) expect(Number.isInteger(value)).toBe(true)
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(60)
    expect(payload.exp).toBeGreaterThan(payload.iat)
  })
})
