import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { exchange, headerOf } from './caller.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()
const PRIVATE = { 'X-Visibility': 'private' }

async function stagePrivate(user: User) {
  const bytes = sampleBytes(300)
  const { cid } = await user.stage(bytes, { headers: PRIVATE, filename: 'secret plans.txt' })
  return { bytes, cid }
}

const share = (user: User, cid: string, body: unknown) => user.post(`/api/files/${cid}/share`, body)
const open = (url: string) => exchange(new URL(url), 'GET', url.slice(new URL(url).origin.length))

describe('private files', () => {
  test('the owner reads it with get, and no shared cache may keep it', async (context) => {
    const user = await target.anyUser(context)
    const { bytes, cid } = await stagePrivate(user)
    const answer = await user.retrieve(cid)
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
    expect(headerOf(answer, 'cache-control')).toMatch(/\bprivate\b|no-store/)
    expect(headerOf(answer, 'cache-control')).not.toMatch(/\bpublic\b/)
    expect((await user.get(`/api/files/${cid}`)).json<object>()).toMatchObject({ visibility: 'private' })
  })

  test('is to a reader without credentials like a file that was never there, live and ended', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await stagePrivate(user)
    const never = expectProblem(await target.anonymous().retrieve(rawCidOf(sampleBytes()).base32), 404, 'not_found')
    expect(never.detail).toContain('send your token')
    const live = await target.anonymous().retrieve(cid)
    expect({ ...expectProblem(live, 404, 'not_found'), requestId: '' }).toEqual({ ...never, requestId: '' })
    expect(headerOf(live, 'cache-control')).toBe('no-store')
    expect(JSON.stringify(live.rawHeaders) + live.body.toString()).not.toContain('secret')
    await user.request('DELETE', `/api/files/${cid}`)
    const ended = expectProblem(await target.anonymous().retrieve(cid), 404, 'not_found')
    expect({ ...ended, requestId: '' }).toEqual({ ...never, requestId: '' })
    expectProblem(await user.retrieve(cid), 410, 'gone')
  })

  test('does not hide that a public file of the same bytes is gone', async (context) => {
    const [open, closed] = [await target.freshUser(context), await target.freshUser(context)]
    const { bytes, cid } = await stagePrivate(closed)
    await open.stage(bytes)
    await open.request('DELETE', `/api/files/${cid}`)
    expectProblem(await target.anonymous().retrieve(cid), 410, 'gone')
    expect((await closed.retrieve(cid)).status).toBe(200)
  })

  test('refuses the token of another user like a file that does not exist', async (context) => {
    const { cid } = await stagePrivate(await target.anyUser(context))
    const other = await target.freshUser(context)
    expectProblem(await other.retrieve(cid), 404, 'not_found')
  })

  test('refuses the owner without get', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await stagePrivate(user)
    const narrow = await target.freshUser(context, { email: user.email, scopes: ['put', 'list', 'pin'] })
    expectProblem(await narrow.retrieve(cid), 403, 'insufficient_scope')
  })

  test('no alias of the cid is a way around it', async (context) => {
    const { bytes, cid } = await stagePrivate(await target.anyUser(context))
    const caller = target.anonymous()
    for (const alias of [cid, hexOf(bytes), rawCidOf(bytes).base36, rawCidOf(bytes).base58]) {
      for (const method of ['GET', 'HEAD']) expect((await caller.retrieve(alias, { method })).status).toBe(404)
    }
    const conditional = await caller.retrieve(cid, { headers: { 'If-None-Match': '*', Range: 'bytes=0-0' } })
    expect(conditional.status).toBe(404)
  })

  test('the owner reads ranges of it', async (context) => {
    const user = await target.anyUser(context)
    const { bytes, cid } = await stagePrivate(user)
    const answer = await user.retrieve(cid, { headers: { Range: 'bytes=10-19' } })
    expect(answer.status).toBe(206)
    expect(answer.body.equals(bytes.subarray(10, 20))).toBe(true)
    expect(headerOf(answer, 'cache-control')).not.toMatch(/\bpublic\b/)
  })
})

describe('share links', () => {
  test('a link opens the file without an account until it expires', async (context) => {
    const user = await target.anyUser(context)
    const { bytes, cid } = await stagePrivate(user)
    const answer = await share(user, cid, { ttlSeconds: 60 })
    expect(answer.status, answer.body.toString()).toBe(200)
    const link = answer.json<{ url: string; expiresAt: string }>()
    expect(Math.abs(Date.parse(link.expiresAt) - Date.now() - 60_000)).toBeLessThan(10_000)
    expect(new URL(link.url).origin).toBe(target.contentUrl.origin)
    const read = await open(link.url)
    expect(read.status, read.body.toString()).toBe(200)
    expect(read.body.equals(bytes)).toBe(true)
    expect(headerOf(read, 'cache-control')).not.toMatch(/\bpublic\b/)
  })

  test('refuses a link after its time', async (context) => {
    const user = await target.anyUser(context)
    const { cid } = await stagePrivate(user)
    const { url } = (await share(user, cid, { ttlSeconds: 1 })).json<{ url: string }>()
    await sleep(2_100)
    expectProblem(await open(url), [401, 403], 'invalid_share_link')
  })

  test('refuses a link with any part of its query changed', async (context) => {
    const user = await target.anyUser(context)
    const { cid } = await stagePrivate(user)
    const { url } = (await share(user, cid, { ttlSeconds: 60 })).json<{ url: string }>()
    const keys = [...new URL(url).searchParams.keys()]
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      const changed = new URL(url)
      const value = changed.searchParams.get(key) ?? ''
      const at = Math.floor(value.length / 2)
      const other = value.charAt(at) === '5' ? '6' : '5'
      changed.searchParams.set(key, value.slice(0, at) + other + value.slice(at + 1))
      expectProblem(await open(changed.href), [400, 401, 403], ['invalid_share_link', 'no_token'])
    }
  })

  test('a link to one file does not open another of the same owner', async (context) => {
    const user = await target.anyUser(context)
    const [one, two] = [await stagePrivate(user), await stagePrivate(user)]
    const { url } = (await share(user, one.cid, { ttlSeconds: 60 })).json<{ url: string }>()
    expectProblem(await open(url.replace(one.cid, two.cid)), [401, 403], ['invalid_share_link', 'no_token'])
  })

  test('refuses to share the file of another user', async (context) => {
    const { cid } = await stagePrivate(await target.anyUser(context))
    expectProblem(await share(await target.freshUser(context), cid, { ttlSeconds: 60 }), 404, 'not_found')
  })

  test.for([{ ttlSeconds: 0 }, { ttlSeconds: -1 }, { ttlSeconds: 1.5 }, { ttlSeconds: '60' }, { ttlSeconds: 1e12 }])(
    'refuses %j',
    async (body, context) => {
      const user = await target.anyUser(context)
      const { cid } = await stagePrivate(user)
      expectProblem(await share(user, cid, body), 400, ['bad_request', 'invalid_json'])
    },
  )

  test('a link ends with the file', async (context) => {
    const user = await target.anyUser(context)
    const { cid } = await stagePrivate(user)
    const { url } = (await share(user, cid, { ttlSeconds: 60 })).json<{ url: string }>()
    await user.request('DELETE', `/api/files/${cid}`)
    expect([401, 403, 404, 410]).toContain((await open(url)).status)
  })
})
