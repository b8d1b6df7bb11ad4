/**
 * `/ipfs/{cid}[/{path}]?format=car`: the CAR part of the trustless gateway specification, read with `@ipld/car`.
 *
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/#car-responses-application-vnd-ipld-car
 */
import { CarBufferReader } from '@ipld/car'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, headerOf } from './caller.ts'
import { CAR_TYPE, carOf, cborTree, stageCar } from './car-files.ts'
import { hexOf } from './content-ids.ts'
import { BLOCK_HASH, type Dag, importDirectory, importFile, PROFILES } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const CHUNK = 262_144

interface ReadCar {
  readonly roots: readonly string[]
  readonly cids: readonly string[]
}

/** What a CAR has in it, each block checked against its CID. */
function readCar(bytes: Buffer): ReadCar {
  const reader = CarBufferReader.fromBytes(bytes)
  const blocks = reader.blocks()
  for (const { cid, bytes: block } of blocks) {
    const hash = Object.values(BLOCK_HASH).find(({ code }) => code === cid.multihash.code)
    expect(Buffer.from(hash?.digest(block) ?? []).equals(cid.multihash.digest), `${cid}`).toBe(true)
  }
  return { roots: reader.getRoots().map(String), cids: blocks.map(({ cid }) => cid.toString()) }
}

async function carAt(caller: Caller, path: string, headers?: Record<string, string>) {
  const answer = await caller.get(path, headers)
  expect(answer.status, answer.body.toString('latin1').slice(0, 300)).toBe(200)
  return { answer, ...readCar(answer.body) }
}

const cidsOf = ({ blocks }: Dag): string[] => blocks.map(({ cid }) => cid.toString())

