import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const BYTES = Buffer.from('anybody may read this')
const CID = sha256Hex(BYTES)
const METRICS_TOKEN = 'a token of the metrics alone'.replaceAll(' ', '-')

let service: RunningService
let pieceCid = ''
let good = ''
let revoked = ''
beforeAll(async () => {
  service = await runService({ env: { LADE_METRICS_TOKEN: METRICS_TOKEN } })
  const uploaded = await service.upload(BYTES)
  pieceCid = ((await uploaded.json()) as { pieceCid: string }).pieceCid
  good = (await service.signUp()).token
  revoked = (await service.signUp()).token
  const { jti } = JSON.parse(Buffer.from(revoked.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
  await service.fetch('/api/tokens/revoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(good) },
    body: JSON.stringify({ jti }),
  })
})
afterAll(() => service.remove())

/** What needs no token. Each is sent once for every way of sending one. */
const OPEN: readonly [name: string, path: () => string, init?: RequestInit][] = [
  ['a file', () => `/p/${CID}`],
  ['the head of a file', () => `/p/${CID}`, { method: 'HEAD' }],
  ['a piece', () => `/piece/${pieceCid}`],
  ['a block', () => `/ipfs/f01551220${CID}?format=raw`],
  ['/api/info', () => '/api/info'],
  ['/healthz', () => '/healthz'],
  ['the OpenAPI document', () => '/openapi.json'],
  [
    'signup',
    () => '/api/auth/signup',
    {
      method: 'POST',
      body: JSON.stringify({ email: 'eve@example.org', label: 'x' }),
      headers: { 'content-type': 'application/json' },
    },
  ],
]

async function statusOf(path: string, init: RequestInit = {}, headers: Record<string, string> = {}) {
  const response = await service.fetch(path, { ...init, headers: { ...(init.headers as object), ...headers } })
  const body = await response.text()
  const error = response.status === 401 && body !== '' ? (JSON.parse(body) as { error: string }).error : undefined
  return error === undefined ? response.status : `${response.status} ${error}`
}
const withQuery = (path: string, token: string) => `${path}${path.includes('?') ? '&' : '?'}token=${token}`

describe('a token where none is needed', () => {
  it.each(OPEN)('is checked: %s', async (_name, path, init = {}) => {
    const isHead = init.method === 'HEAD'
    const invalid = isHead ? 401 : '401 invalid_token'
    expect(await statusOf(path(), init)).toBe(200)
    expect(await statusOf(path(), init, bearer(good))).toBe(200)
    expect(await statusOf(withQuery(path(), good), init)).toBe(200)
    for (const token of [`${good}x`, 'pk_live_a.b.c', 'pk_live_']) {
      expect(await statusOf(path(), init, bearer(token))).toBe(invalid)
      expect(await statusOf(withQuery(path(), token), init)).toBe(invalid)
    }
    expect(await statusOf(path(), init, bearer(revoked))).toBe(isHead ? 401 : '401 revoked_token')
    expect(await statusOf(withQuery(path(), revoked), init)).toBe(isHead ? 401 : '401 revoked_token')
  })

  it.each(OPEN)('is told from credentials of another kind, which are ignored: %s', async (_name, path, init = {}) => {
    for (const authorization of ['Basic YWRhOnNlY3JldA==', 'Bearer of-the-proxy', 'Negotiate YWJj']) {
      expect(await statusOf(path(), init, { authorization })).toBe(200)
    }
  })
})

describe('credentials of another kind', () => {
  it.each(['Basic YWRhOnNlY3JldA==', 'Bearer of-the-proxy'])(
    'are refused on uploads and where a token is needed: %s',
    async (authorization) => {
      const upload = { method: 'POST', body: BYTES, headers: { 'content-type': 'text/plain' } }
      expect(await statusOf(`/api/upload?cid=${CID}`, upload, { authorization })).toBe('401 invalid_token')
      for (const path of ['/api/files', '/api/usage', '/api/tokens']) {
        expect(await statusOf(path, {}, { authorization })).toBe('401 invalid_token')
      }
    },
  )
})

describe('/metrics', () => {
  it('has a token of its own, and takes no other', async () => {
    expect(await statusOf('/metrics', {}, bearer(METRICS_TOKEN))).toBe(200)
    expect(await statusOf('/metrics', {}, bearer(good))).toBe('401 invalid_token')
  })
})
