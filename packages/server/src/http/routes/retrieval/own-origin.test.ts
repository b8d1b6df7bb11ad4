import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../../../testing/running/raw-request.ts'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

const PAGE = Buffer.from('<script>document.title = 1</script>')
const CID = sha256Hex(PAGE)
const RUNS = /\r\ncontent-security-policy: sandbox allow-scripts [^\r]*default-src 'self' 'unsafe-inline'/i
const STANDS_STILL = /\r\ncontent-security-policy: sandbox; default-src 'none'; img-src 'self'; media-src 'self'; /i

describe('a page, where retrieval has an origin of its own', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_CONTENT_URL: 'http://content.example' } })
    expect((await service.upload(PAGE, { headers: { 'content-type': 'text/html' } })).status).toBe(200)
  })
  afterAll(() => service.remove())

  const ask = (method: string, host: string, more: readonly string[] = [], query = '') => {
    const lines = [`${method} /p/${CID}${query} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more]
    return rawRequest(service.url, `${lines.join('\r\n')}\r\n\r\n`)
  }

  it('may run there, by every answer that a browser takes its policy from', async () => {
    for (const method of ['GET', 'GET', 'HEAD']) {
      const answer = await ask(method, 'content.example')
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      expect(answer).toMatch(RUNS)
      expect(answer).toMatch(/\r\ncontent-disposition: inline\r\n/i)
    }
    const known = await ask('GET', 'content.example', [`If-None-Match: "${CID}"`])
    expect(known).toMatch(/^HTTP\/1\.1 304 /)
    expect(known).toMatch(RUNS)
  })

  it('is saved, and may run nothing, on the origin of the API and where it is downloaded', async () => {
    for (const answer of [await ask('GET', 'localhost'), await ask('GET', 'content.example', [], '?download=true')]) {
      expect(answer).toMatch(/\r\ncontent-disposition: attachment; /i)
      expect(answer).toMatch(STANDS_STILL)
    }
  })
})
