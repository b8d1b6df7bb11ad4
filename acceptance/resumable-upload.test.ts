/** Resumable uploads: draft-ietf-httpbis-resumable-upload-12, interop version 8. Its examples, with bytes of our own. */
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, type Caller, exchange, headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import type { UploadResult } from './shapes.ts'
import { MIB, sampleBytes, type User, useTarget } from './target.ts'
import type { Headers } from './tus-client.ts'
import { direct, expectStored } from './upload-callers.ts'

const target = useTarget()

const INTEROP = { 'Upload-Draft-Interop-Version': '8' }
const PARTIAL = 'application/partial-upload'

interface Exchanged {
  readonly informed: readonly http.InformationEvent[]
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** A request whose body the test writes. */
class Sending {
  readonly request: http.ClientRequest
  readonly #informed: http.InformationEvent[] = []
  readonly #answered: Promise<[http.IncomingMessage]>
  readonly #first: Promise<unknown>

  constructor({ headers }: Caller, method: string, path: string, more: Record<string, string>) {
    // There is no 104 response over a proxy.
    const { 'X-Forwarded-For': _, ...own } = headers
    this.request = http.request(new URL(path, target.directUrl), {
      method,
      headers: { ...own, ...more },
      agent: false,
    })
    this.request.on('error', () => {})
    this.request.on('information', (info) => this.#informed.push(info))
    this.#first = once(this.request, 'information')
    this.#answered = once(this.request, 'response') as Promise<[http.IncomingMessage]>
    this.#first.catch(() => {})
    this.#answered.catch(() => {})
    this.request.flushHeaders()
  }

  write(bytes: Uint8Array): Promise<unknown> {
    return new Promise((resolve) => this.request.write(bytes, resolve))
  }

  /** The first interim response. */
  async informed(): Promise<http.InformationEvent> {
    await this.#first
    const [info] = this.#informed
    if (info === undefined) throw new Error('there was no interim response')
    return info
  }

  async end(bytes?: Uint8Array): Promise<Exchanged> {
    this.request.end(bytes)
    const [response] = await this.#answered
    const body = Buffer.concat(await response.toArray()).toString()
    return { informed: this.#informed, status: response.statusCode ?? 0, headers: response.headers, body }
  }
}

const pathOf = (location: string | string[] | undefined) => new URL(String(location), 'http://localhost').pathname

const patch = (caller: Caller, path: string, body: Uint8Array, headers: Headers): Promise<Answer> =>
  caller.request('PATCH', path, { body, headers: { 'Content-Type': PARTIAL, ...INTEROP, ...headers } })

const head = (caller: Caller, path: string, headers: Headers = {}): Promise<Answer> =>
  caller.request('HEAD', path, { headers: { ...INTEROP, ...headers } })

const today = async (user: User) => (await user.usage()).today

/** Opens an upload whose first bytes these are. @returns its path. */
async function begin(caller: Caller, bytes: Uint8Array, headers: Headers = {}): Promise<string> {
  const answer = await caller.request('POST', '/api/upload', {
    body: bytes,
    headers: { 'Content-Type': 'text/plain', 'Upload-Complete': '?0', ...INTEROP, ...headers },
  })
  expect(answer.status, answer.body.toString()).toBe(201)
  return pathOf(answer.headers.location)
}

describe('OPTIONS', () => {
  test('tells the limits', async () => {
    const answer = await exchange(target.baseUrl, 'OPTIONS', '/api/upload')
    expect(answer.status).toBe(204)
    expect(headerOf(answer, 'upload-limit')).toMatch(/^min-size=0, max-size=\d+$/)
    expect(headerOf(answer, 'access-control-allow-headers')).toContain('Upload-Complete')
  })
})

describe('upload creation', () => {
  test.for(['8', '6'])(
    'A: all bytes at once are told of by a 104, and stored (version %s)',
    async (version, context) => {
      const user = await target.freshUser(context)
      const bytes = sampleBytes(3000)
      const cid = rawCidOf(bytes).base32
      const sending = new Sending(user, 'POST', `/api/upload?cid=${cid}`, {
        'Content-Disposition': 'inline; filename="file name.txt"; filename*=UTF-8\'\'na%C3%AFve%20name.txt',
        'Content-Type': 'text/plain',
        'Content-Length': '3000',
        'Upload-Length': '3000',
        'Upload-Complete': '?1',
        'Upload-Draft-Interop-Version': version,
      })
      // Before a byte of the body.
      const info = await sending.informed()
      expect(info.statusCode).toBe(104)
      expect(info.statusMessage).toBe('Upload Resumption Supported')
      expect(info.headers).toMatchObject({ 'upload-draft-interop-version': version })
      expect(info.headers['upload-limit']).toMatch(/max-age=\d+/)
      expect(pathOf(info.headers.location)).toMatch(/^\/api\/upload\/[\w-]+$/)
      const done = await sending.end(bytes)
      expect(done.status, done.body).toBe(200)
      expect(done.headers).toMatchObject({ 'upload-complete': '?1', 'upload-offset': '3000', 'x-cid': cid })
      const result = JSON.parse(done.body) as UploadResult
      expect(result).toMatchObject({ cid, size: 3000, verified: true, filename: 'naïve name.txt' })
      await expectStored(user, cid, bytes)
      expect(await today(user)).toMatchObject({ bytes: 3000, files: 1, reservedBytes: 0 })
    },
  )

  test('B: the first bytes of a known length are acknowledged', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(9000)
    const answer = await user.request('POST', '/api/upload', {
      body: bytes.subarray(0, 2000),
      headers: { 'Upload-Complete': '?0', 'Upload-Length': '9000', ...INTEROP },
    })
    expect(answer.status, answer.body.toString()).toBe(201)
    expect(answer.headers).toMatchObject({ 'upload-complete': '?0', 'upload-offset': '2000' })
    expect(headerOf(answer, 'upload-limit')).toContain('max-size=')
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: 9000 })
    const last = await patch(user, pathOf(answer.headers.location), bytes.subarray(2000), {
      'Upload-Complete': '?1',
      'Upload-Offset': '2000',
    })
    expect(last.status, last.body.toString()).toBe(200)
    await expectStored(user, last.json<UploadResult>().cid, bytes)
  })

