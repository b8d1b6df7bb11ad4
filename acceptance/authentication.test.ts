/**
 * Authentication rules 1 to 8 of the source document.
 *
 * Elsewhere: rule 1 and 3 (scopes) in scopes.test.ts; the query form of rule 2 in query-token.test.ts; revocation (4) and
 * rotation of tokens (7) in tokens.test.ts; rotation of the key (5) in server-variants.test.ts.
 */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { OWN_TOKEN_KEY } from './own-env.ts'
import { expectProblem } from './problem.ts'
import { exchangeRaw, head } from './raw-http.ts'
import type { Problem, UploadResult } from './shapes.ts'
import { sampleBytes, type User, useTarget } from './target.ts'
import { forgeToken, keyThatSigned, readToken } from './token-forge.ts'

const target = useTarget()

const bearing = (authorization: string) => target.anonymous().with({ Authorization: authorization })
const bearingToken = (token: string) => bearing(`Bearer ${token}`)

describe('rule 2: the token in the Authorization header', () => {
  test('Bearer and the token, with one space', async (context) => {
    const user = await target.anyUser(context)
    expect((await bearingToken(user.token).get('/api/usage')).status).toBe(200)
  })

  test.for([
    ['the token without its prefix', (token: string) => `Bearer ${token.slice('pk_live_'.length)}`],
    ['a doubled prefix', (token: string) => `Bearer pk_live_${token}`],
    ['another prefix', (token: string) => `Bearer pk_test_${token.slice('pk_live_'.length)}`],
    ['the prefix in upper case', (token: string) => `Bearer PK_LIVE_${token.slice('pk_live_'.length)}`],
    ['no scheme', (token: string) => token],
    ['the Basic scheme', (token: string) => `Basic ${Buffer.from(`user:${token}`).toString('base64')}`],
    ['two tokens', (token: string) => `Bearer ${token} ${token}`],
    ['two credentials in a list', (token: string) => `Bearer ${token}, Bearer ${token}`],
    ['something after the token', (token: string) => `Bearer ${token} x`],
    ['quotes around the token', (token: string) => `Bearer "${token}"`],
    ['a token of 12 KiB', (token: string) => `Bearer ${token}${'A'.repeat(12_288)}`],
  ] as const)('refuses %s', async ([, spell], context) => {
    const user = await target.anyUser(context)
    expectProblem(await bearing(spell(user.token)).get('/api/usage'), 401, 'invalid_token')
  })

  test('refuses two Authorization headers', async (context) => {
    const user = await target.anyUser(context)
    const credential = `Authorization: Bearer ${user.token}`
    const raw = await exchangeRaw(
      target.directUrl,
      head('GET /api/usage HTTP/1.1', `Host: ${target.directUrl.host}`, credential, credential, 'Connection: close'),
    )
    expect([400, 401]).toContain(raw.first?.status)
    expect(['bad_request', 'invalid_token']).toContain((JSON.parse(raw.first?.body ?? '{}') as Problem).error)
  })
})

/** Spellings of the same signature bits that a lax decoder reads as equal. */
const RESPELLED: readonly [string, (token: string) => string][] = [
  ['padding at the end', (token) => `${token}=`],
  ['a trailing dot', (token) => `${token}.`],
  ['a fourth part', (token) => `${token}.AAAA`],
  ['only two parts', (token) => token.slice(0, token.lastIndexOf('.'))],
  ['an empty signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)],
  [
    'unused bits set in the last character of the signature',
    (token) => {
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) ^ 1)
    },
  ],
  ['a changed signature', (token) => token.slice(0, -5) + (token.at(-5) === 'A' ? 'B' : 'A') + token.slice(-4)],
  [
    'a changed payload',
    (token) => {
      const { parts, payload } = readToken(token)
      const raised = Buffer.from(JSON.stringify({ ...payload, quotaMb: 999_999 })).toString('base64url')
      return `pk_live_${parts[0]}.${raised}.${parts[2]}`
    },
  ],
  [
    'the parts in another order',
    (token) => {
      const { parts } = readToken(token)
      return `pk_live_${parts[1]}.${parts[0]}.${parts[2]}`
    },
  ],
  [
    'the base64 alphabet in place of base64url',
    (token) => {
      const { parts } = readToken(token)
      return `pk_live_${parts.map((part) => Buffer.from(part, 'base64url').toString('base64')).join('.')}`
    },
  ],
]

