/** Many small files in one request, each by itself. */
import { once } from 'node:events'
import http from 'node:http'
import { describe, expect, test } from 'vitest'
import { type Answer, Caller } from './caller.ts'
import { blockOf, CAR_TYPE, carHeader, carOfSections, carSection } from './car-files.ts'
import { CODEC } from './content-ids.ts'
import type { Block } from './network-ids.ts'
import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import type { Usage } from './shapes.ts'
import { MIB, sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()
/** Larger than what the records keep, and smaller than a block. */
const LARGE_BYTES = 200_000

interface BatchAnswer {
  files: { cid: string; size: number; expiresAt?: string; error?: string; detail?: string }[]
}

const fileOf = (bytes: Uint8Array): Block => blockOf(CODEC.raw, 'sha256', bytes)
const files = (...sizes: readonly number[]): Block[] => sizes.map((size) => fileOf(sampleBytes(size)))
const sizeOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
/** A file under the CID of another one. */
const wrongFile = (): Block => ({ cid: fileOf(sampleBytes()).cid, bytes: sampleBytes(300) })

const sendCar = (caller: Caller, car: Uint8Array, headers: Record<string, string | undefined> = {}): Promise<Answer> =>
  caller.request('POST', '/api/batches', {
    headers: { 'Content-Type': CAR_TYPE, 'Content-Length': String(car.length), ...headers },
    body: car,
  })

/** The head of a batch, whose body waits until it is wanted. */
function beginBatch({ baseUrl, headers }: Caller, sizeBytes: number) {
  const request = http.request(new URL('/api/batches', baseUrl), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': CAR_TYPE, 'Content-Length': sizeBytes, Expect: '100-continue' },
    agent: false,
  })
  request.flushHeaders()
  return { request, answered: once(request, 'response') as Promise<[http.IncomingMessage]> }
}

const bodyOf = async (response: http.IncomingMessage) =>
  JSON.parse(Buffer.concat(await response.toArray()).toString()) as Record<string, unknown>

async function stageBatch(
  caller: Caller,
  blocks: readonly Block[],
  headers: Record<string, string> = {},
): Promise<BatchAnswer['files']> {
  const answer = await sendCar(caller, carOfSections([], blocks), headers)
  expect(answer.status, answer.body.toString()).toBe(200)
  const { files: results } = answer.json<BatchAnswer>()
  expect(results.map(({ cid, size }) => [cid, size])).toEqual(
    blocks.map(({ cid, bytes }) => [cid.toString(), bytes.length]),
  )
  return results
}

const codes = (results: BatchAnswer['files']) => results.map(({ error }) => error)
const todayOf = async (user: User): Promise<Usage['today']> => (await user.usage()).today

async function expectStored(caller: Caller, blocks: readonly Block[]): Promise<void> {
  for (const { cid, bytes } of blocks) {
    const answer = await caller.retrieve(cid.toString())
    expect(answer.status, `${cid}`).toBe(200)
    expect(answer.body.equals(bytes), `${cid}`).toBe(true)
  }
}

async function expectAbsent(caller: Caller, blocks: readonly Block[]): Promise<void> {
  for (const { cid } of blocks) expect((await caller.retrieve(cid.toString())).status, `${cid}`).toBe(404)
}

