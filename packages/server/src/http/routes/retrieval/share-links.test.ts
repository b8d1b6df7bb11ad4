import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bearer, type RunningService, type RunOptions, runService } from '../../../testing/running/running-service.ts'

const BYTES = Buffer.from('a private file')
const CID = sha256Hex(BYTES)

describe('a share link', () => {
  const running: RunningService[] = []
  const run = async (options: RunOptions = {}) => {
    const service = await runService(options)
    running.push(service)
    return service
  }
  afterEach(async () => {
    for (const service of running.splice(0).reverse()) await service.remove()
  })

  const post = (service: RunningService, path: string, body: object, token: string) =>
    service.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...bearer(token) },
    })
  const jtiOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti as string
  const linkOf = async (service: RunningService, token: string, ttlSeconds = 3600): Promise<string> => {
    const response = await post(service, `/api/files/${CID}/share`, { ttlSeconds }, token)
    expect(response.status).toBe(200)
    const { url } = (await response.json()) as { url: string }
    return new URL(url).pathname + new URL(url).search
  }
  const openAt = async (service: RunningService, link: string) => {
    const response = await service.fetch(link)
    return response.status === 200
      ? Buffer.from(await response.arrayBuffer()).toString()
      : ((await response.json()) as { error: string }).error
  }
  const stage = async (service: RunningService) => {
    const { token } = await service.signUp()
    const other = await service.signUp()
    expect((await service.upload(BYTES, { token, headers: { 'x-visibility': 'private' } })).status).toBe(200)
    return { token, other: other.token }
  }
  const revoke = async (service: RunningService, token: string, by: string, more: object = {}) => {
    const answer = await post(service, '/api/tokens/revoke', { jti: jtiOf(token), ...more }, by)
    expect(answer.status).toBe(200)
  }

  it('ends with the token that made it, and with no other of the same user', async () => {
    const service = await run()
    const { token, other } = await stage(service)
    const [link, another] = [await linkOf(service, token), await linkOf(service, other)]
    expect([await openAt(service, link), await openAt(service, another)]).toEqual([String(BYTES), String(BYTES)])
    await revoke(service, token, other)
    expect([await openAt(service, link), await openAt(service, another)]).toEqual(['invalid_share_link', String(BYTES)])
  })

  it('outlives its token with keepLinks, until the token is revoked without, and does not come back', async () => {
    const service = await run()
    const { token, other } = await stage(service)
    const link = await linkOf(service, token)
    await revoke(service, token, other, { keepLinks: true })
    expect(await openAt(service, link)).toBe(String(BYTES))
    expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(401)
    await revoke(service, token, other)
    expect(await openAt(service, link)).toBe('invalid_share_link')
    await revoke(service, token, other, { keepLinks: true })
    expect(await openAt(service, link)).toBe('invalid_share_link')
  })

  it('ends in every process on the same records within a second or so', async () => {
    const service = await run()
    const second = await run({ dataDir: service.dataDir })
    const { token, other } = await stage(service)
    const link = await linkOf(service, token)
    expect(await openAt(second, link)).toBe(String(BYTES))
    await revoke(service, token, other)
    await vi.waitFor(async () => expect(await openAt(second, link)).toBe('invalid_share_link'), {
      timeout: 5000,
      interval: 100,
    })
  })

  it('lasts 30 days at most, and outlives a token that expires', async () => {
    const clock = { now: Date.UTC(2030, 0, 1) }
    const service = await run({ env: { LADE_TERM_MAX_DAYS: '400' }, substitutes: { now: () => clock.now } })
    const made = await service.fetch('/api/auth/signup', {
      method: 'POST',
      body: JSON.stringify({ email: 'ada@example.org', label: 'x', ttlDays: 1 }),
      headers: { 'content-type': 'application/json' },
    })
    const { token } = (await made.json()) as { token: string }
    const upload = await service.upload(BYTES, { token, headers: { 'x-visibility': 'private', 'x-term-days': '60' } })
    expect(upload.status).toBe(200)
    const tooLong = await post(service, `/api/files/${CID}/share`, { ttlSeconds: 2_592_001 }, token)
    expect(tooLong.status).toBe(400)
    expect(await tooLong.json()).toMatchObject({
      error: 'bad_request',
      detail: expect.stringContaining('but it must be at most 2592000.'),
    })
    const link = await linkOf(service, token, 2_592_000)
    clock.now += 29 * DAY_MS
    expect(await openAt(service, link)).toBe(String(BYTES))
    clock.now += DAY_MS
    expect(await openAt(service, link)).toBe('invalid_share_link')
  })

  it.each(['yes', 1, null])('keepLinks of %j is refused, and nothing is revoked', async (keepLinks) => {
    const service = await run()
    const { token, other } = await stage(service)
    const answer = await post(service, '/api/tokens/revoke', { jti: jtiOf(token), keepLinks }, other)
    expect(answer.status).toBe(400)
    expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
  })
})