describe('rule 4: the signature is verified on each request', () => {
  test.for(RESPELLED)('refuses %s', async ([, respell], context) => {
    const user = await target.anyUser(context)
    expectProblem(await bearingToken(respell(user.token)).get('/api/usage'), 401, 'invalid_token')
  })

  test('refuses any single changed character', async (context) => {
    const user = await target.anyUser(context)
    const accepted: number[] = []
    for (let at = 'pk_live_'.length; at < user.token.length; at += 7) {
      const other = user.token.charAt(at) === 'x' ? 'y' : 'x'
      const answer = await bearingToken(user.token.slice(0, at) + other + user.token.slice(at + 1)).get('/api/usage')
      if (answer.status !== 401) accepted.push(at)
    }
    expect(accepted).toEqual([])
  })

  test.for([
    ['alg none and no signature', 'none'],
    ['alg None and no signature', 'None'],
    ['alg nOnE and no signature', 'nOnE'],
    ['an empty alg and no signature', ''],
  ])('refuses %s', async ([, alg], context) => {
    const { payload } = readToken((await target.anyUser(context)).token)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `pk_live_${encode({ alg, typ: 'JWT' })}.${encode(payload)}.`
    expectProblem(await bearingToken(token).get('/api/usage'), 401, 'invalid_token')
  })

  test('rule 6: refuses a token that someone else signed', async (context) => {
    const { header, payload } = readToken((await target.anyUser(context)).token)
    for (const key of ['', 'secret', '0'.repeat(64), target.baseUrl.host]) {
      const token = forgeToken(header, payload, Buffer.from(key))
      expectProblem(await bearingToken(token).get('/api/usage'), 401, 'invalid_token')
    }
  })
})

