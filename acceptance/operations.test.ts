import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import type { ServiceInfo } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

interface OpenApi {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>
}

const DOCUMENTED: readonly [string, string][] = [
  ['post', '/api/auth/signup'],
  ['get', '/api/tokens'],
  ['get', '/api/tokens/list'],
  ['post', '/api/tokens/revoke'],
  ['post', '/api/upload'],
  ['get', '/api/files'],
  ['get', '/api/files/{cid}'],
  ['delete', '/api/files/{cid}'],
  ['post', '/api/files/{cid}/share'],
  ['get', '/api/usage'],
  ['get', '/p/{cid}'],
  ['get', '/healthz'],
  ['get', '/readyz'],
  ['get', '/api/info'],
]
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']

test('GET /healthz answers 200 while the process lives', async () => {
  expect((await target.anonymous().get('/healthz')).status).toBe(200)
})

test('GET /readyz answers 200 and names each dependency', async () => {
  const answer = await target.anonymous().get('/readyz')
  expect(answer.status, answer.body.toString()).toBe(200)
  const text = JSON.stringify(answer.json())
  expect(text).toMatch(/storage|blobs/i)
  expect(text).toMatch(/database|records/i)
})

test('GET /readyz says how old the signing key is, which is no reason not to be ready', async () => {
  const { signingKey } = (await target.anonymous().get('/readyz')).json<{ signingKey: Record<string, unknown> }>()
  expect(['HS256', 'RS256']).toContain(signingKey.alg)
  expect(typeof signingKey.overdue).toBe('boolean')
  expect(signingKey.ageDays).toSatisfy((age) => age === null || Number.isInteger(age))
})

test('GET /.well-known/jwks.json has a public key exactly where tokens are signed with a key pair', async () => {
  const answer = await target.anonymous().get('/.well-known/jwks.json')
  expect(answer.status).toBe(target.info.tokenAlg === 'RS256' ? 200 : 404)
})

test('GET /api/info answers version, tiers, limits and signup without credentials', async () => {
  const answer = await target.anonymous().get('/api/info')
  expect(answer.status).toBe(200)
  const info = answer.json<ServiceInfo>()
  expect(info.version).toMatch(/^\d+\.\d+\.\d+/)
  expect(['open', 'email', 'closed']).toContain(info.signup)
  const positive = expect.toSatisfy((value: unknown) => Number.isInteger(value) && Number(value) > 0)
  expect(info.tiers).toMatchObject({
    sponsored: { fileBytes: positive, dailyBytes: positive, concurrency: positive, termDays: positive },
    token: { fileBytes: positive, quotaMb: positive, concurrency: positive, termDays: positive },
  })
})

describe('GET /openapi.json', () => {
  const read = async () => {
    const answer = await target.anonymous().get('/openapi.json')
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-type')).toMatch(/^application\/(openapi\+)?json\b/)
    return answer.json<OpenApi>()
  }

  test('is OpenAPI 3.1 with a title and a version', async () => {
    const document = await read()
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: expect.stringMatching(/\S/), version: expect.stringMatching(/\S/) })
  })

  test.for(DOCUMENTED)('documents %s %s with its answers', async ([method, path]) => {
    const operation = (await read()).paths[path]?.[method]
    expect(operation, `${method} ${path}`).toBeDefined()
    expect(Object.keys(operation?.responses ?? {}).length).toBeGreaterThan(0)
  })

  test('documents the errors of an upload', async () => {
    const responses = Object.keys((await read()).paths['/api/upload']?.post?.responses ?? {})
    expect(responses).toEqual(expect.arrayContaining(['200', '400', '401', '403', '413', '422', '429', '503']))
  })

  test('documents no operation that the server does not have', async () => {
    const document = await read()
    const cid = rawCidOf(sampleBytes()).base32
    const missing: string[] = []
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of METHODS.filter((name) => name in operations)) {
        const address = path.replace(/\{[^}]+\}/g, cid)
        const answer = await target.anonymous().request(method.toUpperCase(), address)
        const isUnknownPath = answer.status === 404 && !path.includes('{')
        if (answer.status === 405 || answer.status === 501 || isUnknownPath) missing.push(`${method} ${path}`)
        expect(answer.status, `${method} ${path}`).not.toBe(500)
      }
    }
    expect(missing).toEqual([])
  })
})

test('GET /docs answers a page', async () => {
  const caller = target.anonymous()
  const first = await caller.get('/docs')
  const answer =
    first.status >= 300 && first.status < 400
      ? await caller.get(new URL(headerOf(first, 'location'), new URL('/docs', target.baseUrl)).pathname)
      : first
  expect(answer.status).toBe(200)
  expect(headerOf(answer, 'content-type')).toMatch(/^text\/html\b/)
  expect(answer.body.toString()).toMatch(/<html/i)
})
