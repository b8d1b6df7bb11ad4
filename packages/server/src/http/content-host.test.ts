import { aliasesOf } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { contentHostCheck } from './content-host.ts'
import { isSameSite } from './same-site.ts'

const BYTES = Buffer.from('shown to everybody')
const CID = sha256Hex(BYTES)

describe('the host of LADE_CONTENT_URL', () => {
  let service: RunningService
  let pieceCid = ''
  beforeAll(async () => {
    service = await runService({ env: { LADE_CONTENT_URL: 'https://files.example' } })
    pieceCid = ((await (await service.upload(BYTES)).json()) as { pieceCid: string }).pieceCid
  })
  afterAll(() => service.remove())

  const ask = async (line: string, host: string, rest = '\r\n') => {
    const answer = await rawRequest(service.url, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${rest}`)
    return { status: Number(answer.split(' ')[1]), answer }
  }
  const HOSTS = ['files.example', 'FILES.example', 'files.example:443', 'files.example:8080', 'files.example.']

  it('answers retrieval', async () => {
    for (const host of HOSTS) {
      for (const path of [
        `/p/${CID}`,
        `/p/${CID}?download=true`,
        `/piece/${pieceCid}`,
        `/ipfs/${aliasesOf(CID).cidV1}?format=raw`,
        '/healthz',
        '/favicon.ico',
      ]) {
        expect((await ask(`GET ${path}`, host)).status, `${host}${path}`).toBe(200)
        expect((await ask(`HEAD ${path}`, host)).status, `${host}${path}`).toBe(200)
      }
    }
  })

  it('answers nothing else', async () => {
    const upload = `Content-Type: text/plain\r\nContent-Length: ${BYTES.length}\r\n\r\n${BYTES}`
    for (const host of HOSTS) {
      for (const [line, rest] of [
        ['GET /'],
        ['GET /api/info'],
        ['GET /api/session'],
        ['GET /api/files'],
        ['OPTIONS /api/files'],
        ['GET /docs'],
        ['GET /docs/guides'],
        ['GET /openapi.json'],
        ['GET /readyz'],
        ['GET /metrics'],
        ['GET /console/'],
        ['GET /.well-known/jwks.json'],
        ['GET /pdp/ping'],
        [`GET /routing/v1/providers/${CID}`],
        ['GET /nowhere'],
        ['GET /P/'],
        ['GET //api/info'],
        ['GET /%61pi/info'],
        ['GET /api/../p/'],
        ['GET /healthz/'],
        [`POST /api/upload?cid=${CID}`, upload],
        [`PUT /api/upload?cid=${CID}`, upload],
        ['POST /api/session', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'],
        ['DELETE /api/session'],
      ] as const) {
        const { status, answer } = await ask(line, host, rest)
        expect(status, `${host} ${line}`).toBe(404)
        expect(answer).toContain('"error":"not_found"')
        expect(answer.toLowerCase()).not.toContain('set-cookie')
      }
    }
  })

  it('is not the only one at which content is found, and the service is where it was', async () => {
    const { host } = new URL(service.url)
    for (const path of [`/p/${CID}`, '/', '/api/info', '/docs/', '/openapi.json', '/readyz']) {
      expect((await ask(`GET ${path}`, host)).status, path).toBe(200)
    }
  })
})

describe('contentHostCheck', () => {
  const problem = (publicUrl: string | undefined, contentUrl: string | undefined, host: string | undefined) =>
    contentHostCheck({ publicUrl, contentUrl })({ headers: { host }, url: '/api/info' })?.code

  it.each([
    ['http://localhost:8080', 'http://localhost:8081', 'localhost:8081', 'not_found'],
    ['http://localhost:8080', 'http://localhost:8081', 'localhost:8080', undefined],
    ['https://lade.example', 'https://lade.example:8443', 'lade.example', undefined],
    ['https://lade.example', 'https://lade.example:8443', 'lade.example:443', undefined],
    ['https://lade.example', 'https://lade.example:8443', 'LADE.example:8443', 'not_found'],
    ['https://lade.example:8443', 'https://lade.example', 'lade.example:443', 'not_found'],
    [undefined, 'http://localhost:8080', '127.0.0.1:8080', undefined],
    [undefined, 'http://localhost:8080', 'localhost:8080', 'not_found'],
    ['https://lade.example', undefined, 'files.example', undefined],
    ['https://lade.example', 'https://files.example', undefined, undefined],
    ['https://lade.example', 'https://files.example', 'files.example.evil.example', undefined],
  ])('of %s and %s, asked at %s, says %s', (publicUrl, contentUrl, host, expected) => {
    expect(problem(publicUrl, contentUrl, host)).toBe(expected)
  })
})

describe('the domain of sites', () => {
  const problem = (publicUrl: string | undefined, host: string, url: string, contentUrl?: string) =>
    contentHostCheck({ publicUrl, contentUrl, sitesUrl: 'https://*.ipfs.sites.example' })({ headers: { host }, url })
      ?.code

  it.each([
    ['https://lade.example', 'sites.example', '/api/info', 'not_found'],
    ['https://lade.example', 'SITES.example:8443', '/', 'not_found'],
    ['https://lade.example', 'sites.example', '/p/x', 'not_found'],
    ['https://lade.example', 'sites.example', '/ipfs/x', undefined],
    ['https://lade.example', 'lade.example', '/api/info', undefined],
    ['https://sites.example', 'sites.example', '/api/info', undefined],
    [undefined, 'sites.example', '/api/info', undefined],
  ])('of a service at %s, asked at %s for %s, says %s', (publicUrl, host, url, expected) => {
    expect(problem(publicUrl, host, url)).toBe(expected)
  })

  it('may be the host of content, too', () => {
    const contentUrl = 'https://sites.example'
    expect(problem('https://lade.example', 'sites.example', '/p/x', contentUrl)).toBeUndefined()
    expect(problem('https://lade.example', 'sites.example', '/api/info', contentUrl)).toBe('not_found')
  })
})

describe('isSameSite', () => {
  it.each([
    ['https://lade.example.org', 'https://files.example.org', true],
    ['https://example.org', 'https://files.example.org', true],
    ['https://a.example.co.uk', 'https://b.example.co.uk', true],
    ['https://a.co.uk', 'https://b.co.uk', false],
    ['https://ada.github.io', 'https://bob.github.io', false],
    ['https://lade.example.org', 'https://lade-files.org', false],
    ['http://localhost:8080', 'http://localhost:8081', true],
    ['http://localhost:8080', 'http://127.0.0.1:8080', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.2:8080', false],
    ['http://[::1]:8080', 'http://[::1]:8081', true],
    ['https://lade.intern', 'https://files.lade.intern', true],
    ['https://lade', 'https://files', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(isSameSite(one, other)).toBe(expected)
  })

  it.each([
    ['https://lade.example.org', 'https://files.example.org', 1],
    ['https://lade.example.org', 'https://files.example.net', 0],
    ['https://lade.example.org', undefined, 0],
  ])('the start warns of %s with %s: %i', async (publicUrl, contentUrl, warnings) => {
    const env = { LADE_PUBLIC_URL: publicUrl, ...(contentUrl && { LADE_CONTENT_URL: contentUrl }) }
    const service = await runService({ env })
    const warned = service.logged().filter(({ msg }) => String(msg).startsWith('uploaded pages are on the same site'))
    expect(warned).toHaveLength(warnings)
    await service.remove()
  })
})
