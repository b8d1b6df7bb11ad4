import { createHash } from 'node:crypto'
import { aliasesOf } from '@lade/core/content'
import { dealEntry, MAX_COMPOSE_BODY_BYTES, MAX_PARTS, PART_BYTES, uploadResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

let counter = 0
/** Bytes that no other test has. */
const bytesOf = (): Buffer => {
  counter += 1
  return createHash('sha512').update(`${counter}`).digest()
}

describe('POST /api/compose', () => {
  const hex = 'ab'.repeat(32)
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
  })
  afterAll(() => service.remove())

  interface Sent {
    readonly as?: string | undefined
    readonly headers?: Record<string, string>
    readonly query?: string
  }
  const post = (cid: string, body: unknown, { as = token, headers = {}, query = '' }: Sent = {}) =>
    service.fetch(`/api/compose?cid=${cid}${query}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...bearer(as === '' ? undefined : as), ...headers },
    })
  const json = async (response: Response) => (await response.json()) as Record<string, unknown>
  const errorOf = async (response: Response) => [response.status, (await json(response)).error]
  const stage = async () => {
    const bytes = bytesOf()
    expect((await service.upload(bytes, { token })).status).toBe(200)
    return bytes
  }

  it('answers the upload result of the whole, and never caches it', async () => {
    const bytes = await stage()
    const { cidV1 } = aliasesOf(sha256Hex(bytes))
    const response = await post(cidV1, { parts: [sha256Hex(bytes)] })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const result = await json(response)
    expect(uploadResult.parse(result)).toEqual(result)
    expect(result).toMatchObject({ cid: cidV1, size: 64, sponsored: false, retrievalUrl: `${service.url}/p/${cidV1}` })
  })

  it('composes without a token what is within the sponsored limits', async () => {
    const bytes = bytesOf()
    await service.upload(bytes)
    const response = await post(aliasesOf(sha256Hex(bytes)).legacy, { parts: [sha256Hex(bytes)] }, { as: '' })
    expect(await json(response)).toMatchObject({ sponsored: true, owner: null })
  })

  it('checks cid, headers, credentials and scope before it looks at the body', async () => {
    const junk = 'no json'
    expect(await errorOf(await post('short', junk, { as: '' }))).toEqual([400, 'invalid_cid'])
    expect(await errorOf(await service.fetch('/api/compose', { method: 'POST', body: junk }))).toEqual([
      400,
      'invalid_cid',
    ])
    const headers = { 'x-visibility': 'secret' }
    expect(await errorOf(await post(hex, junk, { as: 'x', headers }))).toEqual([400, 'invalid_visibility'])
    expect(await errorOf(await post(hex, junk, { headers: { 'x-term-days': '0' } }))).toEqual([400, 'invalid_term'])
    expect(await errorOf(await post(hex, junk, { as: 'pk_live_x' }))).toEqual([401, 'invalid_token'])
    const signup = await service.fetch('/api/auth/signup', {
      method: 'POST',
      body: JSON.stringify({ email: 'ada@example.org', label: 'narrow', scopes: ['get', 'list'] }),
      headers: { 'content-type': 'application/json' },
    })
    const narrow = String((await json(signup)).token)
    expect(await errorOf(await post(hex, junk, { as: narrow }))).toEqual([403, 'insufficient_scope'])
    expect(await errorOf(await post(hex, junk))).toEqual([400, 'invalid_json'])
  })

  it('says that a token in the query is deprecated, in good answers and bad', async () => {
    const hex = sha256Hex(await stage())
    const good = await post(hex, { parts: [hex] }, { as: '', query: `&token=${token}` })
    const bad = await post(hex, { parts: [hex] }, { as: '', query: '&token=pk_live_x' })
    expect([good.status, bad.status]).toEqual([200, 401])
    for (const response of [good, bad]) expect(response.headers.get('deprecation')).not.toBeNull()
  })

  it.each<[string, unknown, number, string]>([
    ['no list of parts', {}, 400, 'invalid_parts'],
    ['parts that are no list', { parts: hex }, 400, 'invalid_parts'],
    ['parts that are no texts', { parts: [1] }, 400, 'invalid_parts'],
    ['a part that is no cid', { parts: [hex, 'nope'] }, 400, 'invalid_parts'],
    ['no parts', { parts: [] }, 400, 'invalid_parts'],
    ['too many parts', { parts: Array(MAX_PARTS + 1).fill(hex) }, 400, 'invalid_parts'],
    ['a missing part', { parts: [hex] }, 422, 'missing_parts'],
    ['a media type that is none', { parts: [hex], contentType: 'video' }, 400, 'invalid_content_type'],
    ['a media type that is no text', { parts: [hex], contentType: 1 }, 400, 'invalid_content_type'],
    ['a name that is none', { parts: [hex], filename: '../x' }, 400, 'invalid_filename'],
    ['a name that is no text', { parts: [hex], filename: 1 }, 400, 'invalid_filename'],
    ['a name that is not well-formed', `{"parts":["${hex}"],"filename":"\\ud800"}`, 400, 'invalid_filename'],
    ['no object', [], 400, 'bad_request'],
  ])('refuses %s', async (_title, body, status, code) => {
    expect(await errorOf(await post(sha256Hex(bytesOf()), body))).toEqual([status, code])
  })

  it('refuses other media types of the request, and bodies that are too long', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect(await errorOf(await post(hex, { parts: [hex] }, { headers }))).toEqual([400, 'invalid_content_type'])
    const long = JSON.stringify({ parts: [hex], filename: 'x'.repeat(MAX_COMPOSE_BODY_BYTES) })
    expect(await errorOf(await post(hex, long))).toEqual([413, 'too_large'])
    const most = JSON.stringify({ parts: Array(MAX_PARTS).fill('b'.repeat(80)) })
    expect(most.length).toBeLessThan(MAX_COMPOSE_BODY_BYTES)
    expect(await errorOf(await post(hex, most))).toEqual([422, 'missing_parts'])
  })

  it('refuses far more parts than the tier allows by their number, and without a token by the size of the body', async () => {
    const manyOf = (count: number) => ({ parts: Array.from({ length: count }, () => sha256Hex(bytesOf())) })
    const most = Math.ceil(service.config.token.fileBytes / PART_BYTES) + 100
    expect(await errorOf(await post(hex, manyOf(most)))).toEqual([422, 'missing_parts'])
    expect(await json(await post(hex, manyOf(most + 1)))).toMatchObject({
      error: 'too_large',
      limit: service.config.token.fileBytes,
      size: most * PART_BYTES + 1,
    })
    const body = JSON.stringify(manyOf(MAX_PARTS))
    const refused = await json(await post(hex, body, { as: '' }))
    expect(refused).toMatchObject({ error: 'too_large', size: body.length })
    expect(refused.limit).toBeLessThan(32_768)
    expect(await errorOf(await post(hex, manyOf(100), { as: '' }))).toEqual([422, 'missing_parts'])
  })

  it('names what is wrong', async () => {
    const missing = sha256Hex(bytesOf())
    expect(await json(await post(hex, { parts: [missing, missing] }))).toMatchObject({ missing: [missing], count: 1 })
    const part = sha256Hex(await stage())
    const other = await stage()
    expect(await json(await post(sha256Hex(bytesOf()), { parts: [part, sha256Hex(other)] }))).toMatchObject({
      error: 'invalid_parts',
      detail: expect.stringContaining(part),
    })
    const wrong = aliasesOf(missing).cidV1
    expect(await json(await post(wrong, { parts: [part] }))).toMatchObject({
      error: 'cid_mismatch',
      expected: wrong,
      actual: aliasesOf(part).cidV1,
    })
    expect(await json(await post('myfile0001', { parts: [part] }))).toMatchObject({ error: 'invalid_cid' })
    const eve = (await service.signUp('eve@example.org')).token
    expect(await json(await post(aliasesOf(part).cidV1, { parts: [part] }, { as: eve }))).toMatchObject({
      error: 'foreign_parts',
      parts: [part],
      count: 1,
    })
  })

  it('notes what was asked for, and nothing of the token', async () => {
    const part = sha256Hex(await stage())
    await post(part, { parts: [part] }, { as: '', query: `&token=${token}` })
    const [line] = service.logged().filter(({ path, cid }) => path === '/api/compose' && cid === part)
    expect(line).toMatchObject({ parts: 1, tier: 'token', sizeBytes: 64, dealId: expect.stringMatching(/^d-0x/) })
    expect(service.logLines.join('')).not.toContain(token)
  })

  it('answers other methods as such', async () => {
    const response = await service.fetch('/api/compose')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('takes the profile of a dag-pb cid with an upload, and refuses one that is none', async () => {
    const bytes = bytesOf()
    const upload = (cid: string, profile: string) =>
      service.fetch(`/api/upload?cid=${cid}&profile=${profile}`, {
        method: 'POST',
        body: Uint8Array.from(bytes),
        headers: { 'content-type': 'text/plain', ...bearer(token) },
      })
    expect(await errorOf(await upload(sha256Hex(bytes), 'unixfs'))).toEqual([400, 'bad_request'])
    expect(await errorOf(await upload(sha256Hex(bytes), 'constructor'))).toEqual([400, 'bad_request'])
    expect((await upload(sha256Hex(bytes), 'raw-1m-174')).status).toBe(200)
  })

  it('lists the deal of each file, and finds it by its id', async () => {
    const { token: own } = await service.signUp('deals@example.org')
    const bytes = bytesOf()
    const staged = await json(await service.upload(bytes, { token: own }))
    const get = (path: string, as = own) => service.fetch(path, { headers: bearer(as) })
    const list = await json(await get('/api/deals'))
    expect(list).toMatchObject({ email: 'deals@example.org', count: 1, nextCursor: null })
    const [deal] = list.deals as Record<string, unknown>[]
    const file = await json(await get(`/api/files/${sha256Hex(bytes)}`))
    expect(deal).toMatchObject({
      dealId: staged.dealId,
      cid: sha256Hex(bytes),
      pieceCid: file.pieceCid,
      size: 64,
      term: staged.term,
      createdAt: file.uploadedAt,
      expiresAt: staged.expiresAt,
      endedAt: null,
      retrievalUrl: staged.retrievalUrl,
    })
    expect(dealEntry.parse(deal)).toEqual(deal)
    const { dealId, createdAt, expiresAt } = dealEntry.parse(await json(await get(`/api/deals/${staged.dealId}`)))
    expect(deal).toMatchObject({ dealId, createdAt, expiresAt })
    expect(await errorOf(await get(`/api/deals/${staged.dealId}`, token))).toEqual([404, 'not_found'])
    expect(await errorOf(await get('/api/deals/d-0x00'))).toEqual([404, 'not_found'])
    expect(await errorOf(await get('/api/deals?status=composed'))).toEqual([400, 'bad_request'])
    expect(await errorOf(await service.fetch('/api/deals'))).toEqual([401, 'no_token'])
  })
})
