import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { hexOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import type { FileEntry, UploadResult } from './shapes.ts'
import { sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()
const PRIVATE = { 'X-Visibility': 'private' }
const PUBLIC = { 'X-Visibility': 'public' }

const change = (user: User, cid: string, json: unknown) => user.request('PATCH', `/api/files/${cid}`, { json })
const entryOf = async (user: User, cid: string) => (await user.get(`/api/files/${cid}`)).json<FileEntry>()
const shown = ({ visibility, contentType, filename, term }: UploadResult | FileEntry) => ({
  visibility,
  contentType,
  filename,
  term,
})

describe('a second upload of a file', () => {
  test('makes it what its headers say, charges nothing, and shows it', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const first = await user.stage(bytes, { filename: 'old.txt' })
    expect(shown(first)).toEqual({
      visibility: 'public',
      contentType: 'text/plain',
      filename: 'old.txt',
      term: '30 days',
    })
    const { bytes: charged } = (await user.usage()).today
    const headers = { ...PRIVATE, 'X-Term-Days': '40' }
    const second = await user.stage(bytes, { contentType: 'image/x-new', filename: 'new.png', headers })
    const wanted = { visibility: 'private', contentType: 'image/x-new', filename: 'new.png', term: '40 days' }
    expect(shown(second)).toEqual(wanted)
    expect(second.dealId).toBe(first.dealId)
    expect(Date.parse(second.expiresAt) - Date.parse(first.expiresAt)).toBe(10 * 86_400_000)
    expect(shown(await entryOf(user, first.cid))).toEqual(wanted)
    expect((await user.usage()).today.bytes).toBe(charged)
    expectProblem(await target.anonymous().retrieve(first.cid), 404, 'not_found')
  })

  test('leaves what it says nothing of, and never shortens the term', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const headers = { ...PRIVATE, 'X-Term-Days': '40' }
    await user.stage(bytes, { filename: 'kept.txt', headers })
    const kept = { visibility: 'private', contentType: 'text/plain', filename: 'kept.txt', term: '40 days' }
    expect(shown(await user.stage(bytes))).toEqual(kept)
    expect(shown(await user.stage(bytes, { headers: { 'X-Term-Days': '5' } }))).toEqual(kept)
  })

  test('works for composed files', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes)
    const compose = (json: object, headers: Record<string, string> = {}) =>
      user.request('POST', `/api/compose?cid=${hexOf(bytes)}`, { json: { parts: [cid], ...json }, headers })
    const answer = await compose({ contentType: 'image/x-new', filename: 'new.png' }, PRIVATE)
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(shown(answer.json<UploadResult>())).toMatchObject({
      visibility: 'private',
      contentType: 'image/x-new',
      filename: 'new.png',
    })
  })

  test('needs pin for a longer term, and get to make a private file public; else nothing changes', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes, { headers: PRIVATE })
    const before = await entryOf(user, cid)
    const narrow = await target.freshUser(context, { email: user.email, scopes: ['put', 'list'] })
    const longer = await narrow.upload(bytes, { filename: 'x', headers: { 'X-Term-Days': '40' } })
    expect(expectProblem(longer, 403, 'insufficient_scope')).toMatchObject({ required: 'pin' })
    const open = await narrow.upload(bytes, { filename: 'x', headers: PUBLIC })
    expect(expectProblem(open, 403, 'insufficient_scope')).toMatchObject({ required: 'get' })
    expect(await entryOf(user, cid)).toEqual(before)
    expect(shown(await narrow.stage(bytes, { filename: 'x' }))).toMatchObject({ filename: 'x', visibility: 'private' })
  })

  test('changes nothing of a sponsored file, and the answer shows what it is', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    await caller.stage(bytes, { filename: 'first.txt' })
    const second = await caller.stage(bytes, { contentType: 'text/html', filename: 'second.html' })
    expect(shown(second)).toMatchObject({ visibility: 'public', contentType: 'text/plain', filename: 'first.txt' })
  })
})

