import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { hostCheck, isFromThisMachine, isLoopbackOnly, isOfForeignOrigin } from './known-host.ts'

const URLS = { publicUrl: 'https://lade.example', contentUrl: 'https://content.example:8443' }

describe('hostCheck', () => {
  const isRefused = (config: Parameters<typeof hostCheck>[0], host: string | undefined) =>
    hostCheck(config)({ headers: { host } } as IncomingMessage) !== undefined
  const LOOPBACK = { host: '127.0.0.1', trustedHosts: [] }

  it.each([
    'localhost',
    'localhost:8080',
    'LocalHost.:8080',
    'lade.localhost',
    '127.0.0.1',
    '127.8.9.1:1',
    '[::1]:8080',
    '[::ffff:127.0.0.1]',
    undefined,
  ])('takes %s on a loopback address', (host) => {
    for (const own of ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
      expect(isRefused({ ...LOOPBACK, host: own }, host)).toBe(false)
  })

  it.each([
    'example.com',
    'example.com:8080',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '192.168.1.1',
    '[::2]',
    '0.0.0.0',
    'lade.example',
    'notlocalhost',
  ])('refuses %s on a loopback address, and takes it on another', (host) => {
    expect(isRefused(LOOPBACK, host)).toBe(true)
    for (const own of ['0.0.0.0', '::', '192.0.2.1', 'lade.internal'])
      expect(isRefused({ ...LOOPBACK, host: own }, host)).toBe(false)
  })

  it('takes the hosts of its URLs, and those that the operator named, with any port', () => {
    const config = { ...LOOPBACK, ...URLS, trustedHosts: ['other.example', '192.0.2.7', '[fd00::1]'] }
    const hosts = [
      'lade.example',
      'LADE.example:443',
      'content.example',
      'other.example:80',
      '192.0.2.7',
      '[fd00::1]:80',
    ]
    for (const host of hosts) expect(isRefused(config, host), host).toBe(false)
    for (const host of ['x.lade.example', '192.0.2.8', '[fd00::2]']) expect(isRefused(config, host), host).toBe(true)
  })
})

describe('isOfForeignOrigin', () => {
  const isForeign = (origin: string | undefined, host = 'lade.example') =>
    isOfForeignOrigin({ headers: { origin, host } }, URLS)

  it('is true for pages of others, for pages without an origin, and for what is shown as content', () => {
    for (const origin of ['https://example.com', 'http://lade.example:81', 'null', 'https://content.example:8443', 'x'])
      expect(isForeign(origin), origin).toBe(true)
    expect(isForeign('https://content.example:8443', 'content.example:8443')).toBe(true)
  })

  it('is false for own pages, and for programs, which name none', () => {
    for (const origin of ['https://lade.example', 'http://lade.example', undefined])
      expect(isForeign(origin)).toBe(false)
    expect(isForeign('http://localhost:8080', 'localhost:8080')).toBe(false)
  })
})

describe('isFromThisMachine', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080', true],
    ['localhost', 'http://[::1]:8080', true],
    ['127.0.0.1', 'https://lade.example', false],
    ['0.0.0.0', 'http://localhost:8080', false],
  ])('of a service on %s that is called %s is %s', (host, publicUrl, expected) => {
    expect(isFromThisMachine({ headers: {} }, { host, publicUrl })).toBe(expected)
    expect(isFromThisMachine({ headers: { 'x-forwarded-for': '' } }, { host, publicUrl })).toBe(false)
  })
})

describe('a page that reaches a local service under a name of its own', () => {
  let service: RunningService | undefined
  afterEach(() => service?.remove())
  const ask = (head: string) => rawRequest(service?.url ?? '', `${head}\r\nConnection: close\r\n\r\n`)

  it('is refused everywhere, also where an answer is at hand', async () => {
    service = await runService()
    const bytes = Buffer.from('public')
    const { cid } = (await (await service.upload(bytes)).json()) as { cid: string }
    for (let times = 0; times < 3; times += 1) expect((await service.fetch(`/p/${cid}`)).status).toBe(200)
    for (const path of [`/p/${cid}`, '/api/files', '/docs', '/openapi.json', '/healthz', '/nowhere']) {
      const answer = await ask(`GET ${path} HTTP/1.1\r\nHost: rebound.example:8080`)
      expect(answer, path).toMatch(/^HTTP\/1\.1 421 /)
      expect(answer).toContain('"error":"misdirected_request"')
      expect(answer).toContain('LADE_TRUSTED_HOSTS')
    }
  })

  it('is answered where the operator named it', async () => {
    service = await runService({ env: { LADE_TRUSTED_HOSTS: 'rebound.example' } })
    expect(await ask('GET /healthz HTTP/1.1\r\nHost: rebound.example:8080')).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('can sign up as often as it likes from this machine, and not through a proxy', async () => {
    const signUp = async (headers: Record<string, string> = {}) => {
      const response = await service?.fetch('/api/auth/signup', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ email: 'ada@example.org', label: 'x' }),
      })
      return response?.status
    }
    service = await runService({ env: { LADE_SIGNUPS_PER_HOUR: '2' } })
    for (let times = 0; times < 4; times += 1) expect(await signUp()).toBe(200)
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via']) {
      expect(await signUp({ [name]: '192.0.2.1' })).toBe(429)
    }
  })

  it('cannot sign up from another origin, and everybody else can', async () => {
    service = await runService({ env: { LADE_SIGNUPS_PER_HOUR: '100' } })
    const { origin } = new URL(service.url)
    const signUp = (headers: Record<string, string>) =>
      service?.fetch('/api/auth/signup', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ email: 'ada@example.org', label: 'x' }),
      })
    const refused = await signUp({ origin: 'https://example.com' })
    expect(refused?.status).toBe(403)
    expect(await refused?.json()).toMatchObject({ error: 'foreign_origin', origin: 'https://example.com' })
    expect((await signUp({ origin: 'null' }))?.status).toBe(403)
    expect((await signUp({ origin }))?.status).toBe(200)
    expect((await signUp({}))?.status).toBe(200)
  })
})

describe('isLoopbackOnly', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080', true],
    ['::1', 'http://[::1]:8080', true],
    ['127.0.0.1', 'http://lade.localhost', true],
    ['127.0.0.1', 'https://lade.example', false],
    ['0.0.0.0', 'http://localhost:8080', false],
    ['192.0.2.1', 'http://192.0.2.1:8080', false],
  ])('of a service at %s that calls itself %s is %s', (host, publicUrl, expected) => {
    expect(isLoopbackOnly({ host, publicUrl })).toBe(expected)
  })
})