describe('POST /api/batches', () => {
  test('stores each file by itself, charged to the byte, in the order of the CAR', async (context) => {
    const user = await target.freshUser(context)
    const blocks = files(1, 10_000, LARGE_BYTES, 300, LARGE_BYTES + 1)
    const results = await stageBatch(user, blocks)
    expect(codes(results)).toEqual(blocks.map(() => undefined))
    for (const { expiresAt } of results) expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(Date.now())
    expect(await todayOf(user)).toMatchObject({ bytes: sizeOf(blocks), files: blocks.length, reservedBytes: 0 })
    await expectStored(target.anonymous(), blocks)
    const [first] = blocks
    const entry = (await user.get(`/api/files/${first?.cid}`)).json<object>()
    expect(entry).toMatchObject({ filename: null, contentType: 'application/octet-stream', visibility: 'public' })
  })

  test('charges nothing for what is stored already, twice in a batch, or again', async (context) => {
    const user = await target.freshUser(context)
    const [one, two] = [fileOf(sampleBytes(500)), fileOf(sampleBytes(LARGE_BYTES))]
    await user.stage(one.bytes, { filename: 'one.txt', contentType: 'text/plain' })
    const blocks = [one, two, two, one]
    for (let time = 0; time < 2; time += 1) {
      expect(codes(await stageBatch(user, blocks))).toEqual(blocks.map(() => undefined))
      expect(await todayOf(user)).toMatchObject({ bytes: 500 + LARGE_BYTES, files: 2, reservedBytes: 0 })
    }
    const entry = (await user.get(`/api/files/${one.cid}`)).json<object>()
    expect(entry).toMatchObject({ filename: 'one.txt', contentType: 'text/plain' })
  })

  test('takes an empty file and a batch without files', async (context) => {
    const user = await target.freshUser(context)
    expect(codes(await stageBatch(user, [fileOf(new Uint8Array())]))).toEqual([undefined])
    expect(await stageBatch(user, [])).toEqual([])
  })

  test('names the files that are refused, of which nothing is left or charged, and keeps the others', async (context) => {
    const user = await target.freshUser(context)
    const good = files(400, LARGE_BYTES, 500)
    const wrong = wrongFile()
    const wrongLarge = { cid: fileOf(sampleBytes()).cid, bytes: sampleBytes(LARGE_BYTES) }
    const cbor = blockOf(CODEC.dagCbor, 'sha256', sampleBytes(50))
    const blake = blockOf(CODEC.raw, 'blake3', sampleBytes(50))
    const tooLarge = fileOf(sampleBytes(MIB + 1))
    const [first, second, third] = good as [Block, Block, Block]
    const blocks = [first, wrong, wrongLarge, second, cbor, blake, tooLarge, third]
    const results = await stageBatch(user, blocks)
    expect(codes(results)).toEqual([
      undefined,
      'cid_mismatch',
      'cid_mismatch',
      undefined,
      'invalid_cid',
      'invalid_cid',
      'too_large',
      undefined,
    ])
    for (const { error, detail, expiresAt } of results) {
      expect(detail === undefined).toBe(error === undefined)
      expect(expiresAt === undefined).toBe(error !== undefined)
    }
    expect(await todayOf(user)).toMatchObject({ bytes: sizeOf(good), files: 3, reservedBytes: 0 })
    await expectStored(user, good)
    await expectAbsent(user, [wrong, wrongLarge, cbor, tooLarge])
  })

  test('keeps nothing of a CAR whose framing is broken', async (context) => {
    const user = await target.freshUser(context)
    const good = files(100, 100)
    const car = carOfSections([], good)
    const rest = carSection(fileOf(sampleBytes(9)).cid, sampleBytes(9))
    const broken: Uint8Array[] = [
      car.subarray(0, -1),
      Buffer.concat([car, Buffer.from([0])]),
      Buffer.concat([car, rest.subarray(0, 20)]),
      Buffer.concat([car, Buffer.from([3, 1, 2, 3])]),
      car.subarray(1),
      Buffer.concat([carHeader({ version: 2 }), car]),
      sampleBytes(1000),
    ]
    for (const body of broken) {
      const problem = expectProblem(await sendCar(user, body), 400, 'invalid_car')
      expect(problem.detail).toMatch(/\.$/)
    }
    expect(await todayOf(user)).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    await expectAbsent(user, good)
  })

  test('has limits of files and of bytes, and one media type', async (context) => {
    const user = await target.freshUser(context)
    const tooMany = Array.from({ length: 1001 }, (_, index) => fileOf(Buffer.from(`file ${index}`)))
    expect(expectProblem(await sendCar(user, carOfSections([], tooMany)), 400, 'bad_request').detail).toContain('1000')
    const { request, answered } = beginBatch(user, 16 * MIB + 1)
    const [large] = await answered
    expect([large.statusCode, await bodyOf(large)]).toMatchObject([
      413,
      { error: 'too_large', limit: 16 * MIB, size: 16 * MIB + 1 },
    ])
    request.destroy()
    const car = carOfSections([], files(10))
    for (const type of ['application/octet-stream', undefined]) {
      expectProblem(await sendCar(user, car, { 'Content-Type': type }), 415, 'unsupported_media_type')
    }
    expectProblem(await sendCar(user, car, { 'Content-Encoding': 'gzip' }), 415, 'unsupported_encoding')
    expectProblem(await sendCar(user, new Uint8Array()), 400, 'empty_body')
    expect(await todayOf(user)).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })

  test('keeps private files private, and refuses each of them without a token', async (context) => {
    const user = await target.freshUser(context)
    const blocks = files(100, LARGE_BYTES)
    const headers = { 'X-Visibility': 'private', 'X-Term-Days': '2' }
    expect(codes(await stageBatch(user, blocks, headers))).toEqual([undefined, undefined])
    await expectAbsent(target.anonymous(), blocks)
    await expectStored(user, blocks)
    expect((await user.get(`/api/files/${blocks[0]?.cid}`)).json<object>()).toMatchObject({
      visibility: 'private',
      term: '2 days',
    })
    const open = target.anonymous()
    expect(codes(await stageBatch(open, files(10, 10), headers))).toEqual(['invalid_visibility', 'invalid_visibility'])
    for (const name of ['X-Visibility', 'X-Term-Days']) {
      const code = name === 'X-Visibility' ? 'invalid_visibility' : 'invalid_term'
      expectProblem(await sendCar(user, carOfSections([], blocks), { [name]: 'none' }), 400, code)
    }
  })

  test('needs the scope put, and no token at all', async (context) => {
    const reader = await target.freshUser(context, { scopes: ['get', 'list'] })
    const blocks = files(100, 2000)
    expectProblem(await sendCar(reader, carOfSections([], blocks)), 403, 'insufficient_scope')
    await expectAbsent(reader, blocks)
    expect(codes(await stageBatch(target.anonymous(), blocks))).toEqual([undefined, undefined])
    await expectStored(reader, blocks)
  })

  test('takes what fits into the quota, to the byte, also behind a file that does not', async (context) => {
    target.needsOwnServer(context, 'needs a small quota')
    const user = await target.freshUser(context, { quotaMb: 1 })
    const [first, tooLarge, second] = files(400_000, 700_000, MIB - 400_000) as [Block, Block, Block]
    expect(codes(await stageBatch(user, [first, tooLarge, second]))).toEqual([undefined, 'quota_exceeded', undefined])
    expect(await todayOf(user)).toMatchObject({ bytes: MIB, files: 2, reservedBytes: 0 })
    await expectAbsent(user, [tooLarge])
    // What is stored needs no quota.
    const [one] = files(1) as [Block]
    expect(codes(await stageBatch(user, [one, first, second]))).toEqual(['quota_exceeded', undefined, undefined])
    expect(await todayOf(user)).toMatchObject({ bytes: MIB, files: 2, reservedBytes: 0 })
  })

  test('fits to the file, in small files', async (context) => {
    target.needsOwnServer(context, 'needs a small quota')
    const user = await target.freshUser(context, { quotaMb: 1 })
    const blocks = Array.from({ length: 30 }, () => fileOf(sampleBytes(50_000)))
    const results = codes(await stageBatch(user, blocks))
    expect(results.filter((code) => code === undefined)).toHaveLength(Math.floor(MIB / 50_000))
    expect(new Set(results)).toEqual(new Set([undefined, 'quota_exceeded']))
    expect(await todayOf(user)).toMatchObject({ bytes: Math.floor(MIB / 50_000) * 50_000, reservedBytes: 0 })
  })

  test('is one upload in flight, whatever is in it', async (context) => {
    target.needsOwnServer(context, 'needs a limit of one upload at a time')
    const server = await startOwnServer({ ...OWN_ENV, LADE_SPONSORED_CONCURRENCY: '1' })
    context.onTestFinished(() => server.discard())
    const caller = new Caller(server.baseUrl, server.baseUrl, {})
    expect(codes(await stageBatch(caller, files(100, LARGE_BYTES, 100, LARGE_BYTES)))).toEqual(Array(4).fill(undefined))
    const car = carOfSections([], files(1000))
    const { request: half, answered } = beginBatch(caller, car.length)
    await once(half, 'continue')
    half.write(car.subarray(0, 500))
    expectProblem(await sendCar(caller, carOfSections([], files(10))), 429, 'too_many_uploads')
    expectProblem(await caller.upload(sampleBytes()), 429, 'too_many_uploads')
    half.end(car.subarray(500))
    const [response] = await answered
    expect([response.statusCode, await bodyOf(response)]).toMatchObject([200, { files: [{ size: 1000 }] }])
    expect((await caller.upload(sampleBytes())).status).toBe(200)
  })

  test('that is cut off leaves nothing', async (context) => {
    const user = await target.freshUser(context)
    const blocks = files(1000, 1000)
    const car = carOfSections([], blocks)
    const { hostname, port } = target.directUrl
    const cut = http.request({ hostname, port, path: '/api/batches', method: 'POST', agent: false })
    for (const [name, value] of Object.entries({ ...user.headers, 'Content-Type': CAR_TYPE }))
      cut.setHeader(name, value)
    cut.setHeader('Content-Length', car.length)
    cut.on('error', () => {})
    await new Promise<void>((resolve) => cut.write(car.subarray(0, 1500), () => resolve()))
    cut.destroy()
    const deadline = Date.now() + 5000
    while ((await todayOf(user)).reservedBytes !== 0 && Date.now() < deadline);
    expect(await todayOf(user)).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    await expectAbsent(user, blocks)
  })
})
