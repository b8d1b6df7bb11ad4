import { createHash } from 'node:crypto'
import { mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '../create-client.ts'
import { createHttp } from '../http/http.ts'
import { retryPolicy } from '../http/retry.ts'
import type { LadeClientOptions, PutOptions, PutProgress, PutState } from '../options.ts'
import { platform } from '../platform/node/platform.ts'
import { FAKE_EMAIL, FAKE_TOKEN, type FakeService, refuse, startFakeService } from '../testing/fake-service.ts'
import { importFile, unixfsV0Cid, unixfsV1Cid } from '../testing/importer.ts'
import { noise } from '../testing/noise.ts'
import { put } from './put.ts'

const MIB = 1_048_576
const LIMITS = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }

let service: FakeService
let folder: string
beforeEach(async () => {
  service = await startFakeService()
  folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
})
afterEach(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const clientOf = (options: LadeClientOptions = {}) =>
  createClient({ url: service.url, token: FAKE_TOKEN, retry: { baseDelayMs: 1 }, ...options }, LIMITS)
const uploads = () => service.seen.filter(({ method, path }) => method === 'POST' && path === '/api/upload')
const sentBytes = () => uploads().reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)

async function fileOf(bytes: Uint8Array, name = 'plan.bin'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return path
}

/** A state in memory. */
function memoryState(): PutState & { text: string | undefined; saves: number } {
  return {
    text: undefined,
    saves: 0,
    async load() {
      return this.text
    },
    async save(text) {
      this.text = text
      this.saves += 1
    },
    async clear() {
      this.text = undefined
    },
  }
}

