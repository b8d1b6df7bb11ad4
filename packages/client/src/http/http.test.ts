import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../create-client.ts'
import { LIMITS } from '../limits.ts'
import type { LadeClient, LadeClientOptions, RequestRetry } from '../options.ts'
import { FAKE_TOKEN, type FakeService, refuse, resetAfter, startFakeService } from '../testing/fake-service.ts'
import { unixfsV1Cid } from '../testing/importer.ts'
import { noise } from '../testing/noise.ts'

const MIB = 1_048_576
const SMALL = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }

let service: FakeService
beforeEach(async () => {
  service = await startFakeService()
})
afterEach(() => service.close())

const clientOf = (options: LadeClientOptions = {}, limits = LIMITS) =>
  createClient({ url: service.url, token: FAKE_TOKEN, retry: { baseDelayMs: 1, maxDelayMs: 4 }, ...options }, limits)
const uploads = () => service.count('POST /api/upload')
const busy = (seconds: string) => refuse(503, 'shutting_down', { retryAfterSeconds: 1 }, { 'retry-after': seconds })

describe('what is sent again', () => {
  it('is an upload that met 503, after as long as Retry-After asks for', async () => {
    service.failOnce('POST /api/upload', busy('1'))
    const begun = performance.now()
    await clientOf().put(noise(10))
    expect(performance.now() - begun).toBeGreaterThan(950)
    expect(uploads()).toBe(2)
  })

  it('is an upload whose connection is reset in the middle of its body, and its progress does not go back', async () => {
    const bytes = noise(2 * MIB)
    for (const source of [bytes, new Blob([bytes])]) {
      service.files.clear()
      service.failOnce('POST /api/upload', resetAfter(MIB))
      const sent: number[] = []
      const { cid } = await clientOf().put(source, { onProgress: ({ sentBytes }) => sent.push(sentBytes) })
      expect(cid).toBe(await unixfsV1Cid(bytes))
      expect(sent).toEqual(sent.toSorted((a, b) => a - b))
    }
    expect(uploads()).toBe(4)
  })

  it('is reported to onRetry before each wait, with the error and the length of the wait', async () => {
    service.failOnce('POST /api/upload', busy('1'))
    service.failOnce('POST /api/upload', resetAfter(1))
    const reported: RequestRetry[] = []
    await clientOf({ onRetry: (retry) => reported.push(retry) }).put(noise(10))
    expect(reported).toMatchObject([
      { error: { code: 'shutting_down' }, delayMs: 1000 },
      { error: { code: 'unreachable' } },
    ])
    expect(reported[1]?.delayMs).toBeLessThanOrEqual(4)
  })

  it('is one part of a file and not the others', async () => {
    service.failOnce('POST /api/upload', resetAfter(MIB))
    const bytes = noise(7 * MIB)
    const { cid } = await clientOf({}, SMALL).put(bytes)
    expect(cid).toBe(await unixfsV1Cid(bytes))
    expect(uploads()).toBe(5)
  })

  it('is a composition whose answer breaks off', async () => {
    service.failOnce('POST /api/compose', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
      response.write('{"cid":', () => response.destroy())
    })
    const bytes = noise(7 * MIB)
    const { cid } = await clientOf({}, SMALL).put(bytes)
    expect(cid).toBe(await unixfsV1Cid(bytes))
    expect(service.count('POST /api/compose')).toBe(2)
  })

  it('is a removal, and one that had been done when its answer was lost counts as done', async () => {
    service.stage(noise(5), 'myfile01')
    service.failOnce('DELETE /api/files/', (request) => {
      service.stage(noise(5), 'myfile01', { status: 'removed' })
      request.socket.resetAndDestroy()
    })
    await clientOf().files.remove('myfile01')
    await expect(clientOf().files.remove('myfile01')).rejects.toMatchObject({ code: 'gone' })
    service.stage(noise(5), 'myfile02', { status: 'expired' })
    service.failOnce('DELETE /api/files/', resetAfter(0))
    await expect(clientOf().files.remove('myfile02')).rejects.toMatchObject({ code: 'gone' })
  })

  it('is a signup only when it was refused', async () => {
    const request = { email: 'a@example.org', label: 'x' }
    service.failOnce('POST /api/auth/signup', busy('0'))
    service.failOnce('POST /api/auth/signup', resetAfter(1))
    await expect(clientOf().signup(request)).rejects.toMatchObject({ code: 'unreachable' })
    expect(service.count('POST /api/auth/signup')).toBe(2)
  })

  it.each([
    ['start', (client: LadeClient) => client.signIn.start({ email: 'a@example.org', label: 'x' })],
    ['verify', (client: LadeClient) => client.signIn.verify({ challenge: 'x', code: '123456' })],
  ])('is the %s of a sign-in only when it was refused', async (step, take) => {
    service.failOnce(`POST /api/auth/${step}`, busy('0'))
    service.failOnce(`POST /api/auth/${step}`, resetAfter(1))
    await expect(take(clientOf())).rejects.toMatchObject({ code: 'unreachable' })
    expect(service.count(`POST /api/auth/${step}`)).toBe(2)
  })
})

