import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OWN_TOKEN_KEY } from './own-env.ts'
import { expectProblem } from './problem.ts'
import type { TokenList } from './shapes.ts'
import { sampleBytes, type User, useTarget } from './target.ts'
import { forgeToken, keyThatSigned, readToken } from './token-forge.ts'

const target = useTarget()
const jtiOf = (user: User) => readToken(user.token).payload.jti

/** Every request that reads a token. Each is made with the private file `cid` of the caller. */
const EVERYWHERE: readonly [string, (user: User, cid: string) => ReturnType<User['get']>][] = [
  ['upload', (user) => user.upload(sampleBytes())],
  ['the file list', (user) => user.get('/api/files')],
  ['one file', (user, cid) => user.get(`/api/files/${cid}`)],
  ['deletion', (user, cid) => user.request('DELETE', `/api/files/${cid}`)],
  ['sharing', (user, cid) => user.post(`/api/files/${cid}/share`, { ttlSeconds: 60 })],
  ['usage', (user) => user.get('/api/usage')],
  ['the tokens', (user) => user.get('/api/tokens')],
  ['the token list', (user) => user.get('/api/tokens/list')],
  ['revocation', (user) => user.post('/api/tokens/revoke', { jti: randomUUID() })],
  ['a private file', (user, cid) => user.retrieve(cid)],
]

async function withSecondToken(context: Parameters<typeof target.freshUser>[0]): Promise<[User, User]> {
  const first = await target.freshUser(context)
  return [first, await target.freshUser(context, { email: first.email, label: 'second' })]
}

describe('GET /api/tokens and /api/tokens/list', () => {
  test.for(['/api/tokens', '/api/tokens/list'])(
    '%s lists the tokens of the user and marks the one in use',
    async (path, context) => {
      const [first, second] = await withSecondToken(context)
      const answer = await second.get(path)
      expect(answer.status).toBe(200)
      const { tokens } = answer.json<TokenList>()
      expect(new Set(tokens.map((token) => token.jti))).toEqual(new Set([jtiOf(first), jtiOf(second)]))
      const current = tokens.filter((token) => token.current)
      expect(current).toHaveLength(1)
      expect(current[0]).toMatchObject({
        jti: jtiOf(second),
        label: 'second',
        quotaMb: target.info.tiers.token.quotaMb,
        revokedAt: null,
      })
      for (const token of tokens) {
        expect(Object.keys(token)).toEqual(
          expect.arrayContaining([
            'jti',
            'label',
            'scopes',
            'quotaMb',
            'issuedAt',
            'expiresAt',
            'lastUsedAt',
            'revokedAt',
            'current',
            'isCurrent',
            'createdAt',
          ]),
        )
        expect(token).toMatchObject({ isCurrent: token.current, createdAt: token.issuedAt })
        expect(token).not.toHaveProperty('token')
      }
    },
  )

  test('the tokens of another user are not listed', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    expect((await one.get('/api/tokens')).json<TokenList>().tokens.map((token) => token.jti)).not.toContain(jtiOf(two))
  })
})

describe('tokens are immutable', () => {
  test.for(['PUT', 'PATCH'])('refuses %s on the token paths', async (method, context) => {
    const user = await target.freshUser(context)
    for (const path of ['/api/tokens', `/api/tokens/${jtiOf(user)}`]) {
      const answer = await user.request(method, path, { json: { scopes: ['put'], quotaMb: 1 } })
      expect([404, 405], answer.body.toString()).toContain(answer.status)
    }
  })

  test('minting another token changes nothing of the first', async (context) => {
    const first = await target.freshUser(context)
    const before = (await first.get('/api/tokens')).json<TokenList>().tokens[0]
    await target.freshUser(context, { email: first.email, scopes: ['list'], quotaMb: 1 })
    const after = (await first.get('/api/tokens')).json<TokenList>().tokens.find((token) => token.current)
    expect(after).toMatchObject({ scopes: before?.scopes, quotaMb: before?.quotaMb, expiresAt: before?.expiresAt })
  })
})

