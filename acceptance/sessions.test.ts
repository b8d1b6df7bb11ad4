import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Caller, headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import type { TokenList, UploadResult, Usage } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

interface Session {
  id: string
  via: string
  userId: string
  scopes: string[]
  jti: string | null
  current: boolean
}

const ownOrigin = () => target.anonymous().baseUrl.origin
const isHttps = () => target.anonymous().baseUrl.protocol === 'https:'

/** Signs in as a page of the service does; answers who has the cookie, and what was set. */
async function signIn(token: string): Promise<{ page: Caller; setCookie: string; session: Session }> {
  const anonymous = target.anonymous().with({ Origin: ownOrigin() })
  const answer = await anonymous.post('/api/session', { token })
  expect(answer.status, answer.body.toString()).toBe(200)
  const setCookie = headerOf(answer, 'set-cookie')
  const [cookie = ''] = setCookie.split(';')
  return { page: anonymous.with({ Cookie: cookie }), setCookie, session: answer.json<{ session: Session }>().session }
}

describe('/api/session', () => {
  test('is there for everybody, and says how to sign in', async () => {
    const answer = await target.anonymous().get('/api/session')
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ session: null, signIn: expect.arrayContaining(['token']) })
  })

  test('gives a cookie that scripts do not see, for this host and its own pages', async (context) => {
    const user = await target.freshUser(context)
    const { setCookie, session } = await signIn(user.token)
    expect(setCookie).toContain('; HttpOnly; SameSite=Strict')
    expect(setCookie).not.toMatch(/domain=/i)
    expect(setCookie).toMatch(
      isHttps() ? /^__Host-lade-session=[\w-]{43};.* Path=\/; Secure/ : /^lade-session=[\w-]{43};/,
    )
    expect(session).toMatchObject({ via: 'token', userId: user.userId, current: true })
  })

  test('stands for its token on the API, with the same rights, and ends with it', async (context) => {
    const user = await target.freshUser(context, { scopes: ['list', 'put'] })
    const { page } = await signIn(user.token)
    const bytes = sampleBytes()
    expect((await page.upload(bytes)).json<UploadResult>()).toMatchObject({ sponsored: false, owner: user.email })
    expect((await page.get('/api/usage')).json<Usage>()).toMatchObject({ userId: user.userId })
    expectProblem(await page.request('DELETE', `/api/files/${rawCidOf(bytes).base32}`), 403, 'insufficient_scope')
    const { tokens } = (await page.get('/api/tokens')).json<TokenList>()
    const [{ jti } = { jti: '' }] = tokens
    expect((await page.post('/api/tokens/revoke', { jti })).status).toBe(200)
    await target.untilRevoked()
    expectProblem(await page.get('/api/files'), 401, 'invalid_session')
    expect((await page.get('/api/session')).json()).toMatchObject({ session: null })
  })

  test('is left by signing out, and its cookie is good for nothing after that', async (context) => {
    const { page } = await signIn((await target.freshUser(context)).token)
    const answer = await page.request('DELETE', '/api/session')
    expect(answer.json()).toEqual({ session: null })
    expect(headerOf(answer, 'set-cookie')).toContain('Max-Age=0')
    await target.untilRevoked()
    expectProblem(await page.get('/api/usage'), 401, 'invalid_session')
    expectProblem(await page.upload(sampleBytes()), 401, 'invalid_session')
  })

  test('is listed and ended by its user', async (context) => {
    const user = await target.freshUser(context)
    const { page, session } = await signIn(user.token)
    const { sessions } = (await user.get('/api/sessions')).json<{ sessions: Session[] }>()
    expect(sessions).toMatchObject([{ id: session.id, current: false }])
    expect((await user.request('DELETE', `/api/sessions/${session.id}`)).status).toBe(200)
    await target.untilRevoked()
    expectProblem(await page.get('/api/usage'), 401, 'invalid_session')
  })

  test('does nothing for pages of other origins', async (context) => {
    const user = await target.freshUser(context)
    const { page } = await signIn(user.token)
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: '' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      const foreign = page.with(headers as Record<string, string>)
      expectProblem(await foreign.upload(sampleBytes()), 403, 'foreign_origin')
      expectProblem(await foreign.request('DELETE', '/api/session'), 403, 'foreign_origin')
      expectProblem(await foreign.post('/api/session', { token: user.token }), 403, 'foreign_origin')
    }
    expect((await page.get('/api/usage')).json<Usage>()).toMatchObject({ today: { files: 0 } })
  })
})

describe('POST /api/files/{cid}/claim', () => {
  test('makes a file of nobody the account’s, once and for the secret alone', async (context) => {
    const [ada, eve] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes()
    const secret = randomBytes(24)
    const headers = { 'X-Claim-Digest': createHash('sha256').update(secret).digest('hex') }
    const staged = (await target.anonymous().upload(bytes, { headers })).json<UploadResult>()
    expect(staged).toMatchObject({ sponsored: true, owner: null })
    const path = `/api/files/${staged.cid}/claim`
    expectProblem(await eve.post(path, { secret: randomBytes(24).toString('base64url') }), 404, 'not_found')
    const claimed = await ada.post(path, { secret: secret.toString('base64url') })
    expect(claimed.json<UploadResult>()).toMatchObject({ cid: staged.cid, sponsored: false, owner: ada.email })
    expectProblem(await eve.post(path, { secret: secret.toString('base64url') }), 404, 'not_found')
    expect((await ada.get('/api/usage')).json<Usage>()).toMatchObject({ today: { bytes: bytes.length } })
  })
})