describe('PATCH /api/files/{cid}', () => {
  test('changes the given fields only, and charges nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes, { filename: 'old.txt' })
    const { bytes: charged } = (await user.usage()).today
    const answer = await change(user, cid, { filename: 'größe.txt' })
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(answer.json<FileEntry>()).toMatchObject({ cid, filename: 'größe.txt', contentType: 'text/plain' })
    const all = { visibility: 'private', contentType: 'image/png', filename: null, termDays: 60 }
    const entry = (await change(user, hexOf(bytes), all)).json<FileEntry>()
    expect(entry).toMatchObject({ visibility: 'private', contentType: 'image/png', filename: null, term: '60 days' })
    expect(Date.parse(entry.expiresAt) - Date.parse(entry.uploadedAt)).toBe(60 * 86_400_000)
    expect(await entryOf(user, cid)).toEqual(entry)
    expect((await user.usage()).today.bytes).toBe(charged)
    expectProblem(await target.anonymous().retrieve(cid), 404, 'not_found')
    await change(user, cid, { visibility: 'public' })
    const read = await target.anonymous().retrieve(cid)
    expect([read.status, headerOf(read, 'content-type')]).toEqual([200, 'image/png'])
  })

  test('can be repeated', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes())
    const json = { visibility: 'private', termDays: 31 }
    const [one, two] = [await change(user, cid, json), await change(user, cid, json)]
    expect([one.status, two.status, two.json<FileEntry>()]).toEqual([200, 200, one.json<FileEntry>()])
  })

  test('needs put, pin for a longer term, and get for private to public', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: PRIVATE })
    const as = (scopes: string[]) => target.freshUser(context, { email: user.email, scopes })
    const refused = async (scopes: string[], json: object) =>
      expectProblem(await change(await as(scopes), cid, json), 403, 'insufficient_scope')
    expect(await refused(['get', 'list', 'pin'], { filename: 'x' })).toMatchObject({ required: 'put' })
    expect(await refused(['put'], { filename: 'x', termDays: 40 })).toMatchObject({ required: 'pin' })
    expect(await refused(['put'], { filename: 'x', visibility: 'public' })).toMatchObject({ required: 'get' })
    expect((await entryOf(user, cid)).filename).toBeNull()
    expect((await change(await as(['put']), cid, { filename: 'x', termDays: 30 })).status).toBe(200)
    expectProblem(
      await target.anonymous().request('PATCH', `/api/files/${cid}`, { json: { filename: 'x' } }),
      401,
      'no_token',
    )
  })

  test.for([
    [{}, 'bad_request'],
    [{ private: true }, 'bad_request'],
    [{ visibility: 'secret' }, 'invalid_visibility'],
    [{ contentType: 'no type' }, 'invalid_content_type'],
    [{ filename: 'a/b' }, 'invalid_filename'],
    [{ filename: '\ud800' }, 'invalid_filename'],
    [{ termDays: 0 }, 'invalid_term'],
    [{ termDays: 29 }, 'invalid_term'],
    [{ termDays: 366 }, 'invalid_term'],
  ] as const)('refuses %j', async ([json, error], context) => {
    const user = await target.anyUser(context)
    const { cid } = await user.stage(sampleBytes())
    expectProblem(await change(user, cid, json), 400, error)
  })

  test('names the fields that a change can have, after one that it cannot', async (context) => {
    const user = await target.anyUser(context)
    const { cid } = await user.stage(sampleBytes())
    expect(expectProblem(await change(user, cid, { name: 'x' }), 400, 'bad_request').detail).toBe(
      'The body has fields that are not known here: name. It can have: visibility, contentType, filename, termDays.',
    )
  })

  test('refuses files that are not there, of others, and ended', async (context) => {
    const [user, other] = [await target.freshUser(context), await target.freshUser(context)]
    const { cid } = await user.stage(sampleBytes())
    expectProblem(await change(other, cid, { filename: 'x' }), 404, 'not_found')
    expectProblem(await change(user, hexOf(sampleBytes()), { filename: 'x' }), 404, 'not_found')
    await user.request('DELETE', `/api/files/${cid}`)
    expectProblem(await change(user, cid, { filename: 'x' }), 410, 'gone')
  })
})

