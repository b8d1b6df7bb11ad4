import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { UsageResult } from '@lade/core/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const MB = 1_048_576

let service: RunningService | undefined
afterEach(() => service?.remove())

async function run(env: Record<string, string>): Promise<RunningService> {
  service = await runService({ env })
  return service
}

const bytesOf = (seed: string, sizeBytes: number): Uint8Array => Buffer.alloc(sizeBytes, seed)
const answerOf = async (response: Response) => ({
  status: response.status,
  limit: response.headers.get('x-ratelimit-limit'),
  remaining: response.headers.get('x-ratelimit-remaining'),
  retryAfter: response.headers.get('retry-after'),
  body: (await response.json()) as Record<string, unknown>,
})
const usageOf = async ({ fetch }: RunningService, token: string): Promise<UsageResult> =>
  (await (await fetch('/api/usage', { headers: bearer(token) })).json()) as UsageResult

/** What an upload of this size is answered before a byte of it is sent. */
function announced({ url }: RunningService, sizeBytes: number, token?: string): ReturnType<typeof answerOf> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-length': sizeBytes,
      'content-type': 'text/plain',
      expect: '100-continue',
      ...bearer(token),
    }
    const sent = request(`${url}/api/upload?cid=${'a'.repeat(64)}`, { method: 'POST', headers })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const answered = new Headers(response.headers as Record<string, string>)
      text(response).then((body) => {
        resolve(answerOf(new Response(body, { status: response.statusCode ?? 500, headers: answered })))
        sent.destroy()
      }, reject)
    })
    sent.flushHeaders()
  })
}

describe('a token with a quota of its own', () => {
  it('is kept within it, while another token of the user goes on', async () => {
    const running = await run({ LADE_TOKEN_DAILY_MB: '3' })
    const email = 'ada@example.org'
    const small = await running.mint(['put', 'list'], { email, quotaMb: 1 })
    const { token } = await running.signUp(email)
    const first = await answerOf(await running.upload(bytesOf('a', MB - 1), { token: small }))
    expect(first).toMatchObject({ status: 200, limit: String(MB), remaining: '1' })
    expect(await answerOf(await running.upload(bytesOf('b', 2), { token: small }))).toMatchObject({
      status: 429,
      limit: String(MB),
      remaining: '1',
      body: {
        error: 'quota_exceeded',
        which: 'token',
        used: MB - 1,
        limit: MB,
        remaining: 1,
        size: 2,
        detail:
          '1,048,575 bytes of 1 MB used today by this token; this upload is 2 bytes. The quota resets at 00:00 UTC. Another token has its own quota.',
      },
    })
    expect((await running.upload(bytesOf('c', 2 * MB), { token })).status).toBe(200)
    const { body } = await answerOf(await running.upload(bytesOf('d', 2), { token }))
    expect(body).toMatchObject({ error: 'quota_exceeded', which: 'day', used: 3 * MB - 1, limit: 3 * MB })
    expect(await usageOf(running, small)).toMatchObject({
      quotaBytes: MB,
      userQuotaBytes: 3 * MB,
      today: { bytes: 3 * MB - 1, remainingBytes: 1 },
      token: { quotaBytes: MB, usedBytes: MB - 1 },
    })
  })

  it('raises the quota of its user while it is live', async () => {
    const running = await run({ LADE_TOKEN_DAILY_MB: '1' })
    const email = 'ada@example.org'
    const big = await running.mint(['put', 'list'], { email, quotaMb: 2 })
    const { token } = await running.signUp(email)
    expect((await running.upload(bytesOf('a', MB), { token })).status).toBe(200)
    expect(await usageOf(running, big)).toMatchObject({ quotaBytes: 2 * MB, today: { remainingBytes: MB } })
    expect((await running.upload(bytesOf('b', MB), { token: big })).status).toBe(200)
    const { body } = await answerOf(await running.upload(bytesOf('c', 1), { token: big }))
    expect(body).toMatchObject({ which: 'day', limit: 2 * MB, used: 2 * MB })
  })
})

describe('a limit of what is stored', () => {
  const GB = 1024 * MB

  it('is shown before anything is sent, and refuses what does not fit, without a time to wait', async () => {
    const env = {
      LADE_SPONSORED_STORED_GB: '1',
      LADE_TOKEN_STORED_GB: '2',
      LADE_SPONSORED_DAILY_MB: '3000',
      LADE_SPONSORED_FILE_MB: '2000',
    }
    const running = await run({ ...env, LADE_TOKEN_DAILY_MB: '4000' })
    const info = (await (await running.fetch('/api/info')).json()) as { tiers: unknown }
    expect(info.tiers).toMatchObject({ sponsored: { storedBytes: GB }, token: { storedBytes: 2 * GB } })
    const { token } = await running.signUp()
    const announce = (sizeBytes: number, own?: string) => announced(running, sizeBytes, own)
    expect(await announce(GB + 1)).toMatchObject({
      status: 429,
      retryAfter: null,
      remaining: String(3000 * MB),
      body: { error: 'rate_limited', which: 'stored', used: 0, limit: GB, remaining: GB },
    })
    expect(await announce(2 * GB + 1, token)).toMatchObject({
      status: 429,
      retryAfter: null,
      limit: String(4000 * MB),
      body: {
        error: 'quota_exceeded',
        which: 'stored',
        limit: 2 * GB,
        detail: expect.stringMatching(
          / stored; this upload is .* Remove files, wait until some expire, or ask the operator/,
        ),
      },
    })
    expect((await usageOf(running, token)).stored).toEqual({ bytes: 0, files: 0, limitBytes: 2 * GB })
  })
})
