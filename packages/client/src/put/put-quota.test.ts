import { Readable } from 'node:stream'
import { LadeError } from '@lade/core/errors'
import { PART_MEDIA_TYPE } from '@lade/core/wire'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../create-client.ts'
import {
  FAKE_EMAIL,
  FAKE_TOKEN,
  type FakeService,
  type Fault,
  refuse,
  startFakeService,
} from '../testing/fake-service.ts'
import { noise } from '../testing/noise.ts'

const MIB = 1_048_576
const LIMITS = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }

let service: FakeService
beforeEach(async () => {
  service = await startFakeService()
})
afterEach(() => service.close())

const clientOf = () => createClient({ url: service.url, token: FAKE_TOKEN, retry: { attempts: 1 } }, LIMITS)
const bytes = noise(7 * MIB)
const uploads = () => service.seen.filter(({ method, path }) => method === 'POST' && path === '/api/upload')
const removed = () => [...service.files.values()].filter(({ entry }) => entry.status === 'removed').length
const failureOf = (put: Promise<unknown>): Promise<unknown> =>
  put.then(
    () => undefined,
    (error: unknown) => error,
  )

/** Answers what is left of the quota. */
const usage =
  (quotaBytes: number, remainingBytes: number): Fault =>
  (_request, response) => {
    const resetsAt = new Date(Date.now() + 3_600_000).toISOString()
    response.end(JSON.stringify({ email: FAKE_EMAIL, quotaBytes, today: { remainingBytes, resetsAt } }))
  }

describe('a file for which the day has no room', () => {
  it('is refused before anything of it is sent, without a time to come again where no day has room for it', async () => {
    service.failAlways('GET /api/usage', usage(5 * MIB, 5 * MIB))
    const failure = await failureOf(clientOf().put(bytes))
    if (!LadeError.has(failure, 'quota_exceeded')) throw failure
    expect(failure.message).toMatch(/^This file \(7 MB\) is larger than a day's quota \(5 MB\)\. /)
    expect(failure.evidence).toEqual({
      unit: 'bytes',
      used: 0,
      limit: 5 * MIB,
      remaining: 5 * MIB,
      size: 7 * MIB,
      reason: failure.message,
    })
    expect(uploads()).toHaveLength(0)
  })

  it('is told when the quota resets where another day has room', async () => {
    service.failAlways('GET /api/usage', usage(20 * MIB, 3 * MIB))
    const failure = await failureOf(clientOf().put(bytes))
    expect(failure).toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringMatching(
        /^This file is 7 MB, but only 3 MB of today's quota \(20 MB\) is left\. .*00:00 UTC/,
      ),
      evidence: { retryAfterSeconds: expect.closeTo(3600, -1) },
    })
  })

  it('sends what fits, and goes on another day, where that is asked for', async () => {
    service.failAlways('GET /api/usage', usage(5 * MIB, 5 * MIB))
    const full = refuse(429, 'quota_exceeded', { used: 5 * MIB, limit: 5 * MIB, retryAfterSeconds: 3600 })
    const put = () => clientOf().put(bytes, { overDays: true, concurrency: 1 })
    let isFull = false
    service.failAlways('POST /api/upload', (request, response) => {
      if (isFull || uploads().length > 2) {
        isFull = true
        return full(request, response)
      }
    })
    expect(await failureOf(put())).toMatchObject({ code: 'quota_exceeded' })
    expect([service.files.size, removed()]).toEqual([2, 0])
    expect(uploads()[0]?.headers['x-term-days']).toBe('30')
  })

  it('counts the parts of an earlier attempt as paid', async () => {
    service.failOnce('POST /api/compose', refuse(503, 'shutting_down', { retryAfterSeconds: 1 }))
    expect(await failureOf(clientOf().put(bytes))).toMatchObject({ code: 'shutting_down' })
    expect([service.files.size, removed()]).toEqual([4, 0])
    service.failAlways('GET /api/usage', usage(8 * MIB, MIB))
    expect(await clientOf().put(bytes)).toMatchObject({ size: 7 * MIB })
    expect(uploads()).toHaveLength(4)
  })
})

describe('parts', () => {
  it('say what they are, and ask for a short term', async () => {
    const { cid } = await clientOf().put(bytes, { filename: 'video.mp4', contentType: 'video/mp4', termDays: 300 })
    for (const [index, { headers }] of uploads().entries()) {
      expect(headers).toMatchObject({ 'content-type': PART_MEDIA_TYPE, 'x-term-days': '7' })
      expect(headers['x-filename']).toMatch(/^video\.mp4\.part-[1-4]$/)
      expect(index).toBeLessThan(4)
    }
    const composed = service.seen.find(({ path }) => path === '/api/compose')
    expect(composed?.headers['x-term-days']).toBe('300')
    expect(service.files.get(cid)?.entry).toMatchObject({ contentType: 'video/mp4', filename: 'video.mp4' })
  })

  it('are removed when a stream ends in an error, which nobody can send again', async () => {
    service.failAlways('POST /api/compose', refuse(503, 'shutting_down', { retryAfterSeconds: 1 }))
    expect(await failureOf(clientOf().put(Readable.from([bytes])))).toMatchObject({ code: 'shutting_down' })
    expect([service.files.size, removed()]).toEqual([4, 4])
  })

  it('are removed when the file is refused for good, and the first error is told', async () => {
    service.failAlways('POST /api/compose', refuse(409, 'cid_conflict', { cid: 'a', actual: 'b' }))
    service.failOnce('DELETE /api/files/', refuse(403, 'insufficient_scope', { required: 'pin' }))
    expect(await failureOf(clientOf().put(bytes))).toMatchObject({ code: 'cid_conflict' })
    expect(removed()).toBe(3)
  })
})
