import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  carOf,
  cborDag,
  directoryDag,
  fileDag,
  patternBytes,
  readCar,
  type TestDag,
} from '../../../retrieval/testing-dags.ts'
import { rawRequest } from '../../../testing/running/raw-request.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const CAR_TYPE = 'application/vnd.ipld.car'
const CHUNK = 262_144
const METRICS_TOKEN = 'metrics-of-this-test'
const FILE = patternBytes(5 * CHUNK + 17)

describe('GET /ipfs/{cid}?format=car', () => {
  let service: RunningService
  let file: TestDag
  let directory: TestDag
  let sharded: TestDag
  let twice: TestDag
  let document: TestDag
  const staged = async (dag: TestDag): Promise<TestDag> => {
    const upload = { cid: dag.root.toString(), headers: { 'content-type': CAR_TYPE } }
    const { status } = await service.upload(await carOf(dag.root, dag.blocks), upload)
    if (status !== 200) throw new Error(`staging a DAG was answered with ${status}`)
    return dag
  }
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000', LADE_METRICS_TOKEN: METRICS_TOKEN } })
    file = await fileDag(FILE, { profile: 'unixfs-v0-2015' })
    expect((await service.upload(FILE, { cid: file.root.toString() })).status).toBe(200)
    const a = patternBytes(1_100_000, 2)
    directory = await staged(
      await directoryDag({ 'sub/a.bin': a, 'sub/b.txt': Buffer.from('b'), 'c.txt': a.subarray(1) }),
    )
    const many = Array.from(
      { length: 300 },
      (_, index) => [`file ${index}.txt`, Buffer.from(`content ${index}`)] as const,
    )
    sharded = await staged(await directoryDag(Object.fromEntries(many), { shardSplitThresholdBytes: 100 }))
    twice = await staged(await directoryDag({ 'one.bin': a, 'two.bin': a }))
    document = await staged(
      await cborDag({ files: [file.root, { deep: directory.root }] }, new Map([...file.blocks, ...directory.blocks])),
    )
  })
  afterAll(() => service.remove())

  const get = async (target: string, init: RequestInit = {}) => {
    const response = await service.fetch(`/ipfs/${target}`, init)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const carAt = async (target: string, init?: RequestInit) => {
    const { status, headers, bytes } = await get(target, init)
    if (status !== 200) throw new Error(`${target} was answered with ${status}: ${bytes}`)
    return { headers, ...(await readCar(bytes)) }
  }
  const problemAt = async (target: string, init?: RequestInit) => {
    const { status, bytes } = await get(target, init)
    return { status, ...(JSON.parse(bytes.toString()) as { error: string; detail: string }) }
  }

  it.each([
    ['a file', () => file],
    ['a directory', () => directory],
    ['a sharded directory', () => sharded],
    ['a dag-cbor document', () => document],
  ])('gives every block of %s, once, the root first', async (_title, dag) => {
    const { roots, cids } = await carAt(`${dag().root}?format=car`)
    expect(roots).toEqual([dag().root.toString()])
    expect(cids[0]).toBe(dag().root.toString())
    expect([...cids].sort()).toEqual([...dag().blocks.keys()].sort())
  })

  it('gives the blocks of a file in the order of its bytes', async () => {
    const { cids } = await carAt(`${file.root}?format=car`)
    expect(cids).toEqual([file.root.toString(), ...[...file.blocks.keys()].slice(0, -1)])
  })

  it('answers with the headers of the gateway specification', async () => {
    const cid = directory.root.toString()
    const { headers } = await carAt(`${cid}?format=car`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': `${CAR_TYPE}; version=1; order=dfs; dups=n`,
      'content-disposition': `attachment; filename="${cid}.car"`,
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(`^W/"${cid}\\.car\\.[0-9a-f]{16}"$`),
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'none',
      'x-ipfs-path': `/ipfs/${cid}`,
      'x-ipfs-roots': cid,
      vary: 'Accept',
      'access-control-allow-origin': '*',
    })
    expect(headers.get('content-length')).toBeNull()
  })

  it('answers HEAD with the head alone', async () => {
    const get200 = await carAt(`${directory.root}/sub?format=car`)
    const head = await get(`${directory.root}/sub?format=car`, { method: 'HEAD' })
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    for (const name of [
      'content-type',
      'content-disposition',
      'etag',
      'x-ipfs-path',
      'accept-ranges',
      'cache-control',
    ]) {
      expect(head.headers.get(name), name).toBe(get200.headers.get(name))
    }
  })

  it('takes the form and its parameters from Accept, and says what address gives the same', async () => {
    const headers = { accept: `${CAR_TYPE}; version=1; order=dfs; dups=y` }
    const answer = await carAt(`${twice.root}?dag-scope=entity`, { headers })
    expect(answer.headers.get('content-type')).toBe(`${CAR_TYPE}; version=1; order=dfs; dups=y`)
    const location = answer.headers.get('content-location')
    expect(location).toBe(`/ipfs/${twice.root}?dag-scope=entity&format=car&car-version=1&car-order=dfs&car-dups=y`)
    const again = await service.fetch(location ?? '')
    expect(again.headers.get('etag')).toBe(answer.headers.get('etag'))
    expect(again.headers.get('content-location')).toBeNull()
    await again.arrayBuffer()
    expect((await carAt(`${twice.root}?format=car`, { headers })).headers.get('content-type')).toContain('dups=y')
  })

  it('gives a block as often as it is linked to with dups=y, and once with dups=n', async () => {
    const once = await carAt(`${twice.root}?format=car&car-dups=n`)
    const often = await carAt(`${twice.root}?format=car&car-dups=y`)
    expect(new Set(once.cids).size).toBe(once.cids.length)
    expect(new Set(often.cids)).toEqual(new Set(once.cids))
    // The directory, and its one file twice.
    expect(often.cids.length).toBe(1 + 2 * (once.cids.length - 1))
  })

  it.each([
    ['block', 1],
    ['entity', 1],
    ['all', 9],
  ])('gives of a directory with dag-scope=%s %i blocks', async (scope, count) => {
    expect((await carAt(`${directory.root}?format=car&dag-scope=${scope}`)).cids).toHaveLength(count)
  })

  it('gives of a sharded directory with dag-scope=entity all shards and no file', async () => {
    const shards = [...sharded.blocks].filter(([cid]) => CID.parse(cid).code === 0x70).map(([cid]) => cid)
    expect(shards.length).toBeGreaterThan(1)
    const { cids } = await carAt(`${sharded.root}?format=car&dag-scope=entity`)
    expect([...cids].sort()).toEqual(shards.sort())
  })

  const LEAVES = 6
  it.each([
    ['0:*', [0, 1, 2, 3, 4, 5]],
    ['0:0', [0]],
    [`${CHUNK}:${2 * CHUNK - 1}`, [1]],
    [`${CHUNK - 1}:${CHUNK}`, [0, 1]],
    ['-5:*', [5]],
    ['-17:*', [5]],
    ['-18:*', [4, 5]],
    [`${4 * CHUNK}:-18`, [4]],
    ['-99999999:10', [0]],
    ['99999999:*', []],
    ['5:4', []],
  ])('gives of a file with entity-bytes=%s the root and leaves %j', async (range, leaves) => {
    const leafCids = [...file.blocks.keys()].slice(0, LEAVES)
    const { cids } = await carAt(`${file.root}?format=car&entity-bytes=${range}`)
    expect(cids).toEqual([file.root.toString(), ...leaves.map((leaf) => leafCids[leaf])])
  })

  it('varies its tag with whatever changes the answer', async () => {
    const variants = [
      '',
      '&dag-scope=block',
      '&dag-scope=entity',
      '&entity-bytes=0:5',
      '&entity-bytes=0:6',
      '&car-dups=y',
    ]
    const paths = [file.root.toString(), document.root.toString(), `${document.root}/files/0`]
    const tags = await Promise.all(
      paths.flatMap((path) => variants.map((variant) => get(`${path}?format=car${variant}`, { method: 'HEAD' }))),
    )
    expect(new Set(tags.map(({ headers }) => headers.get('etag'))).size).toBe(tags.length)
  })

  it('answers 304 to If-None-Match, compared weakly', async () => {
    const etag = (await get(`${file.root}?format=car`, { method: 'HEAD' })).headers.get('etag') ?? ''
    for (const header of [etag, etag.replace('W/', ''), `"x", ${etag}`]) {
      const { status, headers } = await get(`${file.root}?format=car`, { headers: { 'if-none-match': header } })
      expect([status, headers.get('etag')]).toEqual([304, etag])
    }
    const other = await get(`${file.root}?format=car&car-dups=y`, { headers: { 'if-none-match': etag } })
    expect(other.status).toBe(200)
  })

  it('answers no ranges', async () => {
    const whole = await get(`${file.root}?format=car`)
    const ranged = await get(`${file.root}?format=car`, { headers: { range: 'bytes=0-4' } })
    expect([ranged.status, ranged.bytes.equals(whole.bytes)]).toEqual([200, true])
  })

  it('follows a path, and gives the blocks that prove it first', async () => {
    const sub = await carAt(`${directory.root}/sub/a.bin?format=car&dag-scope=block`)
    expect(sub.cids).toHaveLength(3)
    expect(sub.cids[0]).toBe(directory.root.toString())
    expect(sub.roots).toEqual([sub.cids[2]])
    expect(sub.headers.get('x-ipfs-path')).toBe(`/ipfs/${directory.root}/sub/a.bin`)
    const whole = await carAt(`${directory.root}/sub?format=car`)
    expect(whole.cids.slice(0, 2)).toEqual(sub.cids.slice(0, 2))
    const [inDocument] = (await carAt(`${document.root}/files/1/deep/sub/b.txt?format=car`)).cids
    expect(inDocument).toBe(document.root.toString())
  })

  it('follows names through the shards of a directory', async () => {
    for (const index of [0, 77, 299]) {
      const { cids, blocks } = await carAt(`${sharded.root}/file%20${index}.txt?format=car`)
      expect(cids[0]).toBe(sharded.root.toString())
      expect(cids.length).toBeLessThan(6)
      expect(Buffer.from(blocks.at(-1) ?? []).toString()).toBe(`content ${index}`)
    }
  })

  it.each(['sub/nothing', 'nothing/a.bin', 'c.txt/inside', 'SUB', '__proto__'])(
    'error: the path %s that leads nowhere is 404',
    async (path) => {
      expect(await problemAt(`${directory.root}/${path}?format=car`)).toMatchObject({ status: 404, error: 'not_found' })
    },
  )

  it('gives the probe of an empty identity CID a CAR without blocks', async () => {
    const { roots, cids } = await carAt('bafkqaaa?format=car')
    expect([roots, cids]).toEqual([['bafkqaaa'], []])
  })

  it.each([
    'dag-scope=x',
    'entity-bytes=x',
    'car-version=2',
    'car-order=x',
    'car-dups=x',
    'dag-scope=all&entity-bytes=0:1',
  ])('error: %s is 400', async (query) => {
    expect(await problemAt(`${file.root}?format=car&${query}`)).toMatchObject({ status: 400, error: 'bad_request' })
  })

  it('error: what nobody staged is 404 before a byte is sent, or 412 to a client that asks so', async () => {
    const absent = 'bafybeie72edlprgtlwwctzljf6gkn2wnlrddqjbkxo3jomh4n7omwblxly'
    expect(await problemAt(`${absent}?format=car`)).toMatchObject({ status: 404, error: 'not_found' })
    expect(await problemAt(`${absent}/a/b?format=car`)).toMatchObject({ status: 404, error: 'not_found' })
    const headers = { 'cache-control': 'only-if-cached' }
    expect(await problemAt(`${absent}?format=car`, { headers })).toMatchObject({ status: 412, error: 'only_if_cached' })
  })

  it('error: bytes that are no block of their codec, and those too big for one, are 406', async () => {
    const text = Buffer.from('this is no dag-pb')
    const garbage = CID.createV1(0x70, await sha256.digest(text)).toString()
    expect((await service.upload(text, { cid: garbage })).status).toBe(200)
    expect(await problemAt(`${garbage}?format=car`)).toMatchObject({ status: 406, error: 'not_acceptable' })
    expect((await carAt(`${garbage}?format=car&dag-scope=block`)).cids).toEqual([garbage])

    const bytes = patternBytes(MAX_BLOCK_BYTES + 1)
    const big = CID.createV1(0x55, await sha256.digest(bytes)).toString()
    expect((await service.upload(bytes, { cid: big })).status).toBe(200)
    expect(await problemAt(`${big}?format=car`)).toMatchObject({ status: 406, error: 'not_acceptable' })
  })

  /** A block of dag-cbor that is a list of empty identity CIDs. */
  const blockOfLinks = (count: number): Buffer => {
    const bytes = Buffer.alloc(5 + 8 * count)
    bytes.writeUInt8(0x9a)
    bytes.writeUInt32BE(count, 1)
    for (let at = 5; at < bytes.length; at += 8) bytes.set([0xd8, 0x2a, 0x45, 0, 1, 0x55, 0, 0], at)
    return bytes
  }

  it('error: a block of more links than one in a CAR may have is 406, and given as it is', async () => {
    const bytes = blockOfLinks(260_000)
    const root = CID.createV1(0x71, await sha256.digest(bytes)).toString()
    expect((await service.upload(bytes, { cid: root })).status).toBe(200)
    const problem = await problemAt(`${root}?format=car`)
    expect(problem).toMatchObject({ status: 406, error: 'not_acceptable' })
    expect(problem.detail).toMatch('too many links')
    expect((await get(`${root}?format=raw`)).status).toBe(200)
  })

  describe('of a block of 65,536 links to blocks that are in them', () => {
    const bytes = blockOfLinks(65_536)
    let block: TestDag
    beforeAll(async () => {
      const root = CID.createV1(0x71, await sha256.digest(bytes))
      block = { root, blocks: new Map([[root.toString(), bytes]]) }
      expect((await service.upload(bytes, { cid: root.toString() })).status).toBe(200)
    })

    it('answers many at once, at the price of reading it once', async () => {
      const asked = Array.from({ length: 10 }, () => get(`${block.root}?format=car&car-dups=y`, { method: 'HEAD' }))
      for (const { status } of await Promise.all(asked)) expect(status).toBe(200)
      const first = await spentOnLinksMs()
      for (let round = 0; round < 10; round += 1) await get(`${block.root}?format=car`, { method: 'HEAD' })
      // Only finding and checking the block is charged again.
      expect((await spentOnLinksMs()) - first).toBeLessThan(first / 2)
      expect((await carAt(`${block.root}?format=car`)).cids).toEqual([block.root.toString()])
    })

    it('cuts the connection at 2^20 links, also when they come again', async () => {
      const often = await cborDag(
        Array.from({ length: 17 }, () => block.root),
        block.blocks,
      )
      await staged(often)
      expect((await carAt(`${often.root}?format=car`)).cids).toHaveLength(2)
      await expect(get(`${often.root}?format=car&car-dups=y`)).rejects.toThrow()
      await vi.waitFor(() => {
        const line = service.logged().findLast(({ path }) => path === `/ipfs/${often.root}`)
        expect(line).toMatchObject({ complete: false, stoppedAt: expect.stringMatching('more than 1048576 links') })
      })
    })

    const spentOnLinksMs = async (): Promise<number> => {
      const metrics = await (await service.fetch('/metrics', { headers: bearer(METRICS_TOKEN) })).text()
      return 1000 * Number(/^lade_work_seconds_total\{work="links"\} (\S+)$/m.exec(metrics)?.[1] ?? 0)
    }
  })

  describe('of which a block is missing', () => {
    let root: string
    beforeAll(async () => {
      const dag = await fileDag(patternBytes(3_000_000, 77))
      root = dag.root.toString()
      // The root by itself, without the leaves that it links to.
      expect((await service.upload(dag.blocks.get(root) ?? Buffer.alloc(0), { cid: root })).status).toBe(200)
    })

    it('gives what can be given without it', async () => {
      expect((await carAt(`${root}?format=car&dag-scope=block`)).cids).toEqual([root])
      expect((await carAt(`${root}?format=car&entity-bytes=9999999:*`)).cids).toEqual([root])
    })

    it('cuts the connection where it would be, and never ends in an orderly way', async () => {
      await expect(get(`${root}?format=car`)).rejects.toThrow()
      const sent = await rawRequest(service.url, `GET /ipfs/${root}?format=car HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      expect(sent).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(sent).not.toMatch(/\r\n0\r\n\r\n$/)
      // The header and the root block were sent.
      expect(sent.length).toBeGreaterThan(200)
      await vi.waitFor(() => {
        const line = service.logged().findLast(({ path }) => path === `/ipfs/${root}`)
        expect(line).toMatchObject({
          complete: false,
          stoppedAt: expect.stringMatching(/^The block bafkrei\w+ is not stored here/),
        })
      })
      expect(service.logged().filter(({ msg }) => msg === 'failed')).toEqual([])
    })

    it('is 404 when the missing block is the first', async () => {
      const dag = await cborDag({ gone: CID.parse('bafkreihhpc5y2pqvl5rbe5uuyhqjouybfs3rvlmisccgzue2kkt5zq6upq') })
      const cid = dag.root.toString()
      expect((await service.upload(dag.blocks.get(cid) ?? Buffer.alloc(0), { cid })).status).toBe(200)
      expect(await problemAt(`${cid}/gone?format=car`)).toMatchObject({ status: 404, error: 'not_found' })
      await expect(get(`${cid}?format=car`)).rejects.toThrow()
    })
  })
})