describe('what ends at once', () => {
  it.each<[number, Parameters<typeof refuse>[1], Record<string, unknown>]>([
    [401, 'invalid_token', {}],
    [403, 'insufficient_scope', { required: 'put' }],
    [413, 'too_large', { limit: 1, size: 2 }],
    [429, 'quota_exceeded', { used: 1, limit: 2, retryAfterSeconds: 3 }],
    [502, 'stage_failed', { reason: 'The prover refused.' }],
  ])('%i %s, with the evidence and the request id', async (status, code, evidence) => {
    service.failAlways('POST /api/upload', refuse(status, code, evidence, { 'retry-after': '0' }))
    const failure = clientOf().put(noise(10))
    await expect(failure).rejects.toMatchObject({ name: 'LadeError', code, evidence, requestId: 'r-1' })
    expect(uploads()).toBe(1)
  })

  it('what asks for more time than the budget has', async () => {
    service.failAlways('POST /api/upload', busy('61'))
    await expect(clientOf().put(noise(10))).rejects.toMatchObject({ code: 'shutting_down' })
    expect(uploads()).toBe(1)
  })

  it('a wait that is aborted', async () => {
    service.failAlways('POST /api/upload', busy('30'))
    const signal = AbortSignal.timeout(50)
    await expect(clientOf().put(noise(10), { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('what is given up', () => {
  it('after as many attempts as allowed, with the last error', async () => {
    service.failAlways(
      'POST /api/upload',
      refuse(503, 'storage_failed', { retryAfterSeconds: 1 }, { 'retry-after': '0' }),
    )
    const failure = clientOf({ retry: { attempts: 3 } }).put(noise(10))
    await expect(failure).rejects.toMatchObject({ code: 'storage_failed' })
    expect(uploads()).toBe(3)
  })

  it('when the budget is spent', async () => {
    service.failAlways('POST /api/upload', resetAfter(1))
    const retry = { attempts: 1000, budgetSeconds: 0.1, baseDelayMs: 20, maxDelayMs: 20 }
    await expect(clientOf({ retry }).put(noise(10))).rejects.toMatchObject({ code: 'unreachable' })
    // Each wait has 10 to 20 ms.
    expect(uploads()).toBeGreaterThanOrEqual(6)
    expect(uploads()).toBeLessThanOrEqual(11)
  })

  it('sooner while the service has never answered', async () => {
    service.failAlways('POST /api/upload', resetAfter(1))
    const retry = { attempts: 6, firstContactAttempts: 2, baseDelayMs: 1 }
    const client = clientOf({ retry })
    await expect(client.put(noise(10))).rejects.toMatchObject({ code: 'unreachable' })
    expect(uploads()).toBe(2)
    await client.info()
    await expect(client.put(noise(10))).rejects.toMatchObject({ code: 'unreachable' })
    expect(uploads()).toBe(2 + 6)
  })

  it('when nobody listens, and says why', async () => {
    const gone = await startFakeService()
    await gone.close()
    const failure = clientOf({ url: gone.url }).info()
    await expect(failure).rejects.toMatchObject({ code: 'unreachable', evidence: { url: gone.url } })
    await expect(failure).rejects.toThrow(
      /^Cannot reach http:\S+\. The connection failed: connect ECONNREFUSED .*\d\.$/,
    )
  })
})

describe('the reason of a connection that failed', () => {
  it.each([
    [new TypeError('fetch failed', { cause: new Error('bad port') }), 'The connection failed: bad port.'],
    [new TypeError('Failed to fetch'), 'The connection failed: Failed to fetch.'],
    [new Error('No data was sent or received for 60 seconds.'), 'No data was sent or received for 60 seconds.'],
    [
      new TypeError('fetch failed', {
        cause: new Error('SSL routines:tls_validate_record_header:wrong version number'),
      }),
      'The server on this port does not use TLS. Use http:// in the URL, or the port of the TLS proxy.',
    ],
    [Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), 'The host name is unknown.'],
    [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'The connection failed: ECONNREFUSED.'],
    [new Error(''), 'The connection failed.'],
  ])('of %o is a sentence', async (error, reason) => {
    const own = () => Promise.reject(error)
    const failure = clientOf({ fetch: own, retry: { attempts: 1 } }).info()
    await expect(failure).rejects.toMatchObject({ code: 'unreachable', evidence: { reason } })
    await expect(failure).rejects.toThrow(
      new RegExp(`^Cannot reach http:\\S+\\. ${reason.replaceAll(/[./]/g, '\\$&')}$`),
    )
  })
})

describe('answers that no service gives', () => {
  let server: Server
  let url: string
  let reply: { status: number; type: string; text: string }
  beforeEach(async () => {
    server = createServer((request, response) => {
      request.resume()
      response.writeHead(reply.status, { 'content-type': reply.type, 'x-request-id': 'proxy-1' })
      response.end(reply.text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => new Promise((resolve) => server.close(resolve)))

  it.each([
    [502, 'text/html', '<html><h1>Bad\n gateway</h1></html>', 'The status was 502: Bad gateway'],
    [404, 'text/plain', '', 'The status was 404.'],
    [
      400,
      'application/json',
      '{"error":"from_the_future","detail":"Not yet."}',
      'The status was 400 (from_the_future): Not yet.',
    ],
    [400, 'application/json', '["error"]', 'The status was 400: ["error"]'],
    [400, 'application/json', '{"error":"constructor"}', 'The status was 400 (constructor): {"error":"constructor"}'],
    [418, 'text/plain', 'x'.repeat(10_000), `The status was 418: ${'x'.repeat(200)}`],
    [200, 'text/html', '<html></html>', 'The response is not JSON, so this may not be the URL of the service.'],
  ])('are %i %s an unexpected_answer', async (status, type, text, reason) => {
    reply = { status, type, text }
    const failure = clientOf({ url, retry: { attempts: 1 } }).info()
    await expect(failure).rejects.toMatchObject({ code: 'unexpected_answer', evidence: { httpStatus: status, reason } })
    expect(await failure.catch((error: unknown) => LadeError.is(error))).toBe(true)
  })
})

describe('createLadeClient', () => {
  it('refuses what is no address of a service, and a token that no header carries, without repeating it', () => {
    for (const url of ['ftp://a', 'nowhere', 'http://me:secret@host'])
      expect(() => clientOf({ url })).toThrow(TypeError)
    for (const token of ['', 'a b', 'pk\n', 'pk_ä']) {
      const refused = () => clientOf({ token })
      expect(refused).toThrow(TypeError)
      if (token !== '') expect(refused).not.toThrow(token)
    }
  })

  it('keeps a path in the address, and asks no other origin', async () => {
    await clientOf({ url: `${service.url}/lade/` })
      .info()
      .catch(() => {})
    expect(service.seen[0]?.path).toBe('/lade/api/info')
    expect(service.seen[0]?.headers.authorization).toBe(`Bearer ${FAKE_TOKEN}`)
  })

  it('sends by a fetch of the caller', async () => {
    const asked: string[] = []
    const own: typeof fetch = (input, init) => {
      asked.push(String(input))
      return fetch(input, init)
    }
    await clientOf({ fetch: own }).put(noise(10))
    expect(asked).toHaveLength(1)
  })
})
