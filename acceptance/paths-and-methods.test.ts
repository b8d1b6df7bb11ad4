import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { exchangeRaw, head } from './raw-http.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const someCid = () => rawCidOf(sampleBytes()).base32

describe('unknown paths', () => {
  test.for([
    '/api/nothing',
    '/nothing',
    '/p',
    '/api',
    '/api/',
    '/api/upload/',
    '/API/upload',
    '//api/usage',
    '/api/usage/x',
  ])('GET %s is 404 not_found', async (path) => {
    expectProblem(await target.anonymous().get(path), 404, 'not_found')
  })
})

describe('HEAD', () => {
  test.for([
    '/healthz',
    '/readyz',
    '/api/info',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/favicon.ico',
    '/pdp/ping',
    '/api/files',
    '/api/usage',
    '/nothing',
  ])('of %s answers what GET does, without a body', async (path, context) => {
    const user = await target.anyUser(context)
    const [get, headAnswer] = [await user.get(path), await user.request('HEAD', path)]
    expect([headAnswer.status, headAnswer.body.length]).toEqual([get.status, 0])
    for (const name of ['content-type', 'cache-control']) expect(headerOf(headAnswer, name)).toBe(headerOf(get, name))
    if (get.status === 200) expect(headerOf(headAnswer, 'content-length')).toBe(String(get.body.length))
  })

  test('of the favicon is an image', async () => {
    const icon = await target.anonymous().get('/favicon.ico')
    expect([icon.status, headerOf(icon, 'content-type')]).toEqual([200, 'image/png'])
  })
})

describe('what was meant', () => {
  test.for([
    ['POST', '/upload', 'POST /api/upload'],
    ['GET', '/api/file', 'GET /api/files'],
    ['GET', '/p', 'GET /p/{cid}'],
    ['POST', '/api/signup', 'POST /api/auth/signup'],
    ['GET', '/wp-login.php', undefined],
  ] as const)('%s %s is told the path, and the one that was probably meant', async ([method, path, meant]) => {
    const { detail } = expectProblem(await target.anonymous().request(method, path), 404, 'not_found')
    expect(detail).toContain(`No such endpoint: ${method} ${path}.`)
    if (meant !== undefined) expect(detail).toContain(`Did you mean ${meant}?`)
  })
})

describe('methods', () => {
  test.for([
    ['GET', '/api/upload', 'POST'],
    ['PATCH', '/api/upload', 'PUT'],
    ['DELETE', '/api/upload', 'POST'],
    ['GET', '/api/auth/signup', 'POST'],
    ['GET', '/api/tokens/revoke', 'POST'],
    ['POST', '/api/usage', 'GET'],
    ['POST', '/api/files', 'GET'],
    ['PUT', '/api/files/{cid}', 'DELETE'],
    ['GET', '/api/files/{cid}/share', 'POST'],
    ['POST', '/p/{cid}', 'GET'],
    ['DELETE', '/p/{cid}', 'HEAD'],
    ['POST', '/healthz', 'HEAD'],
    ['POST', '/api/info', 'GET'],
  ] as const)('%s %s is 405, and Allow names %s', async ([method, path, allowed]) => {
    const answer = await target.anonymous().request(method, path.replace('{cid}', someCid()))
    expectProblem(answer, 405, 'method_not_allowed')
    expect(headerOf(answer, 'allow').split(/\s*,\s*/)).toContain(allowed)
    expect(headerOf(answer, 'allow').split(/\s*,\s*/)).not.toContain(method)
  })

  test.for([
    ['POST', '/api/files', 'To upload a file, use POST /api/upload?cid=…'],
    ['PUT', '/p/{cid}', 'To upload a file, use POST /api/upload?cid=…'],
    ['DELETE', '/p/{cid}', 'To remove a file, use DELETE /api/files/{cid}.'],
  ] as const)('%s %s is told what was probably meant', async ([method, path, hint]) => {
    const answer = await target.anonymous().request(method, path.replace('{cid}', someCid()))
    expect(expectProblem(answer, 405, 'method_not_allowed').detail).toBe(`Use GET or HEAD here, not ${method}. ${hint}`)
  })

  test('POST of a file to an address below /api/upload is told what was probably meant', async () => {
    const answer = await target.anonymous().request('POST', `/api/upload/${someCid()}`)
    const { detail } = expectProblem(answer, 405, 'method_not_allowed')
    expect(detail).toBe('Use DELETE, HEAD or PATCH here, not POST. To upload a file, use POST /api/upload?cid=…')
  })

  test.for(['TRACE', 'PROPFIND', 'QUERY', 'BREW', 'get'])('refuses the method %s', async (method) => {
    const raw = await exchangeRaw(
      target.directUrl,
      head(`${method} /healthz HTTP/1.1`, `Host: ${target.directUrl.host}`, 'X-Echo: mirrored', 'Connection: close'),
    )
    expect([400, 405, 501]).toContain(raw.first?.status)
    expect(raw.first?.body).not.toContain('mirrored')
  })
})