describe('POST /api/tokens/revoke', () => {
  test('a revoked token is refused as revoked_token everywhere, and the other token of the user still works', async (context) => {
    const [first, second] = await withSecondToken(context)
    const { cid } = await first.stage(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    const revoked = await second.post('/api/tokens/revoke', { jti: jtiOf(first) })
    expect(revoked.status, revoked.body.toString()).toBe(200)
    expect(revoked.json<object>()).toMatchObject({ jti: jtiOf(first), revokedAt: expect.anything() })
    await target.untilRevoked()
    for (const [name, request] of EVERYWHERE) {
      const answer = await request(first, cid)
      expect(answer.json<{ error: string }>().error, name).toBe('revoked_token')
      expectProblem(answer, 401, 'revoked_token')
    }
    expect((await second.retrieve(cid)).status).toBe(200)
  })

  test('is idempotent: the second time answers the same', async (context) => {
    const [first, second] = await withSecondToken(context)
    const once = await second.post('/api/tokens/revoke', { jti: jtiOf(first) })
    const twice = await second.post('/api/tokens/revoke', { jti: jtiOf(first) })
    expect(twice.status).toBe(200)
    expect(twice.json()).toEqual(once.json())
    const { tokens } = (await second.get('/api/tokens')).json<TokenList>()
    const listed = tokens.find((token) => token.jti === jtiOf(first))
    expect(listed === undefined || listed.revokedAt !== null).toBe(true)
  })

  test('a token can revoke itself', async (context) => {
    const user = await target.freshUser(context)
    expect((await user.post('/api/tokens/revoke', { jti: jtiOf(user) })).status).toBe(200)
    await target.untilRevoked()
    expectProblem(await user.get('/api/usage'), 401, 'revoked_token')
  })

  test.for(['put', 'get', 'list', 'pin'])('a token with only %s may revoke', async (scope, context) => {
    const user = await target.freshUser(context, { scopes: [scope] })
    expect((await user.post('/api/tokens/revoke', { jti: jtiOf(user) })).status).toBe(200)
  })

  test('refuses the jti of another user as not_found, and leaves that token alive', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const foreign = await one.post('/api/tokens/revoke', { jti: jtiOf(two) })
    const unknown = await one.post('/api/tokens/revoke', { jti: randomUUID() })
    const problem = expectProblem(foreign, 404, 'not_found')
    const withoutIds = (detail: string) => detail.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'JTI')
    expect(withoutIds(expectProblem(unknown, 404, 'not_found').detail)).toBe(withoutIds(problem.detail))
    expect((await two.get('/api/usage')).status).toBe(200)
  })

  test.for([
    ['no jti', {}],
    ['an empty jti', { jti: '' }],
    ['a jti that is not a UUID', { jti: 'x' }],
    ['a jti that is a number', { jti: 1 }],
    ['a jti that is an array', { jti: ['x'] }],
    ['a jti that is null', { jti: null }],
  ] as const)('refuses %s', async ([, body], context) => {
    expectProblem(await (await target.anyUser(context)).post('/api/tokens/revoke', body), 400, 'invalid_jti')
  })

  test('refuses revocation without a token', async () => {
    expectProblem(await target.anonymous().post('/api/tokens/revoke', { jti: randomUUID() }), 401, 'no_token')
  })
})

describe('a token that another program signed with the key of the service', () => {
  test('is listed from its first use on, and is revoked by itself and by the other tokens of its user', async (context) => {
    target.needsOwnServer(context, 'needs the signing key')
    const user = await target.freshUser(context)
    const { header, payload } = readToken(user.token)
    const key = keyThatSigned(user.token, OWN_TOKEN_KEY)
    const issued = () => {
      const jti = randomUUID()
      const token = forgeToken(header, { ...payload, jti }, key)
      return { jti, caller: target.anonymous().with({ Authorization: `Bearer ${token}` }) }
    }
    const listed = async () => (await user.get('/api/tokens')).json<TokenList>().tokens
    const [one, two] = [issued(), issued()]
    expect((await listed()).map(({ jti }) => jti)).not.toContain(one.jti)
    expect((await one.caller.get('/api/usage')).status).toBe(200)
    expect(await listed()).toContainEqual(expect.objectContaining({ jti: one.jti, revokedAt: null, current: false }))
    expect((await user.post('/api/tokens/revoke', { jti: one.jti })).status).toBe(200)
    // Its first request of all.
    expect((await two.caller.post('/api/tokens/revoke', { jti: two.jti })).status).toBe(200)
    await target.untilRevoked()
    for (const { caller } of [one, two]) expectProblem(await caller.get('/api/usage'), 401, 'revoked_token')
  })
})

describe('rotation (rule 7)', () => {
  test('mint a new token by signup, revoke the old jti with it: files and usage stay with the user', async (context) => {
    const old = await target.freshUser(context)
    const { cid } = await old.stage(sampleBytes(123))
    const renewed = await target.freshUser(context, { email: old.email })
    expect((await renewed.post('/api/tokens/revoke', { jti: jtiOf(old) })).status).toBe(200)
    await target.untilRevoked()
    expectProblem(await old.get('/api/files'), 401, 'revoked_token')
    expect((await renewed.files()).files.map((file) => file.cid)).toEqual([cid])
    expect((await renewed.usage()).today.bytes).toBe(123)
  })
})
