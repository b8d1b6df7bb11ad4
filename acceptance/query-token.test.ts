import { describe, expect, test } from 'vitest'
import { type Answer, headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

function expectDeprecated(answer: Answer): void {
  const deprecation = headerOf(answer, 'deprecation')
  expect(deprecation).toMatch(/^@\d+$/)
  const sunset = headerOf(answer, 'sunset')
  expect(new Date(sunset).toUTCString()).toBe(sunset)
  expect(Date.parse(sunset) / 1_000).toBeGreaterThanOrEqual(Number(deprecation.slice(1)))
  expect(headerOf(answer, 'link')).toMatch(/<[^>]+>;[^,]*rel="?deprecation"?/)
  expect(headerOf(answer, 'cache-control')).toContain('no-store')
}

function expectNotDeprecated(answer: Answer): void {
  expect(answer.headers).not.toHaveProperty('deprecation')
  expect(answer.headers).not.toHaveProperty('sunset')
}

describe('the query form ?token=', () => {
  test('uploads for its user, and the answer says that the form is deprecated', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes()
    const answer = await target.anonymous().upload(bytes, { query: `&token=${user.token}` })
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(answer.json<object>()).toMatchObject({ owner: user.email, sponsored: false })
    expectDeprecated(answer)
  })

  test.for(['/api/usage', '/api/files', '/api/tokens'])('opens %s', async (path, context) => {
    const user = await target.anyUser(context)
    const answer = await target.anonymous().get(`${path}?token=${user.token}`)
    expect(answer.status, answer.body.toString()).toBe(200)
    expectDeprecated(answer)
    expect(answer.body.toString()).not.toContain(user.token)
  })

  test('reads a private file, and no cache may keep it', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes, { headers: { 'X-Visibility': 'private' } })
    const answer = await target.anonymous().retrieve(cid, { query: `?token=${user.token}` })
    expect(answer.body.equals(bytes)).toBe(true)
    expectDeprecated(answer)
    expect(headerOf(answer, 'referrer-policy')).toBe('no-referrer')
  })

  test('refuses an invalid one, saying so with the same headers', async () => {
    const answer = await target.anonymous().get('/api/usage?token=pk_live_a.b.c')
    expectProblem(answer, 401, 'invalid_token')
    expectDeprecated(answer)
    expect(answer.body.toString()).not.toContain('pk_live_a.b.c')
  })

  test('refuses an upload with an invalid one instead of making it sponsored', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    expectProblem(await caller.upload(bytes, { query: '&token=nonsense' }), 401, 'invalid_token')
    expect((await caller.retrieve(rawCidOf(bytes).base32)).status).toBe(404)
  })

  test('the header wins when both are sent', async (context) => {
    const user = await target.anyUser(context)
    const good = await user.upload(sampleBytes(), { query: '&token=nonsense' })
    expect(good.json<object>()).toMatchObject({ owner: user.email })
    const bad = target.anonymous().with({ Authorization: 'Bearer pk_live_a.b.c' })
    expectProblem(await bad.get(`/api/usage?token=${user.token}`), 401, 'invalid_token')
  })

  test('refuses two of them', async (context) => {
    const user = await target.anyUser(context)
    const answer = await target.anonymous().get(`/api/usage?token=${user.token}&token=${user.token}`)
    expectProblem(answer, [400, 401], ['bad_request', 'invalid_token'])
  })

  test('the header form carries no deprecation', async (context) => {
    const user = await target.anyUser(context)
    expectNotDeprecated(await user.get('/api/usage'))
    expectNotDeprecated(await user.upload(sampleBytes()))
  })
})
