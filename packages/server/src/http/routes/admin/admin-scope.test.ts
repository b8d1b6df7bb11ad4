import { randomUUID } from 'node:crypto'
import type { AdminOverview, Scope, SignupResult, TokenList } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { TestBrowser } from '../../../testing/running/test-browser.ts'

const ALL = ['put', 'get', 'list', 'pin'] as const

const OPEN_TO_ALL = { LADE_HOST: '0.0.0.0' }

const errorOf = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error]

const overview = (service: RunningService, token: string): Promise<Response> =>
  service.fetch('/api/admin/overview', { headers: bearer(token) })

const post = (service: RunningService, path: string, json: object, token?: string): Promise<Response> =>
  service.fetch(path, {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { 'content-type': 'application/json', ...bearer(token) },
  })

describe('the scope admin', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService()
  })
  afterAll(() => service.remove())

  const usage = async (token: string) => (await service.fetch('/api/usage', { headers: bearer(token) })).status

  it('opens the overview, alone and beside others', async () => {
    for (const scopes of [['admin'], [...ALL, 'admin']] satisfies Scope[][]) {
      const response = await overview(service, await service.mint(scopes))
      expect(response.status).toBe(200)
      expect(((await response.json()) as AdminOverview).days).toHaveLength(30)
    }
  })

  it('is not what any other token has', async () => {
    const { token } = await service.signUp()
    expect(await errorOf(await overview(service, token))).toEqual([403, 'insufficient_scope'])
    expect(await errorOf(await overview(service, await service.mint(ALL)))).toEqual([403, 'insufficient_scope'])
    expect(await errorOf(await service.fetch('/api/admin/overview'))).toEqual([401, 'no_token'])
  })

  it('opens nothing else', async () => {
    expect(await usage(await service.mint(['admin']))).toBe(403)
  })

  it('is given by no signup', async () => {
    for (const scopes of [['admin'], ['list', 'admin']]) {
      const response = await post(service, '/api/auth/signup', { email: 'ops@example.org', label: 'x', scopes })
      expect(await errorOf(response)).toEqual([400, 'invalid_scopes'])
    }
    const admin = await service.mint(['admin', 'list'])
    const response = await post(service, '/api/auth/signup', { email: 'ops@example.org', label: 'x' }, admin)
    expect(((await response.json()) as { scopes: Scope[] }).scopes).not.toContain('admin')
  })

  it('is that of a session made from such a token, until the token is revoked, and of no other session', async () => {
    const jti = randomUUID()
    const token = await service.mint(['admin'], { jti })
    const signIn = async (proof: object) => {
      const origin = new URL(service.url).origin
      const response = await service.fetch('/api/session', {
        method: 'POST',
        body: JSON.stringify(proof),
        headers: { 'content-type': 'application/json', origin },
      })
      const { session } = (await response.json()) as { session: { scopes: Scope[] } }
      const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
      return { scopes: session.scopes, cookie }
    }
    const read = (cookie: string) => service.fetch('/api/admin/overview', { headers: { cookie } })
    const { scopes, cookie } = await signIn({ token })
    expect(scopes).toEqual(['admin'])
    expect((await read(cookie)).status).toBe(200)
    const change = { method: 'PUT', body: '{"dailyMb":1}', headers: { cookie, 'content-type': 'application/json' } }
    const limits = '/api/admin/principals/192.0.2.7/limits'
    expect(await errorOf(await service.fetch(limits, change))).toEqual([403, 'foreign_origin'])
    const other = await signIn({ token: (await service.signUp('plain@example.org')).token })
    expect(await errorOf(await read(other.cookie))).toEqual([403, 'insufficient_scope'])
    expect((await post(service, '/api/tokens/revoke', { jti }, token)).status).toBe(200)
    expect((await read(cookie)).status).toBe(401)
  })

  it('is given by no session of a signup, and no session passes it on', async () => {
    const make = (browser: TestBrowser, wishes: object = {}) =>
      browser.fetch('/api/auth/signup', { method: 'POST', json: { email: 'ops@example.org', label: 'x', ...wishes } })
    const open = new TestBrowser(service)
    await open.signIn({ email: 'ops@example.org' })
    expect(await errorOf(await open.fetch('/api/admin/overview'))).toEqual([403, 'insufficient_scope'])

    const browser = new TestBrowser(service)
    await browser.signIn({ token: await service.mint(['admin', 'list']) })
    for (const one of [open, browser])
      for (const scopes of [['admin'], ['list', 'admin']])
        expect(await errorOf(await make(one, { scopes }))).toEqual([400, 'invalid_scopes'])
    const { token, scopes } = (await (await make(browser)).json()) as SignupResult
    expect(scopes).toEqual(['list'])
    expect(await errorOf(await overview(service, token))).toEqual([403, 'insufficient_scope'])
  })

  it('is listed with the token that has it', async () => {
    const token = await service.mint(['list', 'admin'], { email: 'listed@example.org' })
    const { tokens } = (await (await service.fetch('/api/tokens', { headers: bearer(token) })).json()) as TokenList
    expect(tokens.map(({ scopes }) => scopes)).toEqual([['list', 'admin']])
  })

  it('keeps a token from being revoked by others of its user', async () => {
    const jti = randomUUID()
    const admin = await service.mint(['admin', 'list'], { jti })
    expect(await usage(admin)).toBe(200)
    const { token } = await service.signUp('ops@example.org')
    expect(await errorOf(await post(service, '/api/tokens/revoke', { jti }, token))).toEqual([
      403,
      'insufficient_scope',
    ])
    expect(await usage(admin)).toBe(200)
    expect((await post(service, '/api/tokens/revoke', { jti }, await service.mint(['admin']))).status).toBe(200)
    expect(await usage(admin)).toBe(401)
  })

  it('lets a token revoke itself, and every token of others', async () => {
    const [own, others] = [randomUUID(), randomUUID()]
    const admin = await service.mint(['admin'], { jti: own })
    const ada = await service.mint(['list'], { jti: others, email: 'ada@example.org' })
    expect(await usage(ada)).toBe(200)
    expect((await post(service, '/api/tokens/revoke', { jti: others }, admin)).status).toBe(200)
    expect(await usage(ada)).toBe(401)
    expect((await post(service, '/api/tokens/revoke', { jti: own }, admin)).status).toBe(200)
    expect(await errorOf(await overview(service, admin))).toEqual([401, 'revoked_token'])
  })
})

describe('the scope admin, where anyone can sign up from another machine', () => {
  it('is refused, and the other scopes of its token are not', async () => {
    const service = await runService({ env: OPEN_TO_ALL })
    try {
      const jti = randomUUID()
      const token = await service.mint(['list', 'admin'], { jti })
      const response = await overview(service, token)
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({
        error: 'admin_refused',
        setting: 'LADE_SIGNUP',
        detail:
          'LADE_SIGNUP is open, and this service can be reached from other machines. Set it to email or closed, then send the token again.',
      })
      expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
      const other = await service.mint(['admin'])
      expect((await post(service, '/api/tokens/revoke', { jti }, other)).status).toBe(403)
      expect((await post(service, '/api/tokens/revoke', { jti }, token)).status).toBe(200)
    } finally {
      await service.remove()
    }
  })

  it('works once signup is closed', async () => {
    const service = await runService({ env: { ...OPEN_TO_ALL, LADE_SIGNUP: 'closed' } })
    try {
      expect((await overview(service, await service.mint(['admin']))).status).toBe(200)
    } finally {
      await service.remove()
    }
  })
})