  test.for([undefined, '7', 'x'])('without a 104 for interop version %s', async (version, context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(300)
    const sending = new Sending(user, 'POST', '/api/upload', {
      'Content-Length': '300',
      'Upload-Complete': '?1',
      ...(version !== undefined && { 'Upload-Draft-Interop-Version': version }),
    })
    const done = await sending.end(bytes)
    expect(done.informed).toEqual([])
    expect(done.status, done.body).toBe(200)
    expect((JSON.parse(done.body) as UploadResult).cid).toBe(rawCidOf(bytes).base32)
  })

  test('without a 104 over a proxy, of which some do not pass it on', async (context) => {
    const user = await target.freshUser(context)
    const headers = { 'Content-Length': '30', 'Upload-Complete': '?1', ...INTEROP, 'X-Forwarded-For': '198.51.100.9' }
    const done = await new Sending(user, 'POST', '/api/upload', headers).end(sampleBytes(30))
    expect(done.informed).toEqual([])
    expect(done.status, done.body).toBe(200)
  })

  test('C: an upload that breaks off is resumed where it broke off, at the address of the 104', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(900_000)
    const sending = new Sending(user, 'POST', '/api/upload', {
      'Content-Length': '900000',
      'Upload-Complete': '?1',
      ...INTEROP,
    })
    const path = pathOf((await sending.informed()).headers.location)
    await sending.write(bytes.subarray(0, 222_222))
    await sleep(100)
    sending.request.destroy()
    const told = await head(direct(target, user), path)
    expect(told.status).toBe(204)
    expect(told.headers).toMatchObject({
      'upload-complete': '?0',
      'upload-offset': '222222',
      'upload-length': '900000',
      'cache-control': 'no-store',
    })
    const last = await patch(user, path, bytes.subarray(222_222), {
      'Upload-Complete': '?1',
      'Upload-Offset': '222222',
    })
    expect(last.status, last.body.toString()).toBe(200)
    await expectStored(user, last.json<UploadResult>().cid, bytes)
  })

