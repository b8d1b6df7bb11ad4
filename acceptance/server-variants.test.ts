/**
 * What depends on how a server is configured. Each of these starts a server of its own, so all are about the code beside
 * this suite; against a foreign server they are skipped.
 */
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Caller, headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { OWN_ENV } from './own-env.ts'
import { newDataDir, startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import { exchangeRaw, expectRefused, head } from './raw-http.ts'
import type { OwnServer } from './server-under-test.ts'
import type { SignupResult } from './shapes.ts'
import { freshAddress, MIB, sampleBytes } from './target.ts'

const isForeign = process.env.LADE_ACCEPTANCE_URL !== undefined
const options = { meta: { skippedBecause: 'not on a server of others' } }
const started: OwnServer[] = []

async function serve(changes: Record<string, string | undefined>, dataDir?: string) {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...OWN_ENV, ...changes })) if (value !== undefined) env[name] = value
  const server = await startOwnServer(env, dataDir)
  started.push(server)
  const callerAt = (address = freshAddress()) =>
    new Caller(server.baseUrl, server.baseUrl, { 'X-Forwarded-For': address })
  const signUp = async (email: string) => {
    const answer = await callerAt().post('/api/auth/signup', { email, label: 'x' })
    expect(answer.status, answer.body.toString()).toBe(200)
    return callerAt().with({ Authorization: `Bearer ${answer.json<SignupResult>().token}` })
  }
  return { server, callerAt, signUp }
}

afterAll(async () => {
  // One that follows another on its data writes there until it ends.
  await Promise.all(started.map((server) => server.stop()))
  await Promise.all(started.map((server) => server.discard()))
})

describe.skipIf(isForeign).concurrent('LADE_STORAGE=none', options, () => {
  test('refuses uploads and retrieval as storage_offline, after every check that comes before, and is not ready', async () => {
    const { server, callerAt } = await serve({ LADE_STORAGE: 'none' })
    expectProblem(await callerAt().upload(sampleBytes()), 503, 'storage_offline')
    expectProblem(await callerAt().retrieve(rawCidOf(sampleBytes()).base32), 503, 'storage_offline')
    expectProblem(await callerAt().upload(sampleBytes(), { cid: 'no' }), 400, 'invalid_cid')
    const { base32: cid } = rawCidOf(sampleBytes())
    expectProblem(await callerAt().upload(Buffer.alloc(0), { cid }), 400, 'empty_body')
    const invalid = callerAt().with({ Authorization: 'Bearer pk_live_a.b.c' })
    expectProblem(await invalid.upload(sampleBytes()), 401, 'invalid_token')
    expectProblem(await callerAt().upload(sampleBytes(MIB + 1)), 413, 'too_large')
    const raw = await exchangeRaw(
      server.directUrl,
      head(
        `POST /api/upload?cid=${rawCidOf(sampleBytes()).base32} HTTP/1.1`,
        `Host: ${server.directUrl.host}`,
        'Content-Type: text/plain',
        'Content-Length: 10',
        'Expect: 100-continue',
      ),
    )
    expectRefused(raw, [503], ['storage_offline'])
    expect((await callerAt().get('/healthz')).status).toBe(200)
    expect((await callerAt().get('/readyz')).status).toBe(503)
  })
})

describe.skipIf(isForeign).concurrent('a disk that is too full', options, () => {
  test('refuses uploads as insufficient_storage and charges nothing', async () => {
    const dataDir = await newDataDir()
    // Also where the other tests keep their bytes in a store that has no disk to fill.
    const changes = { LADE_MIN_FREE_MB: '1000000000', LADE_STORAGE: `file:${join(dataDir, 'objects')}` }
    const { signUp } = await serve(changes, dataDir)
    const user = await signUp('full@example.com')
    for (const size of [100, MIB]) {
      expectProblem(await user.upload(sampleBytes(size)), 507, 'insufficient_storage')
    }
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })
})