describe('type and name of bytes that several callers staged', () => {
  test('are those of the earliest account, and for each account its own', async (context) => {
    const [first, second] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes()
    const { cid } = await target.anonymous().stage(bytes, { contentType: 'text/x-sponsored' })
    const typeFor = async (caller: ReturnType<typeof target.anonymous>) =>
      headerOf(await caller.retrieve(cid), 'content-type')
    expect(await typeFor(target.anonymous())).toBe('text/x-sponsored')
    await first.stage(bytes, { contentType: 'text/x-first' })
    await second.stage(bytes, { contentType: 'text/x-second' })
    await target.anonymous().stage(bytes, { contentType: 'text/x-late' })
    expect(await typeFor(target.anonymous())).toBe('text/x-first')
    expect([await typeFor(first), await typeFor(second)]).toEqual(['text/x-first', 'text/x-second'])
    expect(await typeFor(await target.freshUser(context))).toBe('text/x-first')
    expect(headerOf(await second.retrieve(cid), 'cache-control')).toMatch(/^private, max-age=\d+$/)
    expect(headerOf(await target.anonymous().retrieve(cid), 'cache-control')).toMatch(/^public, max-age=\d+$/)
  })

  test('ignore credentials that are not of this service', async (context) => {
    const { cid } = await (await target.freshUser(context)).stage(sampleBytes())
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer somebody-else']) {
      const answer = await target.anonymous().retrieve(cid, { headers: { Authorization: authorization } })
      expect(answer.status, authorization).toBe(200)
    }
  })
})

describe('POST /api/deals/{dealId}/extend', () => {
  const extend = (user: User, dealId: string, json: unknown, key?: string) =>
    user.request('POST', `/api/deals/${dealId}/extend`, {
      json,
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
    })
  const termOf = (answer: Awaited<ReturnType<typeof extend>>) => answer.json<{ term: string }>().term

  test('takes days, and under one key once', async (context) => {
    const user = await target.freshUser(context)
    const { dealId } = await user.stage(sampleBytes())
    expect(termOf(await extend(user, dealId, { days: 2 }))).toBe('32 days')
    expect(termOf(await extend(user, dealId, { days: 2 }))).toBe('34 days')
    for (let round = 0; round < 3; round += 1) {
      expect(termOf(await extend(user, dealId, { days: 5 }, 'key 1'))).toBe('39 days')
    }
    expect(termOf(await extend(user, dealId, { days: 5 }, 'key 2'))).toBe('44 days')
    expectProblem(await extend(user, dealId, { days: 6 }, 'key 2'), 422, 'idempotency_key_reused')
    expectProblem(await extend(user, dealId, { days: 6 }, 'ü'), 400, 'bad_request')
  })

  test('takes an end or a whole term, which can be repeated', async (context) => {
    const user = await target.freshUser(context)
    const { dealId, expiresAt } = await user.stage(sampleBytes())
    for (let round = 0; round < 2; round += 1) {
      expect(termOf(await extend(user, dealId, { termDays: 40 }))).toBe('40 days')
    }
    const until = new Date(Date.parse(expiresAt) + 15.5 * 86_400_000).toISOString()
    for (let round = 0; round < 2; round += 1) {
      expect(termOf(await extend(user, dealId, { until }))).toBe('46 days')
    }
    expect(termOf(await extend(user, dealId, { termDays: 10 }))).toBe('46 days')
  })

  test.for([
    {},
    { days: 1, termDays: 40 },
    { days: 0 },
    { until: 'tomorrow' },
    { termDays: 366 },
    { until: '9999-12-31T00:00:00Z' },
  ])('refuses %j', async (json, context) => {
    const user = await target.anyUser(context)
    const { dealId } = await user.stage(sampleBytes())
    expectProblem(await extend(user, dealId, json), 400, 'invalid_term')
  })
})