  test('an upload that breaks off, and whose sender was told no address, leaves nothing', async (context) => {
    const user = await target.freshUser(context)
    const sending = new Sending(user, 'POST', '/api/upload', { 'Content-Length': '900000', 'Upload-Complete': '?1' })
    await sending.write(sampleBytes(100_000))
    await sleep(100)
    expect(await today(user)).toMatchObject({ reservedBytes: 900_000 })
    sending.request.destroy()
    const deadline = Date.now() + 5000
    while ((await today(user)).reservedBytes > 0 && Date.now() < deadline) await sleep(50)
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: 0 })
  })

  test('D: of packed bytes is refused for good', async (context) => {
    const user = await target.anyUser(context)
    const answer = await user.request('POST', '/api/upload', {
      body: sampleBytes(10),
      headers: { 'Upload-Complete': '?0', 'Content-Encoding': 'gzip', ...INTEROP },
    })
    expectProblem(answer, 415, 'unsupported_encoding')
  })

  test('error: with lengths that differ', async (context) => {
    const user = await target.freshUser(context)
    const headers = { 'Upload-Complete': '?1', 'Upload-Length': '11', ...INTEROP }
    expectProblem(await user.request('POST', '/api/upload', { body: sampleBytes(10), headers }), 400, 'bad_request')
    expect(await today(user)).toMatchObject({ reservedBytes: 0 })
  })

  test('error: of bytes that do not have their cid is complete and refused, and leaves nothing', async (context) => {
    const user = await target.freshUser(context)
    const cid = rawCidOf(sampleBytes(10)).base32
    const headers = { 'Upload-Complete': '?1', 'Content-Type': 'text/plain', ...INTEROP }
    const answer = await user.request('PUT', `/api/upload?cid=${cid}`, { body: sampleBytes(10), headers })
    expectProblem(answer, 422, 'cid_mismatch')
    expect(headerOf(answer, 'upload-complete')).toBe('?1')
    expect(await today(user)).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })

  test('with a field that is no boolean is an upload in one request', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes(40)
    const answer = await user.upload(bytes, { headers: { 'Upload-Complete': 'yes' } })
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('upload-complete')
  })
})

