/** Takedowns and blocked callers, by the interface of operators. It needs a token of the scope admin, so a server of its own. */
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { Caller } from './caller.ts'
import { blockOf, CAR_TYPE, carOfSections } from './car-files.ts'
import { CODEC, rawCidOf } from './content-ids.ts'
import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import type { OwnServer } from './server-under-test.ts'
import type { SignupResult } from './shapes.ts'
import { freshAddress, sampleBytes } from './target.ts'
import { forgeToken, keyThatSigned, readToken } from './token-forge.ts'

const isForeign = process.env.LADE_ACCEPTANCE_URL !== undefined
const options = { meta: { skippedBecause: 'not on a server of others' } }
const KEY = '5f'.repeat(32)
const REASON = 'Complaint 17'
/** The time in which a block holds on every instance. */
const HOLDS_MS = 2000

describe.skipIf(isForeign)('moderation', options, () => {
  const started: OwnServer[] = []
  afterAll(() => Promise.all(started.map((server) => server.discard())))

  async function serve() {
    const env = Object.fromEntries(Object.entries(OWN_ENV).filter(([, value]) => value !== undefined))
    const server = await startOwnServer({ ...(env as Record<string, string>), LADE_TOKEN_KEY: KEY })
    started.push(server)
    const callerAt = (address = freshAddress()) =>
      new Caller(server.baseUrl, server.baseUrl, { 'X-Forwarded-For': address })
    const signUp = async (email: string) => {
      const { token } = (await callerAt().post('/api/auth/signup', { email, label: 'x' })).json<SignupResult>()
      return { token, caller: callerAt().with({ Authorization: `Bearer ${token}` }) }
    }
    // What `lade keys mint --scopes admin` signs.
    const { token } = await signUp('ops@example.org')
    const { header, payload } = readToken(token)
    const claims = { ...payload, scopes: ['admin'], jti: randomUUID() }
    const admin = forgeToken(header, claims, keyThatSigned(token, KEY))
    return { callerAt, signUp, admin: callerAt().with({ Authorization: `Bearer ${admin}` }) }
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve, HOLDS_MS))

  test('blocked content is 451 under its ids, cannot be uploaded again, says why to its owner, and comes back', async () => {
    const { callerAt, signUp, admin } = await serve()
    const { caller: owner } = await signUp('ada@example.org')
    const bytes = sampleBytes()
    const { base32: cid } = rawCidOf(bytes)
    const { sha256, pieceCid } = await owner.stage(bytes)
    const paths = [`/p/${cid}`, `/p/${sha256}`, `/p/${pieceCid}`, `/piece/${pieceCid}`, `/ipfs/${cid}?format=raw`]
    for (const path of paths) expect((await callerAt().get(path)).status, path).toBe(200)

    const blocked = await admin.post('/api/admin/blocks', { cid, reason: REASON })
    expect(blocked.status, blocked.body.toString()).toBe(200)
    expect(blocked.json()).toMatchObject({ cid, reason: REASON, files: 1, ended: 0 })
    await settled()
    for (const path of paths) expectProblem(await callerAt().get(path), 451, 'blocked')
    expect((await callerAt().get(`/p/${cid}`)).json()).not.toHaveProperty('reason')
    expect((await owner.retrieve(cid)).json()).toMatchObject({ error: 'blocked', reason: REASON })
    const before = await owner.usage()
    const other = sampleBytes()
    const car = carOfSections(
      [],
      [bytes, other].map((block) => blockOf(CODEC.raw, 'sha256', block)),
    )
    const sent = { headers: { 'Content-Type': CAR_TYPE, 'Content-Length': String(car.length) }, body: car }
    const { files } = (await callerAt().request('POST', '/api/batches', sent)).json<{ files: { error?: string }[] }>()
    expect(files.map(({ error }) => error)).toEqual(['blocked', undefined])
    expectProblem(await callerAt().upload(bytes), 451, 'blocked')
    expectProblem(await owner.upload(bytes, { cid: 'opaque0000001' }), 451, 'blocked')
    expect(await owner.usage()).toEqual(before)

    expect((await admin.request('DELETE', `/api/admin/blocks/${cid}`)).status).toBe(200)
    await settled()
    for (const path of paths) expect((await callerAt().get(path)).status, path).toBe(200)
    expectProblem(await owner.post('/api/admin/blocks', { cid, reason: REASON }), 403, 'insufficient_scope')
  })

  test('blocked callers are refused before their body, and their files go where that is asked for', async () => {
    const { callerAt, signUp, admin } = await serve()
    const { caller: spammer } = await signUp('spam@example.org')
    const { cid } = await spammer.stage(sampleBytes())
    const request = { email: 'spam@example.org', reason: 'Spam', files: 'remove' }
    expect((await admin.post('/api/admin/blocked-callers', request)).status).toBe(200)
    const network = { network: '203.0.113.0/24', reason: 'Scraping', files: 'keep' }
    expect((await admin.post('/api/admin/blocked-callers', network)).status).toBe(200)
    await settled()
    expectProblem(await spammer.upload(sampleBytes()), 403, 'caller_blocked')
    expectProblem(await spammer.get('/api/files'), 403, 'caller_blocked')
    expectProblem(await callerAt().retrieve(cid), 410, 'gone')
    expectProblem(await callerAt('203.0.113.9').upload(sampleBytes()), 403, 'caller_blocked')
    expectProblem(await callerAt('203.0.113.9').retrieve(cid), 403, 'caller_blocked')
    expect((await callerAt('203.0.114.9').upload(sampleBytes())).status).toBe(200)
  })
})
