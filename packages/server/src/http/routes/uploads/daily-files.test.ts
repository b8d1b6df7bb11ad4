import { usageResult } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

/** The quota in bytes is far away: 200 MB of one-byte files would be 200 million rows. */
describe('the number of files a day', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({
      env: { LADE_SPONSORED_DAILY_FILES: '3', LADE_TOKEN_DAILY_FILES: '5', LADE_TRUSTED_PROXIES: '127.0.0.1' },
    })
  })
  afterAll(() => service.remove())

  const file = (number: number) => Buffer.from(`file ${number}`)
  const put = (number: number, from: { readonly address?: string; readonly token?: string }) =>
    service.upload(file(number), {
      ...(from.token !== undefined && { token: from.token }),
      headers: from.address === undefined ? {} : { 'x-forwarded-for': from.address },
    })
  const answerOf = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  })
  const statuses = async (answers: Promise<Response>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).sort()

  it('lets an address have as many as there are, of 40 at once, and says in files why it has no more', async () => {
    const address = '192.0.2.1'
    const at = Array.from({ length: 40 }, (_, number) => put(number, { address }))
    expect(await statuses(at)).toEqual([...Array(3).fill(200), ...Array(37).fill(429)])
    const { body, headers } = await answerOf(await put(100, { address }))
    expect(body).toMatchObject({ error: 'rate_limited', unit: 'files', used: 3, limit: 3 })
    expect(body.detail).toMatch(/^3 of 3 files used today from this IP address\. /)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    // In bytes, as ever, of which nearly all are left.
    const used = Number(headers.get('x-ratelimit-limit')) - Number(headers.get('x-ratelimit-remaining'))
    expect([used, body.usedBytes]).toEqual([used, used])
    expect(headers.get('ratelimit-policy')).toMatch(/"sponsored-files";q=3;w=86400;qu="files"$/)
    expect(headers.get('ratelimit')).toMatch(/, "sponsored-files";r=0;t=\d+$/)
  })

  it('takes an upload again that is stored already, when no file is left', async () => {
    const address = '192.0.2.2'
    for (const number of [1, 2, 3]) expect((await put(number, { address })).status).toBe(200)
    expect((await put(4, { address })).status).toBe(429)
    expect((await put(1, { address })).status).toBe(200)
  })

  it('counts for a user, who sees how many are left', async () => {
    const { token } = await service.signUp()
    const usage = async () =>
      usageResult.parse((await answerOf(await service.fetch('/api/usage', { headers: bearer(token) }))).body)
    expect((await usage()).today).toMatchObject({ files: 0, filesLimit: 5, remainingFiles: 5, reservedFiles: 0 })
    for (const number of [1, 2, 3, 4, 5]) expect((await put(number, { token })).status).toBe(200)
    expect((await answerOf(await put(6, { token }))).body).toMatchObject({
      error: 'quota_exceeded',
      unit: 'files',
      used: 5,
    })
    await service.fetch(`/api/files/${(await answerOf(await put(5, { token }))).body.cid}`, {
      method: 'DELETE',
      headers: bearer(token),
    })
    expect((await usage()).today).toMatchObject({ files: 5, filesLimit: 5, remainingFiles: 0 })
    expect((await put(6, { token })).status).toBe(429)
  })

  it('is told before anybody uploads', async () => {
    const { body } = await answerOf(await service.fetch('/api/info'))
    expect(body.tiers).toMatchObject({ sponsored: { dailyFiles: 3 }, token: { dailyFiles: 5 } })
  })

  it('ends for the addresses of a /48 together at 16 days of one of them', async () => {
    const from = (group: number) => ({ address: `2001:db8:7:${group.toString(16)}::1` })
    const answers = Array.from({ length: 60 }, (_, number) => put(number, from(number % 30)))
    expect(await statuses(answers)).toEqual([...Array(48).fill(200), ...Array(12).fill(429)])
    const { body } = await answerOf(await put(100, from(99)))
    expect(body).toMatchObject({
      error: 'rate_limited',
      unit: 'files',
      used: 48,
      limit: 48,
      network: '2001:db8:7::/48',
      usedBytes: 0,
    })
    expect((await put(100, { address: '2001:db8:8::1' })).status).toBe(200)
  })
})