describe.skipIf(isForeign).concurrent('a server with nothing opened up', options, () => {
  test('no trusted proxy: X-Forwarded-For and its kin change nothing', async () => {
    const { callerAt } = await serve({ LADE_TRUSTED_PROXIES: undefined })
    await callerAt().stage(sampleBytes(MIB))
    await callerAt().stage(sampleBytes(MIB))
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP']) {
      const value = name === 'Forwarded' ? `for=${freshAddress()}` : freshAddress()
      expectProblem(
        await callerAt()
          .with({ [name]: value })
          .upload(sampleBytes(1)),
        429,
        'rate_limited',
      )
    }
  })

  test('ten signups an hour for each address, then rate_limited', async () => {
    const { callerAt } = await serve({ LADE_SIGNUPS_PER_HOUR: undefined })
    const caller = callerAt()
    for (let at = 0; at < 10; at += 1) {
      expect((await caller.post('/api/auth/signup', { email: `u${at}@example.com`, label: 'x' })).status).toBe(200)
    }
    const refused = await caller.post('/api/auth/signup', { email: 'u10@example.com', label: 'x' })
    expectProblem(refused, 429, 'rate_limited')
    expect(Number(headerOf(refused, 'retry-after'))).toBeLessThanOrEqual(3_600)
    const elsewhere = await callerAt().post('/api/auth/signup', { email: 'u10@example.com', label: 'x' })
    expect(elsewhere.status).toBe(200)
  })

  test('LADE_QUERY_TOKEN=refuse: ?token= opens nothing and is not ignored on an upload', async () => {
    const { callerAt, signUp } = await serve({ LADE_QUERY_TOKEN: 'refuse' })
    const user = await signUp('query@example.com')
    const token = (user.headers.Authorization ?? '').slice('Bearer '.length)
    const answer = await callerAt().get(`/api/usage?token=${token}`)
    expectProblem(answer, [400, 401], ['bad_request', 'no_token', 'invalid_token'])
    const upload = await callerAt().upload(sampleBytes(), { query: `&token=${token}` })
    expectProblem(upload, [400, 401], ['bad_request', 'no_token', 'invalid_token'])
    expect((await user.get('/api/usage')).status).toBe(200)
  })

  test('LADE_OPAQUE_IDS=refuse: an id that is not content-addressed is invalid_cid', async () => {
    const { callerAt } = await serve({ LADE_OPAQUE_IDS: 'refuse' })
    expectProblem(await callerAt().upload(sampleBytes(), { cid: 'myfile01' }), 400, 'invalid_cid')
    expect((await callerAt().upload(sampleBytes())).status).toBe(200)
  })

  test('LADE_SIGNUP=closed: signup is refused and says so', async () => {
    const { callerAt } = await serve({ LADE_SIGNUP: 'closed' })
    const answer = await callerAt().post('/api/auth/signup', { email: 'a@example.com', label: 'x' })
    expectProblem(answer, 403, 'signup_closed')
    expect((await callerAt().get('/api/info')).json<object>()).toMatchObject({ signup: 'closed' })
  })
})

describe.skipIf(isForeign).concurrent('a restart', options, () => {
  test('SIGTERM ends it with 0; files, tokens, revocations and usage are there again', async () => {
    const dataDir = await newDataDir()
    const before = await serve({}, dataDir)
    const user = await before.signUp('restart@example.com')
    const second = await before.signUp('restart@example.com')
    const bytes = sampleBytes(10_000)
    const { cid, dealId } = await user.stage(bytes, { filename: 'kept.txt' })
    const jti = (await second.get('/api/tokens')).json<{ tokens: { jti: string; current: boolean }[] }>()
    const own = jti.tokens.find((token) => token.current)?.jti
    expect((await user.post('/api/tokens/revoke', { jti: own })).status).toBe(200)
    expect(await before.server.stop()).toBe(0)

    const after = await serve({}, dataDir)
    const again = after.callerAt().with({ Authorization: user.headers.Authorization ?? '' })
    const read = await again.retrieve(cid)
    expect(read.body.equals(bytes)).toBe(true)
    expect(headerOf(read, 'content-disposition')).toContain('kept.txt')
    expect((await again.usage()).today.bytes).toBe(10_000)
    expect((await again.stage(bytes)).dealId).toBe(dealId)
    const revoked = after.callerAt().with({ Authorization: second.headers.Authorization ?? '' })
    expectProblem(await revoked.get('/api/usage'), 401, 'revoked_token')
  })

  test('rule 5: with another key every live token is invalid_token, and a new signup finds the files again', async () => {
    const dataDir = await newDataDir()
    const before = await serve({}, dataDir)
    const user = await before.signUp('rotate@example.com')
    const { cid } = await user.stage(sampleBytes())
    await before.server.stop()

    const after = await serve({ LADE_TOKEN_KEY: 'e'.repeat(64) }, dataDir)
    const old = after.callerAt().with({ Authorization: user.headers.Authorization ?? '' })
    expectProblem(await old.get('/api/usage'), 401, 'invalid_token')
    expectProblem(await old.upload(sampleBytes()), 401, 'invalid_token')
    const renewed = await after.signUp('rotate@example.com')
    expect((await renewed.files()).files.map((file) => file.cid)).toEqual([cid])
  })

  test('without LADE_TOKEN_KEY the key is made once and kept: tokens outlive a restart', async () => {
    const dataDir = await newDataDir()
    const before = await serve({ LADE_TOKEN_KEY: undefined }, dataDir)
    const user = await before.signUp('key@example.com')
    await before.server.stop()
    const after = await serve({ LADE_TOKEN_KEY: undefined }, dataDir)
    const again = after.callerAt().with({ Authorization: user.headers.Authorization ?? '' })
    expect((await again.get('/api/usage')).status).toBe(200)
  })
})
