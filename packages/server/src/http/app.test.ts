import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const BYTES = Buffer.from('<h1>a page</h1>')
const SHA256 = sha256Hex(BYTES)

describe('the HTTP face of a running service', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    await service.upload(BYTES, { token, headers: { 'content-type': 'text/html', 'x-filename': 'a%20b.html' } })
  })
  afterAll(() => service.remove())

  const headersOf = async (path: string, init?: RequestInit) => {
    const response = await service.fetch(path, init)
    await response.arrayBuffer()
    const headers = Object.fromEntries(response.headers)
    for (const varying of ['date', 'x-request-id', 'keep-alive', 'connection']) delete headers[varying]
    return { status: response.status, headers }
  }

  it('answers a file with the same headers every time, from memory or not, and for HEAD', async () => {
    const first = await headersOf(`/p/${SHA256}`)
    const cached = await headersOf(`/p/${SHA256}`)
    const head = await headersOf(`/p/${SHA256}`, { method: 'HEAD' })
    expect(first.headers).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': 'attachment; filename="a b.html"',
    })
    expect(cached).toEqual(first)
    expect(head).toEqual(first)
  })

  it('answers what differs from the plain request differently, also when the plain answer is in memory', async () => {
    const path = `/p/${SHA256}`
    for (let round = 0; round < 2; round += 1) {
      expect((await headersOf(path, { headers: { range: 'bytes=0-3' } })).status).toBe(206)
      expect((await headersOf(path, { headers: { 'if-none-match': `"${SHA256}"` } })).status).toBe(304)
      expect((await headersOf(path, { headers: { 'service-worker': 'script' } })).status).toBe(400)
      expect((await headersOf(path)).status).toBe(200)
    }
  })

  it.each([
    ['whole', {}],
    ['not modified', { headers: { 'if-none-match': `"${SHA256}"` } }],
    ['in part', { headers: { range: 'bytes=0-1' } }],
    ['refused', { headers: { range: 'bytes=99-' } }],
  ])('lets no cache keep an answer under an address with a token: %s', async (_title, init) => {
    const { headers } = await headersOf(`/p/${SHA256}?token=${token}`, init)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    expect(headers).toHaveProperty('deprecation')
  })

  it.each(['/api/usage', '/%61pi/usage', '/api/%75sage', '/api/nowhere', '/api/info'])(
    'lets no cache keep %s',
    async (path) => {
      expect((await headersOf(path, { headers: bearer(token) })).headers['cache-control']).toBe('no-store')
    },
  )

  it('says 100 to a request that expects it, and only to one that may send its body', async () => {
    const head = (cid: string) =>
      `POST /api/upload?cid=${cid} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nContent-Length: ${BYTES.length}\r\nExpect: 100-continue\r\n\r\n`
    expect(await rawRequest(service.url, head(SHA256), 500)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    expect(await rawRequest(service.url, head('x'))).toMatch(/^HTTP\/1\.1 400 /)
  })

  it.each([
    ['two hosts', 'GET /p/PATH HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n'],
    ['no host', 'GET /p/PATH HTTP/1.1\r\n\r\n'],
    ['an absolute target', 'GET http://x/p/PATH HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a body that GET does not have', 'GET /p/PATH HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc'],
    ['a chunked body', 'GET /p/PATH HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('refuses a request with %s and closes, also when the answer is in memory', async (_title, text) => {
    await headersOf(`/p/${SHA256}`)
    const startedAt = Date.now()
    const answer = await rawRequest(service.url, text.replace('PATH', SHA256))
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(Date.now() - startedAt).toBeLessThan(4000)
  })

  it('reads a refused body, so that the client reads the refusal', async () => {
    const big = Buffer.alloc(8 * 1024 * 1024)
    const head = `POST /api/upload?cid=x HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nContent-Length: ${big.length}\r\n\r\n`
    const answer = await rawRequest(service.url, Buffer.concat([Buffer.from(head), big]))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('invalid_cid')
  })

  it.each(['/api/auth/signup', '/nowhere'])('ends a POST of %s at once whose body its sender cut off', async (path) => {
    const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', allowHalfOpen: true })
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n`
    socket.end(`${head}{"email":`)
    const startedAt = Date.now()
    const answer = await text(socket)
    expect(Date.now() - startedAt).toBeLessThan(5000)
    if (path.startsWith('/api')) expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"bad_request"/)
    else expect(answer).toMatch(/^HTTP\/1\.1 40[45] /)
  })

  it('survives clients that leave at every moment, and returns what it had reserved for them', async () => {
    const bytes = Buffer.from('left in the middle')
    const cid = sha256Hex(bytes)
    const head = `POST /api/upload?cid=${cid} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: a/b\r\nContent-Length: ${bytes.length}\r\n\r\n`
    const whole = Buffer.concat([Buffer.from(head), bytes.subarray(0, -1)])
    for (let length = 0; length <= whole.length; length += 17) {
      await rawRequest(service.url, whole.subarray(0, length), 2)
    }
    for (let length = head.length; length <= whole.length; length += 1) {
      await rawRequest(service.url, whole.subarray(0, length), 5)
    }
    await vi.waitFor(async () => {
      const usage = (await (await service.fetch('/api/usage', { headers: bearer(token) })).json()) as object
      expect(usage).toMatchObject({ today: { bytes: BYTES.length, reservedBytes: 0 }, stored: { files: 1 } })
    })
    // The line of a request is written when its connection has ended, which a refusal puts off for up to two seconds.
    const cut = () => service.logged().filter((line) => line.cid === cid)
    await vi.waitFor(() => expect(cut().length).toBeGreaterThan(10), { timeout: 5000, interval: 100 })
    // 499 is the line of a client that left before it could be answered.
    expect(cut().filter(({ status }) => status !== 400 && status !== 499)).toEqual([])
  })

  it('refuses a header that reaches into prototypes without harm', async () => {
    const answer = await rawRequest(
      service.url,
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\n__proto__: y\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('answers preflights for every origin, and never allows credentials', async () => {
    const response = await service.fetch('/api/upload', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://x.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-filename',
      },
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })
})
