import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const SCOPES = ['put', 'get', 'list', 'pin'] as const
type Scope = (typeof SCOPES)[number]

/** Every endpoint that needs a token, the one scope that opens it, and what it answers then. */
const ENDPOINTS: readonly {
  name: string
  scope: Scope
  status: number
  call: (caller: Caller, cid: string) => ReturnType<Caller['get']>
}[] = [
  { name: 'POST /api/upload', scope: 'put', status: 200, call: (caller) => caller.upload(sampleBytes()) },
  { name: 'GET /p/{cid} of a private file', scope: 'get', status: 200, call: (caller, cid) => caller.retrieve(cid) },
  {
    name: 'HEAD /p/{cid} of a private file',
    scope: 'get',
    status: 200,
    call: (caller, cid) => caller.retrieve(cid, { method: 'HEAD' }),
  },
  {
    name: 'POST /api/files/{cid}/share',
    scope: 'get',
    status: 200,
    call: (caller, cid) => caller.post(`/api/files/${cid}/share`, { ttlSeconds: 60 }),
  },
  { name: 'GET /api/files', scope: 'list', status: 200, call: (caller) => caller.get('/api/files') },
  { name: 'GET /api/files/{cid}', scope: 'list', status: 200, call: (caller, cid) => caller.get(`/api/files/${cid}`) },
  { name: 'GET /api/usage', scope: 'list', status: 200, call: (caller) => caller.get('/api/usage') },
  { name: 'GET /api/tokens', scope: 'list', status: 200, call: (caller) => caller.get('/api/tokens') },
  { name: 'GET /api/tokens/list', scope: 'list', status: 200, call: (caller) => caller.get('/api/tokens/list') },
  {
    name: 'DELETE /api/files/{cid}',
    scope: 'pin',
    status: 200,
    call: (caller, cid) => caller.request('DELETE', `/api/files/${cid}`),
  },
]

describe.for(ENDPOINTS)('$name', ({ name, scope, status, call }) => {
  test.for(SCOPES)(`with only the scope %s: ${scope} opens it, every other scope is refused`, async (held, context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    const narrow = await target.freshUser(context, { email: user.email, scopes: [held] })
    const answer = await call(narrow, cid)
    if (held === scope) expect([status, 204], answer.body.toString()).toContain(answer.status)
    else if (name.startsWith('HEAD')) expect(answer.status).toBe(403)
    else expect(expectProblem(answer, 403, 'insufficient_scope')).toMatchObject({ required: scope })
  })

  test('with every scope but the one that it needs it is refused', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    const others = SCOPES.filter((one) => one !== scope)
    const narrow = await target.freshUser(context, { email: user.email, scopes: others })
    expect((await call(narrow, cid)).status).toBe(403)
  })

  test('without a token', async (context) => {
    if (name === 'POST /api/upload') {
      expect((await target.anonymous().upload(sampleBytes())).status).toBe(200)
      return
    }
    const user = await target.anyUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    const answer = await call(target.anonymous(), cid)
    // A private file is not there for anybody else.
    const isRetrieval = name.includes('/p/')
    if (name.startsWith('HEAD')) expect(answer.status).toBe(isRetrieval ? 404 : 401)
    else if (isRetrieval) expectProblem(answer, 404, 'not_found')
    else expectProblem(answer, 401, 'no_token')
  })

  test('with a token that is not one', async (context) => {
    const user = await target.anyUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    const answer = await call(target.anonymous().with({ Authorization: 'Bearer pk_live_a.b.c' }), cid)
    if (name.startsWith('HEAD')) expect(answer.status).toBe(401)
    else expectProblem(answer, 401, 'invalid_token')
  })
})

describe('what needs no scope', () => {
  test('public retrieval needs no token at all', async () => {
    const bytes = sampleBytes()
    const { cid } = await target.anonymous().stage(bytes)
    expect((await target.anonymous().retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test('a token without get reads public files', async (context) => {
    const bytes = sampleBytes()
    const { cid } = await target.anonymous().stage(bytes)
    const user = await target.freshUser(context, { scopes: ['put'] })
    expect((await user.retrieve(cid)).status).toBe(200)
  })

  test('revocation needs a token of the user and no scope of its own', async (context) => {
    const user = await target.freshUser(context, { scopes: ['put'] })
    expectProblem(await user.post('/api/tokens/revoke', { jti: randomUUID() }), 404, 'not_found')
  })
})