describe('put of a file that goes in one piece', () => {
  const bytes = noise(MIB + 5)

  it.each<[string, () => Promise<Parameters<ReturnType<typeof clientOf>['put']>[0]>]>([
    ['an array', async () => bytes],
    ['a view of a bigger array', async () => new Uint8Array([7, ...bytes, 7]).subarray(1, -1)],
    [
      'memory that threads share',
      async () => new Uint8Array(new SharedArrayBuffer(bytes.length)).fill(0).map((_, i) => bytes[i] ?? 0),
    ],
    ['a Blob', async () => new Blob([bytes])],
    ['a path', () => fileOf(bytes)],
    ['a file URL', async () => pathToFileURL(await fileOf(bytes))],
    ['a web stream', async () => new Blob([bytes]).stream()],
    ['a Node stream', async () => Readable.from([bytes.subarray(0, 3), bytes.subarray(3)])],
  ])('stages %s under the CID that IPFS tools print', async (_, sourceOf) => {
    const result = await clientOf().put(await sourceOf())
    expect(result.cid).toBe(await unixfsV1Cid(bytes))
    expect(service.files.get(result.cid)?.bytes.equals(bytes)).toBe(true)
    expect(uploads()).toHaveLength(1)
    expect(uploads()[0]?.query.get('profile')).toBe('unixfs-v1-2025')
    expect(uploads()[0]?.headers['content-length']).toBe(String(bytes.length))
  })

  it('takes name and type from the source, and lets options say otherwise', async () => {
    const named = { filename: 'naïve plan.pdf', contentType: 'application/pdf' }
    const file = new File([noise(10, 2)], 'a.txt', { type: 'text/plain' })
    const cases: [PutOptions, Parameters<ReturnType<typeof clientOf>['put']>[0], string | null, string][] = [
      [{}, noise(10, 1), null, 'application/octet-stream'],
      [{}, file, 'a.txt', 'text/plain'],
      [{}, await fileOf(noise(10, 3), 'b.bin'), 'b.bin', 'application/octet-stream'],
      [named, file, 'naïve plan.pdf', 'application/pdf'],
      [{ filename: null }, file, null, 'text/plain'],
    ]
    for (const [options, source, filename, contentType] of cases) {
      const { cid } = await clientOf().put(source, options)
      expect(service.files.get(cid)?.entry).toMatchObject({ filename, contentType })
    }
  })

  it.each<[string, string, Uint8Array, string]>([
    ['text with umlauts', 'text/plain', Buffer.from('Grüße'), 'text/plain; charset=utf-8'],
    ['ASCII', 'text/csv', Buffer.from('a,b'), 'text/csv; charset=utf-8'],
    ['a page', ' TEXT/html ; level=1', Buffer.from('<p>ü'), 'TEXT/html ; level=1; charset=utf-8'],
    ['text in another encoding', 'text/plain', Buffer.from('Grüße', 'latin1'), 'text/plain'],
    ['text that is cut in a character', 'text/plain', Buffer.from('Grü').subarray(0, 3), 'text/plain'],
    ['a charset that is named', 'text/plain; Charset=us-ascii', Buffer.from('b'), 'text/plain; Charset=us-ascii'],
    ['JSON, which is UTF-8 anyway', 'application/json', Buffer.from('"ü"'), 'application/json'],
  ])('says of %s (%s) what its charset is', async (_, contentType, bytes, sent) => {
    const sources = [
      Uint8Array.from(bytes),
      new Blob([Uint8Array.from(bytes)]),
      await fileOf(Uint8Array.from(bytes)),
      new Blob([Uint8Array.from(bytes)]).stream(),
    ]
    for (const source of sources) {
      const { cid } = await clientOf().put(source, { contentType })
      expect(service.files.get(cid)?.entry.contentType).toBe(sent)
      service.files.delete(cid)
    }
  })

  it('sends visibility and term, and nothing of them unless asked', async () => {
    await clientOf().put(noise(10), { visibility: 'private', termDays: 3 })
    await clientOf().put(noise(11))
    const [asked, plain] = uploads()
    expect(asked?.headers).toMatchObject({ 'x-visibility': 'private', 'x-term-days': '3' })
    expect(plain?.headers).not.toHaveProperty('x-visibility')
    expect(plain?.headers).not.toHaveProperty('x-term-days')
  })

  it.each([
    ['private', { private: true }],
    ['visiblity', { visiblity: 'private' }],
  ])('refuses the option %s, which it does not have, and sends nothing', async (name, options) => {
    await expect(clientOf().put(noise(10), options as PutOptions)).rejects.toThrow(
      new TypeError(
        `put has no option "${name}". It has: cid, expectedCid, filename, contentType, visibility, termDays, concurrency, overDays, beforePart, onProgress, state, claim, signal.`,
      ),
    )
    expect(service.seen).toEqual([])
  })

  it.each([
    ['filename must be a string, not 5', { filename: 5 }],
    ['contentType must be a string, not 5', { contentType: 5 }],
    ['onProgress must be a function', { onProgress: 'yes' }],
    ['cid is md5, but it must be unixfs, raw, piece or sha256', { cid: 'md5' }],
  ])('says that %s', async (sentence, options) => {
    await expect(clientOf().put(noise(10), options as unknown as PutOptions)).rejects.toThrow(new TypeError(sentence))
    expect(service.seen).toEqual([])
  })

  it('changes a file that is there where more is wanted of it, and sends nothing', async () => {
    const data = noise(100_000)
    const first = await clientOf().put(data, { filename: 'old.txt', contentType: 'text/plain' })
    const wanted = { visibility: 'private', filename: 'new.txt', contentType: 'image/png', termDays: 60 } as const
    const second = await clientOf().put(data, wanted)
    const { termDays: _, ...changed } = wanted
    expect(second).toEqual({ ...first, ...changed, term: '60 days' })
    expect(await clientOf().put(data, { contentType: 'image/png', termDays: 7 })).toEqual(second)
    expect([service.count('POST /api/upload'), service.count('PATCH /api/files/')]).toEqual([1, 1])
  })

  it('puts under the sha2-256 in hex when asked, and names no profile then', async () => {
    const { cid } = await clientOf().put(bytes, { cid: 'sha256' })
    expect(cid).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(uploads()[0]?.query.has('profile')).toBe(false)
  })

  it('sends nothing of what is a live file of the caller, and answers as if it had', async () => {
    const first = await clientOf().put(bytes)
    const progress: PutProgress[] = []
    const again = await clientOf().put(bytes, { onProgress: (report) => progress.push(report) })
    expect(again).toEqual(first)
    expect(again.owner).toBe(FAKE_EMAIL)
    expect(uploads()).toHaveLength(1)
    expect(progress.at(-1)).toEqual({
      phase: 'done',
      sizeBytes: bytes.length,
      hashedBytes: bytes.length,
      sentBytes: bytes.length,
      parts: { total: 1, sent: 0, found: 1 },
    })
  })

  it('sends what has ended again', async () => {
    service.stage(bytes, await unixfsV1Cid(bytes), { status: 'expired' })
    await clientOf().put(bytes)
    expect(uploads()).toHaveLength(1)
  })

  it('asks for no files without a token, and once with one that may not list', async () => {
    await clientOf({ token: undefined }).put(bytes)
    expect(service.count('GET ')).toBe(0)
    expect(uploads()[0]?.headers).not.toHaveProperty('authorization')
    service.failAlways('GET /api/files', refuse(403, 'insufficient_scope', { required: 'list' }))
    await clientOf().put(noise(3 * LIMITS.partBytes))
    expect(service.count('GET /api/files')).toBe(1)
  })

  it('puts what has no bytes under the id of the empty file', async () => {
    for (const nothing of [new Uint8Array(), new Blob([]), await fileOf(new Uint8Array()), Readable.from([])]) {
      const { cid } = await clientOf().put(nothing)
      // The empty file under unixfs-v1-2025, in the table of IPIP-0499.
      expect(cid).toBe('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')
    }
  })

  it('refuses an empty file under a piece CID, which it has none of, without asking anybody', async () => {
    await expect(clientOf().put(new Uint8Array(), { cid: 'piece' })).rejects.toMatchObject({ code: 'empty_body' })
    expect(service.seen).toEqual([])
  })

  it('throws a TypeError for what is no source and no option, before anything is sent', async () => {
    const wrong: unknown[] = [undefined, 7, {}, [1, 2], null]
    for (const source of wrong) await expect(clientOf().put(source as Uint8Array)).rejects.toThrow(TypeError)
    const options: unknown[] = [{ cid: 'md5' }, { concurrency: 0 }, { concurrency: 5 }, { concurrency: 1.5 }]
    for (const option of options) await expect(clientOf().put(bytes, option as PutOptions)).rejects.toThrow(TypeError)
    await expect(clientOf().put(Readable.from(['text']))).rejects.toThrow(TypeError)
    await expect(clientOf().put(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(clientOf().put(folder)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(service.seen).toEqual([])
  })
})

describe('put with an expected id', () => {
  const bytes = noise(MIB + 5)
  const other = noise(MIB + 5, 2)
  const hex = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

  it.each<[string, (data: Uint8Array) => Promise<string> | string]>([
    ['hex', hex],
    ['CIDv1 dag-pb', unixfsV1Cid],
    ['CIDv0', unixfsV0Cid],
  ])('sends what has it, as %s, and nothing of what has not', async (_, idOf) => {
    await clientOf().put(bytes, { expectedCid: await idOf(bytes) })
    const failure = clientOf().put(bytes, { expectedCid: await idOf(other) })
    await expect(failure).rejects.toMatchObject({
      code: 'cid_mismatch',
      evidence: { expected: await idOf(other), actual: await idOf(bytes) },
    })
    expect(uploads()).toHaveLength(1)
  })

  it('sends no part of a big file that has another id', async () => {
    const big = noise(3 * LIMITS.partBytes + 9)
    const path = await fileOf(big)
    for (const source of [big, new Blob([big]), path]) {
      const failure = clientOf().put(source, { expectedCid: await unixfsV0Cid(noise(big.length, 2)) })
      await expect(failure).rejects.toMatchObject({ code: 'cid_mismatch' })
    }
    expect(uploads()).toEqual([])
    const { cid } = await clientOf().put(path, { expectedCid: await unixfsV0Cid(big) })
    expect(cid).toBe(await unixfsV1Cid(big))
  })

  it('refuses an id that is none, and one that nothing can be checked against', async () => {
    for (const expectedCid of ['?', 'myfile01']) {
      await expect(clientOf().put(bytes, { expectedCid })).rejects.toMatchObject({ code: 'invalid_cid' })
    }
    expect(service.seen).toEqual([])
  })
})

describe('put of a file that goes in parts', () => {
  const bytes = noise(3 * LIMITS.partBytes + MIB + 77)
  const partsOf = (data: Uint8Array) =>
    Array.from({ length: Math.ceil(data.length / LIMITS.partBytes) }, (_, index) =>
      data.subarray(index * LIMITS.partBytes, (index + 1) * LIMITS.partBytes),
    )

  it.each<[string, (text: Uint8Array) => Promise<Parameters<ReturnType<typeof clientOf>['put']>[0]>]>([
    ['an array', async (text) => text],
    ['a path', (text) => fileOf(text)],
    ['a stream', async (text) => new Blob([Uint8Array.from(text)]).stream()],
  ])('says of a long text from %s that it is UTF-8, and of one that ends otherwise not', async (_, sourceOf) => {
    const text = new Uint8Array(Buffer.from('ü'.repeat(Math.floor(bytes.length / 2))))
    const whole = await clientOf().put(await sourceOf(text), { contentType: 'text/plain' })
    expect(service.files.get(whole.cid)?.entry.contentType).toBe('text/plain; charset=utf-8')
    text.set([0xe4], text.length - 1)
    const broken = await clientOf().put(await sourceOf(text), { contentType: 'text/plain' })
    expect(service.files.get(broken.cid)?.entry.contentType).toBe('text/plain')
  })

  it.each<[string, LadeClientOptions, PutOptions, () => Promise<Parameters<ReturnType<typeof clientOf>['put']>[0]>]>([
    ['an array', {}, {}, async () => bytes],
    ['a Blob', {}, {}, async () => new Blob([bytes])],
    ['a path', {}, {}, () => fileOf(bytes)],
    ['a path, hashed here', { threads: false }, {}, () => fileOf(bytes)],
    ['a path, one part at a time', {}, { concurrency: 1 }, () => fileOf(bytes)],
    ['a stream', {}, {}, async () => new Blob([bytes]).stream()],
    ['a stream, one part at a time', {}, { concurrency: 1 }, async () => Readable.from([bytes])],
    ['a path, as sponsored', { token: undefined }, {}, () => fileOf(bytes)],
  ])('composes %s', async (_, options, putOptions, sourceOf) => {
    const named = { filename: 'big.bin', contentType: 'video/mp4', visibility: 'private', termDays: 9 } as const
    const result = await clientOf(options).put(await sourceOf(), { ...named, ...putOptions })
    expect(result).toMatchObject({ cid: await unixfsV1Cid(bytes), size: bytes.length, term: '9 days' })
    const { entry, bytes: stored } = service.files.get(result.cid) ?? {}
    expect(stored?.equals(bytes)).toBe(true)
    expect(entry).toMatchObject({ filename: 'big.bin', contentType: 'video/mp4', visibility: 'private' })
    expect(uploads()).toHaveLength(4)
    for (const { headers } of uploads()) {
      expect(headers).toMatchObject({ 'x-visibility': 'private', 'x-term-days': '7' })
      expect(headers['x-filename']).toMatch(/^big\.bin\.part-[1-4]$/)
    }
  })

  it('hashes a big file in a worker to the same id', async () => {
    const big = noise(12 * MIB + 1)
    const path = await fileOf(big)
    const expected = await unixfsV1Cid(big)
    for (const source of [big, new Blob([big]), path, Readable.from([big])]) {
      expect((await clientOf({ token: undefined }).put(source)).cid).toBe(expected)
    }
  })

  it('never sends more parts at a time than asked', async () => {
    let inFlight = 0
    let most = 0
    service.failAlways('POST /api/upload', async () => {
      inFlight += 1
      most = Math.max(most, inFlight)
      await new Promise((resolve) => setTimeout(resolve, 250))
      inFlight -= 1
    })
    await clientOf().put(bytes, { concurrency: 2 })
    expect(most).toBe(2)
  })

  it('sends no further part while it is held, and the rest afterwards', async () => {
    let resume = () => {}
    const held = new Promise<void>((resolve) => {
      resume = resolve
    })
    let calls = 0
    const beforePart = async () => {
      calls += 1
      if (calls > 1) await held
    }
    const putting = clientOf().put(bytes, { concurrency: 1, beforePart })
    await expect.poll(() => calls).toBe(2)
    expect(uploads()).toHaveLength(1)
    resume()
    expect((await putting).cid).toBe(await unixfsV1Cid(bytes))
    expect(uploads()).toHaveLength(4)
  })

  it('ends by what a held part is given up with', async () => {
    const beforePart = async () => {
      throw new Error('given up')
    }
    await expect(clientOf().put(bytes, { beforePart })).rejects.toThrow('given up')
    await expect(clientOf().put(noise(10), { beforePart })).rejects.toThrow('given up')
    expect(uploads()).toHaveLength(0)
  })

  it('of a session sends no token, and asks what is there all the same', async () => {
    const seen: Headers[] = []
    const spy: typeof fetch = (url, init) => {
      seen.push(new Headers(init?.headers))
      return fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${FAKE_TOKEN}` } })
    }
    const [first = bytes] = partsOf(bytes)
    service.stage(first, await unixfsV1Cid(first))
    await clientOf({ token: undefined, session: true, fetch: spy }).put(bytes)
    expect(sentBytes()).toBe(bytes.length - LIMITS.partBytes)
    expect(seen.every((headers) => !headers.has('authorization'))).toBe(true)
  })

  it("of a session keeps to the limit of a token, and of a wallet's session to none", async () => {
    const info = { tiers: { sponsored: { fileBytes: MIB }, token: { fileBytes: bytes.length - 1, termDays: 30 } } }
    service.failAlways('GET /api/info', (_request, response) => void response.end(JSON.stringify(info)))
    let via = 'code'
    service.failAlways(
      'GET /api/session',
      (_request, response) => void response.end(JSON.stringify({ session: { via }, signIn: [] })),
    )
    const signed: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${FAKE_TOKEN}` } })
    const putting = () => clientOf({ token: undefined, session: true, fetch: signed }).put(bytes)
    await expect(putting()).rejects.toMatchObject({ code: 'too_large' })
    expect(uploads()).toHaveLength(0)
    via = 'wallet'
    expect((await putting()).cid).toBe(await unixfsV1Cid(bytes))
  })

  it('does not send parts that are there', async () => {
    const [first = bytes, , third = bytes] = partsOf(bytes)
    service.stage(first, await unixfsV1Cid(first))
    service.stage(third, await unixfsV1Cid(third))
    const progress: PutProgress[] = []
    await clientOf().put(bytes, { onProgress: (report) => progress.push(report) })
    expect(sentBytes()).toBe(bytes.length - 2 * LIMITS.partBytes)
    expect(progress.at(-1)?.parts).toEqual({ total: 4, sent: 2, found: 2 })
  })

  it('sends parts that are the same once', async () => {
    const zeros = new Uint8Array(4 * LIMITS.partBytes)
    for (const source of [zeros, Readable.from([zeros])]) {
      const { cid } = await clientOf({ token: undefined }).put(source)
      expect(cid).toBe(await unixfsV1Cid(zeros))
      expect(uploads().splice(0)).toHaveLength(1)
      service.seen.splice(0)
    }
  })

  it('refuses more than the service takes before anything is sent, and a stream as soon as it shows', async () => {
    const big = new Uint8Array(40_000_001)
    for (const source of [big, new Blob([big]), await fileOf(big)]) {
      const failure = clientOf().put(source)
      await expect(failure).rejects.toMatchObject({
        code: 'too_large',
        evidence: { limit: 40_000_000, size: big.length },
      })
    }
    expect(uploads()).toEqual([])
    await expect(clientOf().put(Readable.from([big]))).rejects.toMatchObject({ code: 'too_large' })
    expect(service.count('POST /api/compose')).toBe(0)
  })

  it('does not take the root block of a file for the file, nor that of a part', async () => {
    const { root, blocks } = await importFile(bytes, { chunkBytes: MIB, linksPerNode: 1024, isRaw: true })
    service.stage(blocks.get(root.toString()) ?? new Uint8Array(), root.toString())
    service.stage(noise(50), await unixfsV1Cid(bytes.subarray(0, LIMITS.partBytes)))
    expect((await clientOf().put(bytes)).size).toBe(bytes.length)
    expect(uploads()).toHaveLength(4)
  })

  it('sends nothing when the whole is there, of whichever source it comes again', async () => {
    const path = await fileOf(bytes)
    const first = await clientOf().put(path)
    const before = uploads().length
    for (const source of [path, bytes, new Blob([bytes])]) expect(await clientOf().put(source)).toEqual(first)
    expect(uploads()).toHaveLength(before)
    expect(service.count('POST /api/compose')).toBe(1)
  })

  it('sends parts again that had been taken for another file by the time of composing', async () => {
    const stolen = await unixfsV1Cid(bytes.subarray(0, LIMITS.partBytes))
    service.failOnce('POST /api/compose', () => {
      const part = service.files.get(stolen)
      if (part !== undefined) service.stage(part.bytes, stolen, { status: 'composed' })
    })
    const { cid } = await clientOf().put(bytes)
    expect(cid).toBe(await unixfsV1Cid(bytes))
    expect(uploads()).toHaveLength(5)
    expect(service.count('POST /api/compose')).toBe(2)
  })

  it('sends parts again whose bytes the service has lost, although it still lists them', async () => {
    const lost = await unixfsV1Cid(bytes.subarray(0, LIMITS.partBytes))
    service.failOnce('POST /api/compose', (_, response) => {
      response.writeHead(422, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: 'missing_parts', missing: [lost], count: 1 }))
    })
    const { cid } = await clientOf().put(bytes)
    expect(cid).toBe(await unixfsV1Cid(bytes))
    const sent = uploads().filter(({ query }) => query.get('cid') === lost)
    expect(sent).toHaveLength(2)
    expect(service.count('POST /api/compose')).toBe(2)
  })

  it('reports progress that only grows, phase by phase, and ends with done', async () => {
    for (const source of [bytes, await fileOf(bytes), new Blob([bytes]).stream()]) {
      const progress: PutProgress[] = []
      await clientOf({ token: undefined }).put(source, { onProgress: (report) => progress.push(report) })
      const phases = ['hashing', 'sending', 'composing', 'done']
      for (const [place, now] of progress.entries()) {
        const before = progress[place - 1] ?? now
        expect(phases.indexOf(now.phase)).toBeGreaterThanOrEqual(phases.indexOf(before.phase))
        expect(now.hashedBytes).toBeGreaterThanOrEqual(before.hashedBytes)
        expect(now.sentBytes).toBeGreaterThanOrEqual(before.sentBytes)
        expect(now.parts.sent + now.parts.found).toBeGreaterThanOrEqual(before.parts.sent + before.parts.found)
        expect(now.sentBytes).toBeLessThanOrEqual(bytes.length)
      }
      expect(progress.filter(({ phase }) => phase === 'done')).toHaveLength(1)
      expect(progress.at(-1)).toEqual({
        phase: 'done',
        sizeBytes: bytes.length,
        hashedBytes: bytes.length,
        sentBytes: bytes.length,
        parts: { total: 4, sent: 4, found: 0 },
      })
    }
  })

  it('ends with what the progress callback throws', async () => {
    const onProgress = () => {
      throw new RangeError('no')
    }
    for (const source of [bytes, noise(10), new Blob([bytes]).stream()]) {
      await expect(clientOf().put(source, { onProgress })).rejects.toThrow(new RangeError('no'))
    }
  })
})

