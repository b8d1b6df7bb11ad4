import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

const BYTES = Buffer.from('known by its tag and its time')
const CID = sha256Hex(BYTES)
const TAG = `"${CID}"`
const LONG_AGO = new Date(0).toUTCString()

describe('preconditions of /p/{cid}', () => {
  let service: RunningService
  let modified: string
  beforeAll(async () => {
    service = await runService()
    expect((await service.upload(BYTES)).status).toBe(200)
    modified = (await get({})).headers.get('last-modified') ?? ''
  })
  afterAll(() => service.remove())

  const get = (headers: Record<string, string>, method = 'GET') => service.fetch(`/p/${CID}`, { headers, method })

  it('Last-Modified is when the file was uploaded, to the second', () => {
    const age = Date.now() - Date.parse(modified)
    expect(age).toBeGreaterThanOrEqual(0)
    expect(age).toBeLessThan(60_000)
  })

  it.each<[number, string, () => Record<string, string>]>([
    [304, 'the time that it has', () => ({ 'if-modified-since': modified })],
    [304, 'a later time', () => ({ 'if-modified-since': new Date(Date.now() + 86_400_000).toUTCString() })],
    [200, 'an earlier time', () => ({ 'if-modified-since': LONG_AGO })],
    [200, 'a date that is none', () => ({ 'if-modified-since': 'yesterday' })],
    [200, 'another tag, whatever the time', () => ({ 'if-none-match': '"other"', 'if-modified-since': modified })],
    [304, 'its tag, whatever the time', () => ({ 'if-none-match': TAG, 'if-modified-since': LONG_AGO })],
    [200, 'If-Match with its tag', () => ({ 'if-match': `"other", ${TAG}` })],
    [200, 'If-Match with *', () => ({ 'if-match': '*' })],
    [412, 'If-Match with another tag', () => ({ 'if-match': '"other"' })],
    [412, 'If-Match with a weak tag', () => ({ 'if-match': `W/${TAG}` })],
    [412, 'If-Unmodified-Since an earlier time', () => ({ 'if-unmodified-since': LONG_AGO })],
    [200, 'If-Unmodified-Since its time', () => ({ 'if-unmodified-since': modified })],
    [200, 'If-Match, which outweighs a time', () => ({ 'if-match': TAG, 'if-unmodified-since': LONG_AGO })],
    [412, 'If-Match, before If-None-Match', () => ({ 'if-match': '"other"', 'if-none-match': TAG })],
  ])('answers %i to %s', async (status, _title, headersOf) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await get(headersOf(), method)
      expect([method, response.status]).toEqual([method, status])
      if (status === 304) {
        expect([response.headers.get('etag'), response.headers.get('last-modified')]).toEqual([TAG, modified])
      }
      if (status === 412 && method === 'GET') {
        expect(await response.json()).toMatchObject({ error: 'precondition_failed', etag: TAG })
      }
    }
  })

  it('goes on with a range by the time of the file, and only by exactly this time', async () => {
    const part = await get({ range: 'bytes=0-4', 'if-range': modified })
    expect([part.status, await part.text()]).toEqual([206, 'known'])
    expect((await get({ range: 'bytes=0-4', 'if-range': LONG_AGO })).status).toBe(200)
  })
})