describe('a directory that came as a CAR', () => {
  let caller: Caller
  let dag: Dag
  let root: string
  beforeAll(async () => {
    caller = target.anonymous()
    const text = sampleBytes()
    const files = {
      'sub/a.txt': text,
      'sub/copy.txt': text,
      'sub/big.bin': sampleBytes(600_000),
      'b.txt': sampleBytes(),
    }
    dag = await importDirectory(files, PROFILES['256 KiB, raw leaves, 174 links'])
    root = dag.root.toString()
    await stageCar(caller, root, await carOf(dag))
  })

  test('comes back whole: every block once, the root first', async () => {
    const { answer, roots, cids } = await carAt(caller, `/ipfs/${root}?format=car`)
    expect(roots).toEqual([root])
    expect(cids[0]).toBe(root)
    expect([...cids].sort()).toEqual([...new Set(cidsOf(dag))].sort())
    expect(answer.headers).toMatchObject({
      'content-type': `${CAR_TYPE}; version=1; order=dfs; dups=n`,
      'content-disposition': `attachment; filename="${root}.car"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'none',
      'x-ipfs-path': `/ipfs/${root}`,
      'x-ipfs-roots': root,
      'access-control-allow-origin': '*',
      etag: expect.stringMatching(/^W\/"/),
    })
  })

  test('comes back under Accept as well, with the parameters that it names', async () => {
    const { answer, cids } = await carAt(caller, `/ipfs/${root}`, {
      Accept: `${CAR_TYPE}; version=1; order=dfs; dups=y`,
    })
    expect(headerOf(answer, 'content-type')).toBe(`${CAR_TYPE}; version=1; order=dfs; dups=y`)
    expect(headerOf(answer, 'content-location')).toContain('format=car')
    // The two names of one file.
    expect(cids.length - new Set(cids).size).toBe(1)
    const again = await carAt(caller, headerOf(answer, 'content-location'))
    expect(again.answer.body.equals(answer.body)).toBe(true)
    const unknownOrder = await carAt(caller, `/ipfs/${root}`, { Accept: `${CAR_TYPE}; order=unk` })
    expect(headerOf(unknownOrder.answer, 'content-type')).toContain('order=')
  })

  test('a path gives the blocks that prove it, then what it leads to', async () => {
    const { cids } = await carAt(caller, `/ipfs/${root}/sub/a.txt?format=car`)
    expect(cids).toHaveLength(3)
    expect(cids[0]).toBe(root)
    const directory = await carAt(caller, `/ipfs/${root}/sub?format=car&dag-scope=entity`)
    expect(directory.cids).toEqual(cids.slice(0, 2))
    const everything = await carAt(caller, `/ipfs/${root}/sub?format=car`)
    expect(everything.cids.length).toBeGreaterThan(5)
    expect(everything.answer.headers['x-ipfs-path']).toBe(`/ipfs/${root}/sub`)
  })

  test.for(['nothing', 'sub/nothing', 'b.txt/inside'])('the path %s that leads nowhere is 404', async (path) => {
    expectProblem(await caller.get(`/ipfs/${root}/${path}?format=car`), 404, 'not_found')
  })

  test('dag-scope bounds what is given', async () => {
    for (const scope of ['block', 'entity']) {
      expect((await carAt(caller, `/ipfs/${root}?format=car&dag-scope=${scope}`)).cids).toEqual([root])
    }
    const all = await carAt(caller, `/ipfs/${root}?format=car&dag-scope=all`)
    expect(all.cids).toHaveLength(new Set(cidsOf(dag)).size)
  })

  test('every variant has a tag of its own, which If-None-Match may name', async () => {
    const variants = ['', '&dag-scope=block', '&dag-scope=entity', '&entity-bytes=0:9', '&car-dups=y']
    const tags: string[] = []
    for (const variant of variants) {
      const path = `/ipfs/${root}?format=car${variant}`
      const head = await caller.request('HEAD', path)
      expect([head.status, head.body.length]).toEqual([200, 0])
      tags.push(headerOf(head, 'etag'))
      const same = await caller.get(path, { 'If-None-Match': headerOf(head, 'etag') })
      expect([same.status, same.body.length]).toEqual([304, 0])
    }
    expect(new Set(tags).size).toBe(variants.length)
  })

  test.for([
    'dag-scope=everything',
    'entity-bytes=5',
    'entity-bytes=a:b',
    'car-version=2',
    'car-order=random',
    'car-dups=maybe',
  ])('%s is 400', async (query) => {
    expectProblem(await caller.get(`/ipfs/${root}?format=car&${query}`), 400, 'bad_request')
  })

  test('a CAR of another version is 406', async () => {
    const answer = await caller.get(`/ipfs/${root}`, { Accept: `${CAR_TYPE}; version=2` })
    expectProblem(answer, 406, 'not_acceptable')
  })
})

describe('a sharded directory', () => {
  test('gives its shards as an entity, and one of its files by name', async () => {
    const caller = target.anonymous()
    const names = Array.from({ length: 200 }, (_, index) => `entry ${index}.txt`)
    const files = Object.fromEntries(names.map((name) => [name, sampleBytes(20)]))
    const dag = await importDirectory(files, { ...PROFILES['unixfs-v1-2025'], shardSplitThresholdBytes: 50 })
    await stageCar(caller, dag.root.toString(), await carOf(dag))
    const shards = cidsOf(dag).filter((cid) => cid.startsWith('bafybei'))
    expect(shards.length).toBeGreaterThan(1)
    const entity = await carAt(caller, `/ipfs/${dag.root}?format=car&dag-scope=entity`)
    expect([...entity.cids].sort()).toEqual(shards.sort())
    const one = await carAt(caller, `/ipfs/${dag.root}/entry%20123.txt?format=car`)
    expect(one.cids[0]).toBe(dag.root.toString())
    expect(one.cids.length).toBeLessThan(5)
  })
})

describe('a file', () => {
  let caller: Caller
  let dag: Dag
  let path: string
  beforeAll(async () => {
    caller = target.anonymous()
    const bytes = sampleBytes(2 * CHUNK + 1000)
    dag = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    path = `/ipfs/${dag.root}?format=car`
    await caller.stage(bytes, { cid: dag.root.toString() })
  })

  test('that was uploaded as bytes comes back as a DAG', async () => {
    const [root, ...leaves] = [...cidsOf(dag)].reverse()
    expect((await carAt(caller, path)).cids).toEqual([root, ...leaves.reverse()])
  })

  test.for([
    ['0:*', [0, 1, 2]],
    ['0:0', [0]],
    [`${CHUNK}:${2 * CHUNK - 1}`, [1]],
    [`${CHUNK - 1}:${CHUNK}`, [0, 1]],
    ['-1000:*', [2]],
    ['-1001:*', [1, 2]],
    [`0:-${CHUNK + 1001}`, [0]],
    ['-99999999:5', [0]],
    ['99999999:*', []],
  ] as const)('entity-bytes=%s gives the root and no leaf but %j', async ([range, leaves]) => {
    const [root, ...rest] = [...cidsOf(dag)].reverse()
    const inOrder = rest.reverse()
    const { cids } = await carAt(caller, `${path}&entity-bytes=${range}`)
    expect(cids).toEqual([root, ...leaves.map((leaf) => inOrder[leaf])])
  })

  test('ranges of the CAR are not given', async () => {
    const [whole, ranged] = [await caller.get(path), await caller.get(path, { Range: 'bytes=0-9' })]
    expect(ranged.status).toBe(200)
    expect(ranged.body.equals(whole.body)).toBe(true)
  })
})

describe('a tree of dag-cbor', () => {
  test('comes back whole, blocks of all its hashes among it, and its inline blocks not', async () => {
    const caller = target.anonymous()
    const dag = cborTree()
    await stageCar(caller, dag.root.toString(), await carOf(dag))
    const { cids } = await carAt(caller, `/ipfs/${dag.root}?format=car`)
    expect([...cids].sort()).toEqual([...cidsOf(dag)].sort())
    const inner = await carAt(caller, `/ipfs/${dag.root}/inner/0/of/1?format=car`)
    expect(inner.cids).toHaveLength(3)
  })
})

describe('what cannot be given whole', () => {
  test('the probe gives a CAR without blocks', async () => {
    const { roots, cids } = await carAt(target.anonymous(), '/ipfs/bafkqaaa?format=car')
    expect([roots, cids]).toEqual([['bafkqaaa'], []])
  })

  test('a missing root is 404 before any byte', async () => {
    const caller = target.anonymous()
    const { root } = await importFile(sampleBytes(300_000), PROFILES['unixfs-v0-2015'])
    expectProblem(await caller.get(`/ipfs/${root}?format=car`), 404, 'not_found')
    const probe = await caller.get(`/ipfs/${root}?format=car`, { 'Cache-Control': 'only-if-cached' })
    expectProblem(probe, 412, 'only_if_cached')
  })

  test('a block that is missing further on cuts the connection', async () => {
    const caller = target.anonymous()
    const { root, blocks } = await importFile(sampleBytes(600_000), PROFILES['unixfs-v0-2015'])
    const rootBytes = blocks.at(-1)?.bytes ?? Buffer.alloc(0)
    await caller.stage(rootBytes, { cid: root.toString() })
    await expect(caller.get(`/ipfs/${root}?format=car`)).rejects.toThrow()
    expect((await carAt(caller, `/ipfs/${root}?format=car&dag-scope=block`)).cids).toEqual([root.toString()])
  })

  test('private DAGs are not given, also not to their owner', async (context) => {
    const user = await target.anyUser(context)
    const dag = await importDirectory({ 'a.txt': sampleBytes() }, PROFILES['unixfs-v1-2025'])
    const car = await carOf(dag)
    const upload = { cid: dag.root.toString(), contentType: CAR_TYPE, headers: { 'X-Visibility': 'private' } }
    expect((await user.stage(car, upload)).sha256).toBe(hexOf(car))
    expectProblem(await user.get(`/ipfs/${dag.root}?format=car`), 404, 'not_found')
  })
})
