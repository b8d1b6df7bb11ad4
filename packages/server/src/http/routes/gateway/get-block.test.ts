import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, cborDag, directoryDag, fileDag, patternBytes, type TestDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const RAW = 'application/vnd.ipld.raw'
const CAR = { 'content-type': 'application/vnd.ipld.car' }
const FILE = patternBytes(2_500_000)
const BIG = patternBytes(MAX_BLOCK_BYTES + 5, 7)
const rawCid = async (bytes: Uint8Array): Promise<string> => CID.createV1(0x55, await sha256.digest(bytes)).toString()

describe('GET /ipfs/{cid}?format=raw', () => {
  let service: RunningService
  let token: string
  let v1: TestDag
  let v0: TestDag
  let directory: TestDag
  let big: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000' } })
    token = (await service.signUp()).token
    v1 = await fileDag(FILE)
    v0 = await fileDag(FILE, { profile: 'unixfs-v0-2015' })
    directory = await directoryDag({ 'a.txt': Buffer.from('file a'), 'sub/b.bin': patternBytes(1_200_000, 3) })
    big = await rawCid(BIG)
    const uploads = [
      service.upload(FILE, { cid: v1.root.toString() }),
      service.upload(FILE, { cid: v0.root.toString(), token }),
      service.upload(await carOf(directory.root, directory.blocks), { cid: directory.root.toString(), headers: CAR }),
      service.upload(BIG, { cid: big }),
    ]
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
  afterAll(() => service.remove())

  const get = async (cid: string, init: RequestInit = {}, query = '?format=raw') => {
    const response = await service.fetch(`/ipfs/${cid}${query}`, init)
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  }
  const problemOf = ({ status, bytes }: { status: number; bytes: Buffer }) => {
    const { error, detail } = JSON.parse(bytes.toString()) as { error: string; detail: string }
    return { status, error, detail }
  }

  it.each([
    ['a file of raw leaves', () => v1],
    ['a file of wrapped leaves', () => v0],
    ['a directory that came as a CAR', () => directory],
  ])('answers every block of %s, byte for byte', async (_title, dag) => {
    for (const [cid, block] of dag().blocks) {
      const { status, headers, bytes } = await get(cid)
      expect([status, headers.get('content-length')]).toEqual([200, String(block.length)])
      expect(bytes.equals(block)).toBe(true)
    }
  })

  it('answers with the headers of the gateway specification, also to HEAD', async () => {
    const cid = v1.root.toString()
    const answer = await get(cid)
    const head = await get(cid, { method: 'HEAD' })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': RAW,
      'content-length': String(answer.bytes.length),
      'content-disposition': `attachment; filename="${cid}.bin"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
      etag: `"${cid}.raw"`,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'x-ipfs-path': `/ipfs/${cid}`,
      'x-ipfs-roots': cid,
      vary: 'Accept',
      'access-control-allow-origin': '*',
    })
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/Content-Range.*X-Ipfs-Path.*X-Ipfs-Roots/)
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    for (const name of ['content-type', 'content-length', 'content-disposition', 'etag', 'x-ipfs-path', 'vary']) {
      expect(head.headers.get(name), name).toBe(answer.headers.get(name))
    }
  })

  it('says where the same answer has an address of its own, when Accept asked for it', async () => {
    const cid = v1.root.toString()
    const accept = { headers: { accept: RAW } }
    expect((await get(cid, accept, '')).headers.get('content-location')).toBe(`/ipfs/${cid}?format=raw`)
    expect((await get(cid, accept, '?filename=a%20b')).headers.get('content-location')).toBe(
      `/ipfs/${cid}?filename=a+b&format=raw`,
    )
    expect((await get(cid, accept)).headers.get('content-location')).toBeNull()
  })

  it.each([
    ['x.bin', 'attachment; filename="x.bin"'],
    ['a "b";c.bin', 'attachment; filename="a \\"b\\";c.bin"'],
    ['100%.bin', `attachment; filename="100%.bin"; filename*=UTF-8''100%25.bin`],
    ["日本('*').bin", `attachment; filename="__('*').bin"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%28%27%2a%27%29.bin`],
  ])('saves under %s when asked', async (filename, expected) => {
    const { headers } = await get(v1.root.toString(), {}, `?format=raw&filename=${encodeURIComponent(filename)}`)
    expect(headers.get('content-disposition')).toBe(expected)
  })

  it.each(['', 'a/b', 'a\r\nSet-Cookie: x', '..'])('error: the name %j is invalid_filename', async (filename) => {
    const answer = await get(v1.root.toString(), {}, `?format=raw&filename=${encodeURIComponent(filename)}`)
    expect(problemOf(answer)).toMatchObject({ status: 400, error: 'invalid_filename' })
  })

  it('answers one range of a block, however the block comes about', async () => {
    for (const [cid, block] of [...v0.blocks, ...directory.blocks]) {
      const middle = Math.floor(block.length / 2)
      const answer = await get(cid, { headers: { range: `bytes=${middle}-${block.length - 1}` } })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([
        206,
        `bytes ${middle}-${block.length - 1}/${block.length}`,
      ])
      expect(answer.bytes.equals(block.subarray(middle))).toBe(true)
    }
  })

  it('answers several ranges with the whole block, and one outside of it with 416', async () => {
    const cid = v1.root.toString()
    const several = await get(cid, { headers: { range: 'bytes=0-1,3-4' } })
    expect([several.status, several.bytes.length]).toEqual([200, v1.blocks.get(cid)?.length])
    const outside = await get(cid, { headers: { range: 'bytes=999999-' } })
    expect(problemOf(outside)).toMatchObject({ status: 416, error: 'range_not_satisfiable' })
    const applies = await get(cid, { headers: { range: 'bytes=0-1', 'if-range': `"${cid}.raw"` } })
    const applies_not = await get(cid, { headers: { range: 'bytes=0-1', 'if-range': `"${cid}"` } })
    expect([applies.status, applies_not.status]).toEqual([206, 200])
  })

  it.each([(tag: string) => tag, (tag: string) => `W/${tag}`, (tag: string) => `"x", ${tag}`, () => '*'])(
    'answers 304 to If-None-Match %#, and only for what is here',
    async (write) => {
      const cid = v1.root.toString()
      const { status, headers, bytes } = await get(cid, { headers: { 'if-none-match': write(`"${cid}.raw"`) } })
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, `"${cid}.raw"`])
      expect(headers.get('cache-control')).toBe('public, max-age=3600')
      const absent = await rawCid(Buffer.from('never staged'))
      expect((await get(absent, { headers: { 'if-none-match': write(`"${absent}.raw"`) } })).status).toBe(404)
    },
  )

  it('streams bytes of codec raw that are bigger than a block, with ranges', async () => {
    const whole = await get(big)
    expect([whole.status, whole.bytes.equals(BIG)]).toEqual([200, true])
    const part = await get(big, { headers: { range: 'bytes=-5' } })
    expect([part.status, part.bytes.equals(BIG.subarray(-5))]).toEqual([206, true])
    const asCbor = CID.createV1(0x71, CID.parse(big).multihash).toString()
    expect(problemOf(await get(asCbor))).toMatchObject({ status: 404, error: 'not_found' })
  })

  it('answers a block by its hash, whatever codec it is asked for under', async () => {
    const small = Buffer.from('{"a":1}')
    const raw = await rawCid(small)
    await service.upload(small, { cid: raw })
    for (const codec of [0x55, 0x70, 0x71, 0x0129]) {
      const cid = CID.createV1(codec, CID.parse(raw).multihash).toString()
      expect((await get(cid)).bytes.equals(small)).toBe(true)
    }
  })

  it('answers a CID in any base, and in either version', async () => {
    const [cidV0, block] = [v0.root.toString(), v0.blocks.get(v0.root.toString())]
    const inV1 = v0.root.toV1()
    const { base16 } = await import('multiformats/bases/base16')
    const { base36 } = await import('multiformats/bases/base36')
    for (const cid of [
      cidV0,
      inV1.toString(),
      inV1.toString(base16.encoder),
      inV1.toString(base36.encoder).toUpperCase(),
    ]) {
      const { bytes, headers } = await get(cid)
      expect(bytes.equals(block ?? Buffer.alloc(0))).toBe(true)
      expect(headers.get('etag')).toBe(`"${cid}.raw"`)
    }
  })

  it('answers the block at the end of a path, and what each name of it leads to', async () => {
    const [root, end] = [directory.root.toString(), await rawCid(Buffer.from('file a'))]
    const answer = await get(`${root}/a.txt`)
    expect([answer.status, answer.bytes.toString()]).toEqual([200, 'file a'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      etag: `"${end}.raw"`,
      'content-disposition': `attachment; filename="${end}.bin"`,
      'x-ipfs-path': `/ipfs/${root}/a.txt`,
      'x-ipfs-roots': `${root},${end}`,
    })
    expect(problemOf(await get(`${root}/b.txt`))).toMatchObject({
      status: 404,
      detail: expect.stringContaining('"b.txt"'),
    })
  })

  it.each([
    ['an opaque id', 'myfile0001', 400, 'invalid_cid'],
    ['a digest', 'ab'.repeat(32), 400, 'invalid_cid'],
    ['no id', '', 400, 'invalid_cid'],
    ['a piece CID', 'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq', 406, 'not_acceptable'],
    ['a CID that nobody staged', 'bafkreihhpc5y2pqvl5rbe5uuyhqjouybfs3rvlmisccgzue2kkt5zq6upq', 404, 'not_found'],
    [
      'a path below a CID that nobody staged',
      'bafybeie72edlprgtlwwctzljf6gkn2wnlrddqjbkxo3jomh4n7omwblxly/a',
      404,
      'not_found',
    ],
  ])('error: %s is answered %s with %i %s, and not kept by caches', async (_title, cid, status, error) => {
    const answer = await get(cid)
    expect(problemOf(answer)).toMatchObject({ status, error })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect((await get(cid, { method: 'HEAD' })).status).toBe(status)
  })

  it('takes the parameters of a CAR, which mean nothing here, unless they are wrong', async () => {
    const cid = v1.root.toString()
    expect((await get(cid, {}, '?format=raw&dag-scope=block&car-dups=y')).status).toBe(200)
    for (const wrong of ['car-order=', 'car-dups=maybe', 'car-version=2', 'entity-bytes=A', 'dag-scope=some']) {
      expect(problemOf(await get(cid, {}, `?format=raw&${wrong}`)), wrong).toMatchObject({ status: 400 })
    }
  })

  it('error: tells a probing client that a block is not here by 412', async () => {
    const probe = (cid: string, cacheControl: string) =>
      get(cid, { method: 'HEAD', headers: { 'cache-control': cacheControl } })
    const absent = await rawCid(Buffer.from('never staged'))
    expect((await probe(absent, 'only-if-cached')).status).toBe(412)
    expect((await probe(absent, 'max-age=0, Only-If-Cached')).status).toBe(412)
    expect((await probe(absent, 'no-cache')).status).toBe(404)
    expect((await probe(v1.root.toString(), 'only-if-cached')).status).toBe(200)
  })

  it('error: lets nobody install a block as a service worker', async () => {
    const answer = await get(v1.root.toString(), { headers: { 'service-worker': 'script' } })
    expect(problemOf(answer)).toMatchObject({ status: 400, error: 'bad_request' })
  })

  it('never answers private blocks, also not to their owner', async () => {
    const secret = patternBytes(300_000, 11)
    const dag = await fileDag(secret, { profile: 'unixfs-v0-2015' })
    const upload = { cid: dag.root.toString(), token, headers: { 'x-visibility': 'private' } }
    expect((await service.upload(secret, upload)).status).toBe(200)
    for (const cid of [...dag.blocks.keys(), await rawCid(secret)]) {
      expect((await get(cid)).status).toBe(404)
      expect((await get(cid, { headers: bearer(token) })).status).toBe(404)
    }
  })

  it('answers 410 for what was removed, by the name that it had, and 404 for its blocks', async () => {
    const removed = patternBytes(300_000, 13)
    const dag = await fileDag(removed, { profile: 'unixfs-v0-2015' })
    const cid = dag.root.toString()
    await service.upload(removed, { cid, token })
    expect((await get(cid)).status).toBe(200)
    await service.fetch(`/api/files/${cid}`, { method: 'DELETE', headers: bearer(token) })
    expect(problemOf(await get(cid))).toMatchObject({ status: 410, error: 'gone' })
    for (const other of [...dag.blocks.keys()].filter((block) => block !== cid)) {
      expect(problemOf(await get(other))).toMatchObject({ status: 404, error: 'not_found' })
    }
  })

  it('answers dag-cbor blocks that came in a CAR', async () => {
    const dag = await cborDag({ file: v1.root, list: [directory.root] }, new Map([...v1.blocks, ...directory.blocks]))
    const cid = dag.root.toString()
    expect((await service.upload(await carOf(dag.root, dag.blocks), { cid, headers: CAR })).status).toBe(200)
    expect((await get(cid)).bytes.equals(dag.blocks.get(cid) ?? Buffer.alloc(0))).toBe(true)
  })
})

describe('GET /ipfs/{cid} without storage', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_STORAGE: 'none' } })
  })
  afterAll(() => service.remove())

  it.each(['GET', 'HEAD'])('answers the %s by which clients find out that this is a gateway', async (method) => {
    const response = await service.fetch('/ipfs/bafkqaaa?format=raw', { method })
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '0', ''])
  })

  it('answers what an identity CID carries, and that nothing else is here', async () => {
    const inline = 'bafkqaf3imvwgy3zaneqgc3janfxgy2lomvscay3jmqfa'
    expect(await (await service.fetch(`/ipfs/${inline}?format=raw`)).text()).toBe('hello i am inlined cid\n')
    const other = await service.fetch(`/ipfs/${await rawCid(Buffer.from('x'))}?format=raw`)
    expect([other.status, ((await other.json()) as { error: string }).error]).toEqual([503, 'storage_offline'])
  })
})