describe('put of a file that changes', () => {
  it('says so when the size or the time is another one afterwards, and composes nothing', async () => {
    const path = await fileOf(noise(3 * LIMITS.partBytes))
    const expectedCid = await unixfsV1Cid(noise(3 * LIMITS.partBytes))
    service.failOnce('POST /api/upload', () => utimes(path, new Date(), new Date(0)))
    // With an expected id it changes after all of it was hashed, without perhaps before that.
    for (const options of [{ expectedCid }, {}]) {
      await expect(clientOf().put(path, options)).rejects.toMatchObject({ code: 'source_changed' })
      service.files.clear()
      service.failOnce('POST /api/upload', () => utimes(path, new Date(), new Date(1)))
    }
    expect(service.count('POST /api/compose')).toBe(0)
  })

  it('says so when it has become shorter', async () => {
    const path = await fileOf(noise(4 * LIMITS.partBytes))
    service.failOnce('POST /api/upload', async () => {
      const file = await open(path, 'r+')
      await file.truncate(10)
      await file.close()
    })
    await expect(clientOf().put(path, { concurrency: 1 })).rejects.toMatchObject({ code: 'source_changed' })
  })

  it.each([MIB + 5, 3 * LIMITS.partBytes])(
    'says so when other bytes arrive than were hashed, of %i',
    async (sizeBytes) => {
      const bytes = noise(sizeBytes)
      const expectedCid = await unixfsV1Cid(bytes)
      // With an expected id all is hashed before the first question.
      service.failOnce('GET /api/files/', () => void bytes.fill(0, -10))
      const failure = clientOf().put(bytes, { expectedCid })
      await expect(failure).rejects.toMatchObject({ code: 'source_changed', requestId: 'r-1' })
      expect(service.count('POST /api/compose')).toBe(0)
    },
  )
})

