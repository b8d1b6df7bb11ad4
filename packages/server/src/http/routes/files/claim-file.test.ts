import { createHash, randomBytes } from 'node:crypto'
import type { FileList, UploadResult, UsageResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

/** A thousand with the full plan. */
const CLAIMANTS = process.env.LADE_TEST_PLAN === 'full' ? 1_000 : 100

let service: RunningService
beforeAll(async () => {
  service = await runService({ env: { LADE_TERM_MAX_DAYS: '90' } })
})
afterAll(() => service.remove())

const newSecret = (): string => randomBytes(24).toString('base64url')
const digestOf = (secret: string): string => createHash('sha256').update(Buffer.from(secret, 'base64url')).digest('hex')
let bodies = 0
const newBody = (sizeBytes = 100): Buffer => {
  bodies += 1
  return Buffer.alloc(sizeBytes, `claimed ${bodies} `)
}
const upload = (body: Buffer, secret?: string, headers: Record<string, string> = {}) =>
  service.upload(body, { headers: { ...(secret && { 'x-claim-digest': digestOf(secret) }), ...headers } })
const claim = (cid: string, secret: string, token?: string) =>
  service.fetch(`/api/files/${cid}/claim`, {
    method: 'POST',
    body: JSON.stringify({ secret }),
    headers: { 'content-type': 'application/json', ...bearer(token) },
  })
let users = 0
async function newUser(wishes: object = {}): Promise<string> {
  users += 1
  const response = await service.fetch('/api/auth/signup', {
    method: 'POST',
    body: JSON.stringify({ email: `user-${users}@example.org`, label: 'x', ...wishes }),
    headers: { 'content-type': 'application/json' },
  })
  return ((await response.json()) as { token: string }).token
}
const get = async <Body>(path: string, token: string) =>
  (await (await service.fetch(path, { headers: bearer(token) })).json()) as Body
const today = async (token: string) => (await get<UsageResult>('/api/usage', token)).today.bytes

describe('POST /api/files/{cid}/claim', () => {
  it('makes a file of nobody the account’s: with its term, charged to it, under every id and with no byte sent', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    const cid = sha256Hex(body)
    const staged = (await (
      await upload(body, secret, { 'x-filename': 'notes.txt', 'content-type': 'text/plain' })
    ).json()) as UploadResult
    expect(staged).toMatchObject({ sponsored: true, owner: null, term: '7 days' })
    expect(JSON.stringify(staged)).not.toContain(digestOf(secret))

    const response = await claim(cid, secret, token)
    expect(response.headers.get('x-ratelimit-remaining')).toBe(String(1024 ** 3 - 100))
    const claimed = (await response.json()) as UploadResult
    expect(claimed).toMatchObject({
      cid,
      size: 100,
      sponsored: false,
      owner: `user-${users}@example.org`,
      term: '30 days',
      visibility: 'public',
      contentType: 'text/plain',
      filename: 'notes.txt',
      pieceCid: staged.pieceCid,
    })
    expect(await today(token)).toBe(100)
    const { files } = await get<FileList>('/api/files', token)
    expect(files).toMatchObject([{ cid, sponsored: false, term: '30 days' }])
    const served = await fetch(claimed.retrievalUrl)
    expect(Buffer.from(await served.arrayBuffer()).equals(body)).toBe(true)
    expect(served.headers.get('content-disposition')).toContain('notes.txt')
    expect(service.logLines.join('\n')).not.toContain(secret)
  })

  it('leaves the day of the address charged', async () => {
    const remaining = async () => Number((await upload(newBody(20))).headers.get('x-ratelimit-remaining'))
    const [body, secret, token] = [newBody(1000), newSecret(), await newUser()]
    const before = await remaining()
    await upload(body, secret)
    expect((await claim(sha256Hex(body), secret, token)).status).toBe(200)
    expect(await remaining()).toBe(before - 1020)
  })

  it('answers a claim whose answer was lost as the first, and charges once', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    await upload(body, secret)
    const answers = []
    for (let times = 0; times < 3; times += 1) {
      const response = await claim(sha256Hex(body), secret, token)
      expect(response.status).toBe(200)
      answers.push(((await response.json()) as UploadResult).dealId)
    }
    expect(new Set(answers).size).toBe(1)
    expect(await today(token)).toBe(100)
  })

  it('is refused without the secret, for everybody alike', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    const cid = sha256Hex(body)
    await upload(body, secret)
    const bare = newBody()
    await upload(bare)
    const refusal = async (...args: Parameters<typeof claim>) => {
      const response = await claim(...args)
      const { error, detail } = (await response.json()) as { error: string; detail: string }
      return [response.status, error, detail.replace(args[0], 'CID')]
    }
    const wrong = await refusal(cid, newSecret(), token)
    expect(wrong.slice(0, 2)).toEqual([404, 'not_found'])
    expect(await refusal(sha256Hex(bare), secret, token)).toEqual(wrong)
    expect(await refusal(sha256Hex(newBody()), secret, token)).toEqual(wrong)
    expect((await refusal(cid, secret))[1]).toBe('no_token')
    expect((await refusal(cid, secret, await newUser({ scopes: ['list', 'get', 'pin'] })))[1]).toBe(
      'insufficient_scope',
    )
    expect((await refusal('Qm', secret, token))[1]).toBe('invalid_cid')
    for (const malformed of [
      '',
      'abc',
      `${secret}=`,
      `${secret} `,
      'a'.repeat(21),
      'a'.repeat(87),
      `+${secret.slice(1)}`,
    ]) {
      expect((await refusal(cid, malformed, token))[1], malformed).toBe('bad_request')
    }
    expect((await claim(cid, secret, token)).status).toBe(200)
  })

  it('keeps the first secret: nobody behind the same address gets the file by sending it again', async () => {
    const [body, first, second] = [newBody(), newSecret(), newSecret()]
    const [ada, eve] = [await newUser(), await newUser()]
    const cid = sha256Hex(body)
    expect((await upload(body, first)).status).toBe(200)
    expect((await upload(body, second)).status).toBe(200)
    expect((await claim(cid, second, eve)).status).toBe(404)
    expect((await upload(body, first)).status).toBe(200)
    expect((await claim(cid, first, ada)).status).toBe(200)

    const plain = newBody()
    await upload(plain)
    await upload(plain, second)
    expect((await claim(sha256Hex(plain), second, eve)).status).toBe(404)
  })

  it('keeps a file sponsored that the day of the account has no room for', async () => {
    const [body, secret] = [newBody(2 * 1024 ** 2), newSecret()]
    const cid = sha256Hex(body)
    const small = await newUser({ quotaMb: 1 })
    await upload(body, secret)
    const refused = await claim(cid, secret, small)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({
      error: 'quota_exceeded',
      used: 0,
      limit: 1024 ** 2,
      size: body.length,
    })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe(String(1024 ** 2))
    expect(await today(small)).toBe(0)
    expect((await service.fetch(`/p/${cid}`)).status).toBe(200)
    expect((await claim(cid, secret, await newUser())).status).toBe(200)
  })

  it('ends the file of nobody where the account has the bytes, and charges nothing', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    const cid = sha256Hex(body)
    await service.upload(body, { token, headers: { 'x-filename': 'mine.txt' } })
    await upload(body, secret, { 'x-filename': 'theirs.txt' })
    const response = await claim(cid, secret, token)
    expect(await response.json()).toMatchObject({ filename: 'mine.txt', sponsored: false })
    expect(await today(token)).toBe(100)
    expect((await claim(cid, secret, await newUser())).status).toBe(404)
    // With the account's file, nobody has the bytes any more.
    await service.fetch(`/api/files/${cid}`, { method: 'DELETE', headers: bearer(token) })
    expect((await service.fetch(`/p/${cid}`)).status).toBe(410)
  })

  it('is of an opaque id as of any other', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    await service.upload(body, { cid: 'myclaim01', headers: { 'x-claim-digest': digestOf(secret) } })
    expect((await claim(sha256Hex(body), secret, token)).status).toBe(404)
    expect(await (await claim('myclaim01', secret, token)).json()).toMatchObject({ cid: 'myclaim01', verified: false })
    expect((await service.fetch('/p/myclaim01')).status).toBe(200)
  })

  it('ignores the digest of who has an account, and refuses one that is none', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    await service.upload(body, { token, headers: { 'x-claim-digest': digestOf(secret) } })
    expect((await claim(sha256Hex(body), secret, await newUser())).status).toBe(404)
    for (const header of ['', 'abc', `${digestOf(secret)}00`, 'g'.repeat(64)]) {
      const refused = await service.upload(newBody(), { headers: { 'x-claim-digest': header } })
      expect(await refused.json(), header).toMatchObject({ error: 'bad_request' })
    }
    expect((await upload(newBody(), undefined, { 'x-claim-digest': digestOf(secret).toUpperCase() })).status).toBe(200)
  })

  it(`has one winner of ${CLAIMANTS} accounts that race`, { timeout: 120_000 }, async () => {
    const [body, secret] = [newBody(), newSecret()]
    const cid = sha256Hex(body)
    await upload(body, secret)
    const tokens: string[] = []
    for (let index = 0; index < CLAIMANTS; index += 1) tokens.push(await newUser())
    const statuses = await Promise.all(tokens.map(async (token) => (await claim(cid, secret, token)).status))
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: CLAIMANTS - 1 }, () => 404)])
    const charged = await Promise.all(tokens.map(today))
    expect(charged.reduce((sum, bytes) => sum + bytes, 0)).toBe(100)
  })

  it('gives one account one file of a hundred claims at once', async () => {
    const [body, secret, token] = [newBody(), newSecret(), await newUser()]
    await upload(body, secret)
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await claim(sha256Hex(body), secret, token)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await today(token)).toBe(100)
  })
})