describe('upload append', () => {
  test('A and B: parts, and the last of them, with a length that is known at the end', async (context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(2 * MIB + 5)
    const path = await begin(user, new Uint8Array())
    const middle = await patch(user, path, bytes.subarray(0, MIB), { 'Upload-Complete': '?0', 'Upload-Offset': '0' })
    expect(middle.status, middle.body.toString()).toBe(204)
    expect(middle.headers).toMatchObject({ 'upload-complete': '?0', 'upload-offset': String(MIB) })
    expect((await head(user, path)).headers).not.toHaveProperty('upload-length')
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: MIB })
    const last = await patch(user, path, bytes.subarray(MIB), { 'Upload-Complete': '?1', 'Upload-Offset': String(MIB) })
    expect(last.status, last.body.toString()).toBe(200)
    expect(headerOf(last, 'upload-complete')).toBe('?1')
    const { cid, size } = last.json<UploadResult>()
    expect(size).toBe(bytes.length)
    await expectStored(user, cid, bytes)
    expect(await today(user)).toMatchObject({ bytes: bytes.length, files: 1, reservedBytes: 0 })
    // The answer may be lost.
    const told = await head(user, path)
    expect(told.headers).toMatchObject({ 'upload-complete': '?1', 'upload-offset': String(bytes.length), 'x-cid': cid })
    const again = await patch(user, path, new Uint8Array(), {
      'Upload-Complete': '?1',
      'Upload-Offset': String(bytes.length),
    })
    expect(again.status, again.body.toString()).toBe(200)
    expect(again.json<UploadResult>()).toMatchObject({ cid, size })
  })

  test('an empty last part completes an upload', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes(500)
    const path = await begin(user, bytes)
    const last = await patch(user, path, new Uint8Array(), { 'Upload-Complete': '?1', 'Upload-Offset': '500' })
    expect(last.status, last.body.toString()).toBe(200)
    await expectStored(user, last.json<UploadResult>().cid, bytes)
  })

  test('error: at another offset, with the problem type of the draft', async (context) => {
    const user = await target.anyUser(context)
    const path = await begin(user, sampleBytes(500))
    const answer = await patch(user, path, sampleBytes(5), { 'Upload-Complete': '?0', 'Upload-Offset': '100' })
    expect(expectProblem(answer, 409, 'offset_mismatch')).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#mismatching-upload-offset',
      'expected-offset': 500,
      'provided-offset': 100,
    })
    expect(answer.headers).toMatchObject({ 'upload-offset': '500', 'upload-complete': '?0' })
  })

  test('error: with another length, without completeness, or of another media type', async (context) => {
    const user = await target.anyUser(context)
    const path = await begin(user, sampleBytes(500), { 'Upload-Length': '900' })
    const at = { 'Upload-Offset': '500' }
    const longer = { ...at, 'Upload-Complete': '?0', 'Upload-Length': '901' }
    expectProblem(await patch(user, path, sampleBytes(5), longer), 400, 'bad_request')
    expectProblem(await patch(user, path, sampleBytes(5), { ...at, 'Upload-Complete': '?1' }), 400, 'bad_request')
    expectProblem(await patch(user, path, sampleBytes(401), { ...at, 'Upload-Complete': '?0' }), 413, 'too_large')
    expectProblem(await patch(user, path, sampleBytes(5), at), 400, 'bad_request')
    const typed = { ...at, 'Upload-Complete': '?0', 'Content-Type': 'text/plain' }
    expectProblem(await patch(user, path, sampleBytes(5), typed), 415, 'unsupported_media_type')
    expect(headerOf(await head(user, path), 'upload-offset')).toBe('500')
  })

  test('error: to a complete upload', async (context) => {
    const user = await target.anyUser(context)
    const path = await begin(user, sampleBytes(50))
    await patch(user, path, new Uint8Array(), { 'Upload-Complete': '?1', 'Upload-Offset': '50' })
    const more = await patch(user, path, sampleBytes(5), { 'Upload-Complete': '?0', 'Upload-Offset': '50' })
    expectProblem(more, 403, 'not_appendable')
  })
})

describe('offset retrieval', () => {
  test('error: with fields of an append', async (context) => {
    const user = await target.anyUser(context)
    const path = await begin(user, sampleBytes(50))
    expect((await head(user, path, { 'Upload-Offset': '50' })).status).toBe(400)
    expect((await head(user, path, { 'Upload-Complete': '?0' })).status).toBe(400)
  })

  test('error: of somebody else', async (context) => {
    const path = await begin(await target.anyUser(context), sampleBytes(50))
    expect((await head(target.anonymous(), path)).status).toBe(404)
  })

  test('ends the request that still sends, so that the offset it tells is good', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes(90_000)
    const path = await begin(user, new Uint8Array(), { 'Upload-Length': '90000' })
    const sending = new Sending(user, 'PATCH', path, {
      'Content-Type': PARTIAL,
      'Content-Length': '90000',
      'Upload-Complete': '?1',
      'Upload-Offset': '0',
    })
    await sending.write(bytes.subarray(0, 40_000))
    await sleep(100)
    expect(headerOf(await head(direct(target, user), path), 'upload-offset')).toBe('40000')
    const last = await patch(user, path, bytes.subarray(40_000), { 'Upload-Complete': '?1', 'Upload-Offset': '40000' })
    expect(last.status, last.body.toString()).toBe(200)
    await expectStored(user, last.json<UploadResult>().cid, bytes)
    sending.request.destroy()
  })
})

describe('upload cancellation', () => {
  test('returns what was reserved', async (context) => {
    const user = await target.freshUser(context)
    const path = await begin(user, sampleBytes(50), { 'Upload-Length': '900' })
    expect((await user.request('DELETE', path)).status).toBe(204)
    expect((await head(user, path)).status).toBe(404)
    expect(await today(user)).toMatchObject({ bytes: 0, reservedBytes: 0 })
  })
})