describe('rule 4: what is signed with the right key', () => {
  /** A user's token parts and the key, which the suite configured. */
  async function signing(context: Parameters<typeof target.freshUser>[0]) {
    target.needsOwnServer(context, 'needs the signing key')
    const user: User = await target.freshUser(context)
    return { ...readToken(user.token), key: keyThatSigned(user.token, OWN_TOKEN_KEY) }
  }

  test('the same header and payload signed again are accepted, so that the refusals below mean something', async (context) => {
    const { header, payload, key } = await signing(context)
    expect((await bearingToken(forgeToken(header, payload, key)).get('/api/usage')).status).toBe(200)
  })

  test('refuses an expired token as invalid_token', async (context) => {
    const { header, payload, key } = await signing(context)
    const now = Math.floor(Date.now() / 1_000)
    const expired = forgeToken(header, { ...payload, iat: now - 7_200, exp: now - 3_600 }, key)
    expectProblem(await bearingToken(expired).get('/api/usage'), 401, 'invalid_token')
    expectProblem(await bearingToken(expired).upload(sampleBytes()), 401, 'invalid_token')
  })

  test.for([
    ['alg HS384', { alg: 'HS384', typ: 'JWT' }, 'sha384'],
    ['alg HS512', { alg: 'HS512', typ: 'JWT' }, 'sha512'],
    ['alg HS512 over a sha-256 signature', { alg: 'HS512', typ: 'JWT' }, 'sha256'],
    ['alg RS256', { alg: 'RS256', typ: 'JWT' }, 'sha256'],
    ['alg hs256 in lower case', { alg: 'hs256', typ: 'JWT' }, 'sha256'],
    ['alg null', { alg: null, typ: 'JWT' }, 'sha256'],
    ['alg as an array', { alg: ['HS256'], typ: 'JWT' }, 'sha256'],
    ['no alg', { typ: 'JWT' }, 'sha256'],
    ['no typ', { alg: 'HS256' }, 'sha256'],
    ['another typ', { alg: 'HS256', typ: 'at+jwt' }, 'sha256'],
    ['crit', { alg: 'HS256', typ: 'JWT', crit: ['exp'] }, 'sha256'],
    ['b64 false', { alg: 'HS256', typ: 'JWT', b64: false, crit: ['b64'] }, 'sha256'],
  ] as const)('refuses a header with %s', async ([, header, hash], context) => {
    const { payload, key } = await signing(context)
    expectProblem(await bearingToken(forgeToken(header, payload, key, hash)).get('/api/usage'), 401, 'invalid_token')
  })

  const later = 4_102_444_800
  test.for([
    ['no exp', { exp: undefined }],
    ['exp as text', { exp: String(later) }],
    ['exp null', { exp: null }],
    ['exp with a fraction', { exp: later + 0.5 }],
    ['exp negative', { exp: -1 }],
    ['exp beyond exact integers', { exp: 2 ** 53 }],
    ['no iat', { iat: undefined }],
    ['iat as text', { iat: '1' }],
    ['no jti', { jti: undefined }],
    ['jti as a number', { jti: 5 }],
    ['jti empty', { jti: '' }],
    ['no sub', { sub: undefined }],
    ['sub as an array', { sub: ['a'] }],
    ['no scopes', { scopes: undefined }],
    ['scopes as text', { scopes: 'put get list pin' }],
    ['scopes as an object', { scopes: { list: true } }],
    ['nested scopes', { scopes: [['list']] }],
    ['scopes of numbers', { scopes: [1] }],
    ['no quotaMb', { quotaMb: undefined }],
    ['quotaMb as text', { quotaMb: '1024' }],
    ['quotaMb negative', { quotaMb: -1 }],
    ['quotaMb with a fraction', { quotaMb: 0.5 }],
  ] as const)('refuses a payload with %s', async ([, changes], context) => {
    const { header, payload, key } = await signing(context)
    const token = forgeToken(header, { ...payload, ...changes }, key)
    expectProblem(await bearingToken(token).get('/api/usage'), 401, 'invalid_token')
  })

  test.for([['["list"]'], ['"text"'], ['null'], ['7'], ['{"sub":'], ['']])(
    'refuses the payload %s',
    async ([payload = ''], context) => {
      const { header, key } = await signing(context)
      const encode = (text: string) => Buffer.from(text).toString('base64url')
      const signed = `${encode(JSON.stringify(header))}.${encode(payload)}`
      const token = `pk_live_${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
      expectProblem(await bearingToken(token).get('/api/usage'), 401, 'invalid_token')
    },
  )

  test.for([[['LIST']], [['*']], [['constructor']], [['__proto__']], [[]]])(
    'scopes %j open nothing',
    async ([scopes], context) => {
      const { header, payload, key } = await signing(context)
      const answer = await bearingToken(forgeToken(header, { ...payload, scopes }, key)).get('/api/usage')
      expect([401, 403], answer.body.toString()).toContain(answer.status)
      expect(['invalid_token', 'insufficient_scope']).toContain(answer.json<Problem>().error)
    },
  )
})

describe('rule 8: the wallet tier', () => {
  test('a wallet signature that does not verify never makes a wallet the owner', async () => {
    const answer = await target.anonymous().upload(sampleBytes(), {
      headers: {
        'Signature-Input':
          'eth=("@method" "@authority");created=1;keyid="erc8128:1:0x0000000000000000000000000000000000000001"',
        Signature: `eth=:${Buffer.alloc(65, 1).toString('base64')}:`,
      },
    })
    if (answer.status === 200) expect(answer.json<UploadResult>()).toMatchObject({ sponsored: true, owner: null })
    else expectProblem(answer, 401, 'invalid_signature')
  })
})

/** Requests that need no token. */
const OPEN: readonly [string, (caller: Caller, cid: string, query: string) => ReturnType<Caller['get']>][] = [
  ['retrieval', (caller, cid, query) => caller.get(`/p/${cid}${query}`)],
  ['the gateway', (caller, cid, query) => caller.get(`/ipfs/${cid}${query === '' ? '?' : `${query}&`}format=raw`)],
  ['/api/info', (caller, _cid, query) => caller.get(`/api/info${query}`)],
]

describe('a token where none is needed', () => {
  test.for(OPEN)('is checked: %s', async ([, request], context) => {
    const user = await target.anyUser(context)
    const { cid } = await user.stage(sampleBytes())
    expect((await request(user, cid, '')).status).toBe(200)
    expect((await request(target.anonymous(), cid, `?token=${user.token}`)).status).toBe(200)
    const damaged = `${user.token.slice(0, -2)}xx`
    expectProblem(await request(bearingToken(damaged), cid, ''), 401, 'invalid_token')
    expectProblem(await request(target.anonymous(), cid, `?token=${damaged}`), 401, 'invalid_token')
  })

  test.for(OPEN)('credentials of another kind are ignored: %s', async ([, request], context) => {
    const { cid } = await (await target.anyUser(context)).stage(sampleBytes())
    for (const credentials of ['Basic YWRhOnNlY3JldA==', 'Bearer of-a-proxy']) {
      expect((await request(bearing(credentials), cid, '')).status).toBe(200)
      expectProblem(await bearing(credentials).upload(sampleBytes()), 401, 'invalid_token')
    }
  })

  test('is checked at signup', async () => {
    const body = { email: 'nobody@example.com', label: 'x' }
    expectProblem(await bearingToken('pk_live_a.b.c').post('/api/auth/signup', body), 401, 'invalid_token')
  })
})