describe('the error document', () => {
  test('is application/json by default and application/problem+json when Accept asks for it', async () => {
    const caller = target.anonymous()
    expect(headerOf(await caller.get('/api/nothing'), 'content-type')).toMatch(/^application\/json\b/)
    for (const accept of ['application/problem+json', 'application/json;q=0.5, application/problem+json']) {
      const answer = await caller.get('/api/nothing', { Accept: accept })
      expect(headerOf(answer, 'content-type')).toMatch(/^application\/problem\+json\b/)
      expectProblem(answer, 404, 'not_found')
    }
    for (const accept of ['*/*', 'application/json', 'text/html']) {
      expect(headerOf(await caller.get('/api/nothing', { Accept: accept }), 'content-type')).toMatch(
        /^application\/json\b/,
      )
    }
  })

  test('has its fields in order, a type that is a URI, and an id of its own', async () => {
    const caller = target.anonymous()
    const [one, two] = [await caller.get('/api/nothing'), await caller.get('/api/nothing')]
    const [first, second] = [expectProblem(one, 404, 'not_found'), expectProblem(two, 404, 'not_found')]
    expect(Object.keys(first).slice(0, 6)).toEqual(['error', 'detail', 'type', 'title', 'status', 'requestId'])
    expect(() => new URL(first.type, target.baseUrl)).not.toThrow()
    expect(first.requestId).not.toBe(second.requestId)
    expect(first.type).toBe(second.type)
  })

  test('is never cached and never shows a stack', async () => {
    const answer = await target.anonymous().get('/api/nothing')
    expect(headerOf(answer, 'cache-control')).toContain('no-store')
    expect(answer.body.toString()).not.toMatch(/node:|\.ts:|at \w+ \(/)
  })

  test('what a caller sends in a path comes back as text at most', async () => {
    const answer = await target.anonymous().get('/api/%3Cscript%3Ealert(1)%3C/script%3E')
    expect(answer.status).toBe(404)
    expect(headerOf(answer, 'content-type')).toMatch(/json/)
    expect(headerOf(answer, 'x-content-type-options')).toBe('nosniff')
  })
})

describe('CORS', () => {
  test.for(['https://example.com', 'null', 'http://localhost:3000'])(
    '/api answers * to the origin %s, never credentials',
    async (origin) => {
      for (const path of ['/api/info', '/api/usage', '/api/nothing']) {
        const answer = await target.anonymous().get(path, { Origin: origin })
        expect(headerOf(answer, 'access-control-allow-origin'), path).toBe('*')
        expect(answer.headers, path).not.toHaveProperty('access-control-allow-credentials')
      }
    },
  )

  test('the preflight of an upload allows its method and headers', async () => {
    const answer = await target.anonymous().request('OPTIONS', '/api/upload', {
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization, content-type, x-filename, x-visibility, x-term-days',
      },
    })
    expect([200, 204]).toContain(answer.status)
    expect(headerOf(answer, 'access-control-allow-origin')).toBe('*')
    expect(headerOf(answer, 'access-control-allow-methods')).toMatch(/\bPOST\b/)
    const allowed = headerOf(answer, 'access-control-allow-headers').toLowerCase()
    for (const name of ['authorization', 'content-type', 'x-filename', 'x-visibility', 'x-term-days']) {
      expect(allowed).toContain(name)
    }
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('the preflight of a deletion allows DELETE', async () => {
    const answer = await target.anonymous().request('OPTIONS', `/api/files/${someCid()}`, {
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'DELETE',
        'Access-Control-Request-Headers': 'authorization',
      },
    })
    expect([200, 204]).toContain(answer.status)
    expect(headerOf(answer, 'access-control-allow-methods')).toMatch(/\bDELETE\b/)
  })

  test('the preflight of a range request allows Range', async () => {
    const answer = await target.anonymous().retrieve(someCid(), {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'range',
      },
    })
    expect([200, 204]).toContain(answer.status)
    expect(headerOf(answer, 'access-control-allow-headers').toLowerCase()).toContain('range')
  })

  test('an upload exposes its quota headers to browsers', async () => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { Origin: 'https://example.com' } })
    const exposed = headerOf(answer, 'access-control-expose-headers').toLowerCase()
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']) {
      expect(exposed).toContain(name)
    }
  })
})
