import { request } from 'node:http'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../testing/running/running-service.ts'

const BYTES = Buffer.from('a file of the tests of requests')
const CID = sha256Hex(BYTES)

describe('requests are judged as the document has them', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    await service.upload(BYTES, { token })
  })
  afterAll(() => service.remove())

  /** Sends what fetch does not: a body with GET, and a body of unknown length. */
  const send = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; allow: string | undefined }>((resolve, reject) => {
      const { hostname, port } = new URL(service.url)
      const sent = request({ hostname, port, method, path, headers }, (response) => {
        response.resume()
        resolve({ status: response.statusCode, allow: response.headers.allow })
      })
      sent.on('error', reject)
      sent.end('{}')
    })
  const json = { 'content-type': 'application/json' }

  it.each([
    ['GET', '/api/upload', 'POST'],
    ['GET', '/api/compose', 'POST'],
    ['HEAD', '/api/auth/signup', 'POST'],
    ['GET', '/api/tokens/revoke', 'POST'],
    ['GET', `/api/files/${CID}/share`, 'POST'],
    ['GET', '/api/deals/d-0x1/extend', 'POST'],
    ['GET', '/api/deals/d-0x1/redundancy', 'PUT'],
    ['GET', `/p/${CID}/challenge`, 'POST'],
    ['POST', '/api/files', 'GET'],
    ['POST', `/p/${CID}`, 'GET, HEAD'],
    ['PATCH', '/healthz', 'GET'],
  ])('405 before the body: %s %s', async (method, path, allow) => {
    const bodies = [
      { ...json, 'content-length': '2' },
      { ...json, 'transfer-encoding': 'chunked' },
      { 'content-length': '2' },
    ]
    for (const headers of bodies) {
      const { status, allow: allowed } = await send(method, path, headers)
      expect(status, JSON.stringify(headers)).toBe(405)
      expect(allowed?.split(', ')).toEqual(expect.arrayContaining(allow.split(', ')))
    }
  })

  it('405 without a body, below an address that catches all others', async () => {
    const response = await service.fetch(`/p/${CID}/challenge`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await service.fetch(`/p/${CID}/nothing`)).status).toBe(400)
  })

  it('400 for a body with a method that takes none, as before', async () => {
    expect((await send('GET', '/api/files', { ...json, 'content-length': '2' })).status).toBe(400)
  })

  it('a download is asked for by true or false', async () => {
    const statusOf = async (download: string) => (await service.fetch(`/p/${CID}?download=${download}`)).status
    expect(await Promise.all(['true', 'false', '1', ''].map(statusOf))).toEqual([200, 200, 400, 400])
  })

  it('lengths are counted in characters, not in units of UTF-16', async () => {
    const signUp = async (label: string) => {
      const body = JSON.stringify({ email: 'ada@example.org', label })
      return (await service.fetch('/api/auth/signup', { method: 'POST', headers: json, body })).status
    }
    expect(await signUp('😀'.repeat(100))).toBe(200)
    expect(await signUp('😀'.repeat(101))).toBe(400)
    expect(await signUp('a'.repeat(101))).toBe(400)
  })

  it('a term beyond the tier is refused for a file that is composed already, too', async () => {
    const compose = (days: string) =>
      service.fetch(`/api/compose?cid=${CID}`, {
        method: 'POST',
        headers: { ...json, ...bearer(token), 'x-term-days': days },
        body: JSON.stringify({ parts: [CID] }),
      })
    expect((await compose('30')).status).toBe(200)
    const refused = await compose(String(service.config.termMaxDays + 1))
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_term' })])
  })

  it('one piece CID may be asked for like many', async () => {
    const missingOf = async (query: string) => {
      const response = await service.fetch(`/api/piece-cids?${query}`, { headers: bearer(token) })
      return ((await response.json()) as { missing: string[] }).missing
    }
    expect(await missingOf('cid=nothing0')).toEqual(['nothing0'])
    expect(await missingOf('cid=nothing0&cid=nothing1')).toEqual(['nothing0', 'nothing1'])
  })
})