describe('put that is aborted', () => {
  it.each<[string, () => Promise<Parameters<ReturnType<typeof clientOf>['put']>[0]>]>([
    ['a small array', async () => noise(MIB)],
    ['a path', () => fileOf(noise(5 * LIMITS.partBytes))],
    ['a Blob', async () => new Blob([noise(5 * LIMITS.partBytes)])],
    ['a stream', async () => Readable.from([noise(5 * LIMITS.partBytes)])],
  ])('rejects with the reason while %s is sent, and sends no more', async (_, sourceOf) => {
    const controller = new AbortController()
    service.failAlways('POST /api/upload', async () => {
      controller.abort(new RangeError('enough'))
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
    const failure = clientOf().put(await sourceOf(), { signal: controller.signal, concurrency: 2 })
    await expect(failure).rejects.toThrow(new RangeError('enough'))
    expect(uploads().length).toBeLessThanOrEqual(2)
    expect(service.count('POST /api/compose')).toBe(0)
  })

  it('does not begin when it is aborted before', async () => {
    const failure = clientOf().put(noise(10), { signal: AbortSignal.abort(new RangeError('before')) })
    await expect(failure).rejects.toThrow(new RangeError('before'))
    expect(service.seen).toEqual([])
  })

  it('does not wait for a stream that says nothing any more, and tells it to end', async () => {
    let isCancelled = false
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(noise(10)),
      cancel: () => {
        isCancelled = true
      },
    })
    const signal = AbortSignal.timeout(50)
    await expect(clientOf().put(silent, { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(isCancelled).toBe(true)
  })
})

describe('put of a stream', () => {
  beforeEach(() => vi.stubEnv('TMPDIR', folder))
  afterEach(() => vi.unstubAllEnvs())

  it('keeps no more parts than it sends at a time, and leaves no temporary file', async () => {
    let givenBytes = 0
    let most = 0
    const source = async function* () {
      for (let count = 0; count < 20; count += 1) {
        givenBytes += MIB / 2
        yield noise(MIB / 2, count)
        most = Math.max(most, givenBytes - sentBytes())
      }
    }
    await clientOf().put(source(), { concurrency: 1 })
    expect(most).toBeLessThanOrEqual(LIMITS.partBytes + MIB)
    expect(await readdir(folder)).toEqual([])
  })

  it('gives the room of a part back as soon as it is sent', async () => {
    let open = 0
    let most = 0
    const createSpill = async () => {
      const spill = await platform.createSpill()
      open += 1
      most = Math.max(most, open)
      let isOpen = true
      const discard = async () => {
        if (isOpen) open -= 1
        isOpen = false
        await spill.discard()
      }
      return { ...spill, discard }
    }
    const http = createHttp({
      baseUrl: service.url,
      policy: retryPolicy(),
      transport: platform.transport(undefined),
    })
    const context = { http, platform: { ...platform, createSpill }, threads: false, limits: LIMITS }
    await put(context, Readable.from([noise(7 * LIMITS.partBytes)]), { concurrency: 2 })
    expect([most, open]).toEqual([2, 0])
  })

  it('ends with what the stream ends by, and leaves no temporary file', async () => {
    const source = async function* () {
      yield noise(LIMITS.partBytes + 5)
      throw new RangeError('the source broke')
    }
    await expect(clientOf().put(source())).rejects.toThrow(new RangeError('the source broke'))
    expect(service.count('POST /api/compose')).toBe(0)
    expect(await readdir(folder)).toEqual([])
  })

  it.each([
    LIMITS.singleMaxBytes - 1,
    LIMITS.partBytes,
    LIMITS.partBytes + 1,
    2 * LIMITS.partBytes,
    2 * LIMITS.partBytes + 1,
  ])('finds the end of a stream of %i bytes', async (sizeBytes) => {
    const bytes = noise(sizeBytes)
    const { cid } = await clientOf().put(Readable.from([bytes]))
    expect(cid).toBe(await unixfsV1Cid(bytes))
  })
})

describe('put with a state', () => {
  const bytes = noise(4 * LIMITS.partBytes + 5)
  const hashedAnew = (progress: readonly PutProgress[]) => progress[0]?.hashedBytes === 0

  it('does not hash again what an interrupted put had hashed, and clears the state at the end', async () => {
    const path = await fileOf(bytes)
    const state = memoryState()
    service.failAlways('POST /api/compose', refuse(409, 'cid_conflict', { cid: 'a', actual: 'b' }))
    await expect(clientOf().put(path, { state })).rejects.toMatchObject({ code: 'cid_conflict' })
    expect(state.text).toBeDefined()

    await service.close()
    service = await startFakeService()
    // Were a byte of it read to be hashed, the other id would show.
    const kept = state.text?.replace(/"raw-1m":"...../, '"raw-1m":"AAAAA')
    state.text = kept
    await expect(clientOf().put(path, { state })).rejects.toMatchObject({ code: 'source_changed' })
    expect(state.text).toBeUndefined()
    const { cid } = await clientOf().put(path, { state })
    expect(cid).toBe(await unixfsV1Cid(bytes))
    expect(state.saves).toBeGreaterThan(0)
    expect(state.text).toBeUndefined()
  })

  it('takes up a put that ended while it was hashed', async () => {
    const path = await fileOf(bytes)
    const state = memoryState()
    const controller = new AbortController()
    const keep = state.save.bind(state)
    state.save = async (text) => {
      await keep(text)
      controller.abort(new Error('off'))
    }
    await expect(clientOf().put(path, { state, signal: controller.signal })).rejects.toThrow('off')
    state.save = keep
    const { cid } = await clientOf().put(path, { state })
    expect(cid).toBe(await unixfsV1Cid(bytes))
  })

  it('hashes anew what is another file by its time, and what cannot be read', async () => {
    const path = await fileOf(bytes)
    const state = memoryState()
    service.failOnce('POST /api/compose', refuse(409, 'cid_conflict', { cid: 'a', actual: 'b' }))
    await expect(clientOf().put(path, { state })).rejects.toBeInstanceOf(LadeError)
    const kept = state.text ?? ''
    const other = noise(bytes.length, 9)
    await writeFile(path, other)
    expect((await clientOf().put(path, { state })).cid).toBe(await unixfsV1Cid(other))
    for (const text of ['', '{', '[]', 'null', '{"version":1}', kept.slice(0, -3)]) {
      state.text = text
      const progress: PutProgress[] = []
      const onProgress = (report: PutProgress) => progress.push(report)
      await clientOf().put(path, { state, onProgress })
      expect(hashedAnew(progress)).toBe(true)
    }
  })

  it('works with a state that does not', async () => {
    const broken = async () => {
      throw new Error('disk full')
    }
    const path = await fileOf(bytes)
    const { cid } = await clientOf().put(path, { state: { load: broken, save: broken, clear: broken } })
    expect(cid).toBe(await unixfsV1Cid(bytes))
  })
})
