/**
 * Files that are put together from parts of 127 MiB, on a server of this file's own that takes them; against a foreign
 * server all of it is skipped. The tests go through the life of one file, in their order.
 */
import { CarReader } from '@ipld/car'
import { CID } from 'multiformats/cid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, Caller, headerOf } from './caller.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { type Dag, importFile, multibaseOfPiece, PROFILES, pieceCidOf } from './network-ids.ts'
import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import type { OwnServer } from './server-under-test.ts'
import type { FileEntry, SignupResult, UploadResult } from './shapes.ts'
import { freshAddress, MIB, sampleBytes } from './target.ts'

const isForeign = process.env.LADE_ACCEPTANCE_URL !== undefined
const options = { timeout: 120_000, meta: { skippedBecause: 'not on a server of others' } }

const PART = 127 * MIB
const REST = 2 * MIB + 345
const first = sampleBytes(isForeign ? 0 : PART)
const rest = sampleBytes(REST)
const whole = Buffer.concat([first, rest])

describe.skipIf(isForeign)('a composed file', options, () => {
  let server: OwnServer
  let anybody: Caller
  let user: Caller
  let dag: Dag
  let parts: string[]
  let file: UploadResult

  beforeAll(async () => {
    server = await startOwnServer({ ...OWN_ENV, LADE_TOKEN_FILE_MB: '200', LADE_TOKEN_DAILY_MB: '1024' })
    anybody = new Caller(server.baseUrl, server.baseUrl, { 'X-Forwarded-For': freshAddress() })
    user = await signUp()
    dag = await importFile(whole, PROFILES['unixfs-v1-2025'])
    const roots = await Promise.all([first, rest].map((bytes) => importFile(bytes, PROFILES['unixfs-v1-2025'])))
    parts = roots.map(({ root }) => root.toString())
  }, 120_000)
  afterAll(() => server?.discard())

  const signUp = async () => {
    const email = `acceptance-${sampleBytes(8).toString('hex')}@example.com`
    const answer = await anybody.post('/api/auth/signup', { email, label: 'x' })
    return anybody.with({ Authorization: `Bearer ${answer.json<SignupResult>().token}` })
  }
  const compose = (cid: string, of: readonly string[], who = user, headers = {}): Promise<Answer> =>
    who.request('POST', `/api/compose?cid=${cid}`, {
      json: { parts: of, contentType: 'video/mp4', filename: 'größe.mp4' },
      headers,
    })
  const cids = async () => (await user.files()).files.map(({ cid }) => cid)

  test('parts are uploaded as files of their own', async () => {
    for (const [index, bytes] of [first, rest].entries()) {
      await user.stage(bytes, { cid: parts[index] ?? '', query: '&profile=unixfs-v1-2025' })
    }
    expect(await cids()).toEqual(parts.toReversed())
    expect((await user.usage()).today).toMatchObject({ bytes: whole.length, files: 2 })
  })

  test('is refused for every reason of its own, and no part is lost', async () => {
    const root = dag.root.toString()
    const reversed = await compose(root, parts.toReversed())
    expectProblem(reversed, 400, 'invalid_parts')
    const twice = [parts[0] ?? '', ...parts]
    expect(expectProblem(await compose(root, twice), 413, 'too_large')).toMatchObject({ limit: 200 * MIB })
    const mismatch = expectProblem(await compose(root, parts.slice(0, 1)), 422, 'cid_mismatch')
    expect(mismatch).toMatchObject({ expected: root, actual: parts[0] })
    const unknown = rawCidOf(sampleBytes()).base32
    expect(expectProblem(await compose(root, [...parts, unknown]), 422, 'missing_parts').missing).toEqual([unknown])
    expect(expectProblem(await compose(root, parts, await signUp()), 403, 'foreign_parts')).toMatchObject({ parts })
    expectProblem(await compose('myfile0001', parts), 400, 'invalid_cid')
    expectProblem(await compose(root, []), 400, 'invalid_parts')
    expectProblem(await compose(root, parts, anybody.with({ Authorization: 'Bearer pk_live_x' })), 401, 'invalid_token')
    expect(await cids()).toEqual(parts.toReversed())
    expect((await user.retrieve(parts[0] ?? '', { method: 'HEAD' })).status).toBe(200)
    expectProblem(await user.retrieve(root), 404, 'not_found')
  })

  test('is one file under the root of the whole, charged with its parts', async () => {
    const answer = await compose(dag.root.toString(), parts, user, { 'X-Term-Days': '3' })
    expect(answer.status, answer.body.toString()).toBe(200)
    file = answer.json<UploadResult>()
    expect(file).toMatchObject({
      cid: dag.root.toString(),
      size: whole.length,
      term: '3 days',
      sponsored: false,
      pieceCid: pieceCidOf(whole),
      sha256: null,
      verified: true,
      status: expect.stringMatching(/^(staged|proposed|active)$/),
      retrievalUrl: `${server.baseUrl.origin}/p/${dag.root}`,
    })
    const { files } = await user.files()
    expect(files).toMatchObject([
      { cid: file.cid, dealId: file.dealId, contentType: 'video/mp4', filename: 'größe.mp4' },
    ])
    const usage = await user.usage()
    expect(usage.today).toMatchObject({ bytes: whole.length, files: 3, reservedBytes: 0 })
    expect(usage.stored).toMatchObject({ bytes: whole.length, files: 1 })
  })

  test('takes the place of its parts, which say so', async () => {
    for (const part of parts) {
      expect(expectProblem(await anybody.retrieve(part), 410, 'gone')).toMatchObject({ reason: 'composed' })
      expect((await user.get(`/api/files/${part}`)).json<FileEntry>()).toMatchObject({ status: 'composed' })
      expectProblem(await user.request('DELETE', `/api/files/${part}`), 410, 'gone')
    }
  })

  test('is the same deal when it is asked for again', async () => {
    const again = await compose(dag.root.toString(), parts)
    expect(again.json<UploadResult>()).toEqual({ ...file, status: expect.stringMatching(/^(staged|proposed|active)$/) })
    expect((await user.usage()).stored.files).toBe(1)
  })

  test('has one deal', async () => {
    const { deals } = (await user.get('/api/deals')).json<{ deals: { dealId: string; size: number }[] }>()
    expect(deals).toMatchObject([{ dealId: file.dealId, size: whole.length }])
  })

  test('is read as a whole, under each of its names', async () => {
    const answer = await anybody.retrieve(file.cid)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(whole)).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-length': String(whole.length),
      'content-type': 'video/mp4',
      etag: `"${file.cid}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=3600',
    })
    expect(answer.headers).not.toHaveProperty('repr-digest')
    const { v1, v2 } = multibaseOfPiece(whole)
    for (const path of [`/piece/${v2}`, `/piece/${v1}`, `/p/${v2}`]) {
      const head = await anybody.request('HEAD', path)
      expect([path, head.status, headerOf(head, 'content-length')]).toEqual([path, 200, String(whole.length)])
    }
    const named = await anybody.retrieve(file.cid, { headers: { 'If-None-Match': `"${file.cid}"` } })
    expect(named.status).toBe(304)
  })

  test('is found by no digest that nobody has computed', async () => {
    for (const cid of [hexOf(whole), rawCidOf(whole).base32])
      expectProblem(await anybody.retrieve(cid), 404, 'not_found')
  })

  test.for([
    ['across the parts', PART - 5, PART + 7],
    ['the end of the first', PART - 9, PART],
    ['the beginning of the second', PART, PART + 9],
    ['the end', PART + REST - 1, PART + REST],
    ['a leaf on each side', PART - MIB, PART + MIB],
  ] as const)('has one range space: %s', async ([, from, to]) => {
    for (const path of [`/p/${file.cid}`, `/piece/${file.pieceCid}`]) {
      const answer = await anybody.get(path, { Range: `bytes=${from}-${to - 1}` })
      expect(answer.status).toBe(206)
      expect(headerOf(answer, 'content-range')).toBe(`bytes ${from}-${to - 1}/${whole.length}`)
      expect(answer.body.equals(whole.subarray(from, to))).toBe(true)
    }
  })

  test('refuses a range outside', async () => {
    const answer = await anybody.get(`/p/${file.cid}`, { Range: `bytes=${whole.length}-` })
    expectProblem(answer, 416, 'range_not_satisfiable')
    expect(headerOf(answer, 'content-range')).toBe(`bytes */${whole.length}`)
  })

  test('gives every block of its DAG', async () => {
    const at = (index: number) => dag.blocks.at(index)
    for (const block of [at(0), at(126), at(127), at(128), at(129), at(-1)]) {
      if (block === undefined) throw new Error('there are 131 blocks')
      const answer = await anybody.get(`/ipfs/${block.cid}?format=raw`)
      expect(answer.status).toBe(200)
      expect(answer.body.equals(block.bytes)).toBe(true)
    }
    const range = `entity-bytes=${PART - 1}:${PART}&dag-scope=entity`
    const car = await anybody.get(`/ipfs/${file.cid}?format=car&${range}`)
    const listed: string[] = []
    for await (const { cid } of (await CarReader.fromBytes(car.body)).blocks()) listed.push(cid.toString())
    const wanted = [
      dag.root,
      ...[first.subarray(-MIB), rest.subarray(0, MIB)].map((leaf) => CID.parse(rawCidOf(leaf).base32)),
    ]
    expect(listed).toEqual(wanted.map(String))
  })

  test('is removed as one, with the bytes of its parts', async () => {
    const removed = await user.request('DELETE', `/api/files/${file.cid}`)
    expect(removed.json<FileEntry>()).toMatchObject({ status: 'removed', cid: file.cid })
    expectProblem(await anybody.retrieve(file.cid), 410, 'gone')
    expect(await cids()).toEqual([])
    expect((await user.usage()).stored).toMatchObject({ bytes: 0, files: 0 })
    expectProblem(await compose(file.cid, parts), 422, 'missing_parts')
  })

  test('is read where its id is the digest of all its bytes, and then has it', async () => {
    for (const bytes of [first, rest]) await user.stage(bytes, { cid: rawCidOf(bytes).base32 })
    const answer = await compose(rawCidOf(whole).base32, [rawCidOf(first).base32, hexOf(rest)])
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(answer.json<UploadResult>()).toMatchObject({ sha256: hexOf(whole), pieceCid: file.pieceCid })
    const tail = await anybody.retrieve(hexOf(whole), { headers: { Range: 'bytes=-1000' } })
    expect(tail.body.equals(whole.subarray(-1000))).toBe(true)
    expect(tail.headers).toHaveProperty('repr-digest')
  })
})
