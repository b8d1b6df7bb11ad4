/**
 * Files at `/ipfs/{cid}[/{path}]`: what gateway-conformance v0.13 asks of `path-unixfs-gateway`, `path-range-gateway` and `path-raw-gateway`,
 * said in other words.
 *
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/
 */
import { hash } from 'node:crypto'
import { blake2b, blake2s } from '@noble/hashes/blake2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, exchange, headerOf } from '../caller.ts'
import { carOf, uploadCar } from '../car-files.ts'
import { importFile, PROFILES } from '../network-ids.ts'
import { expectProblem } from '../problem.ts'
import { sampleBytes, useTarget } from '../target.ts'
import { type BlockHash, folderOfHashes, rawCid, stageDag, stageFolder, symlinkFolder } from './folders.ts'

const target = useTarget()
const TEXT = 'hello application/vnd.ipld.car\n'
const BIG = sampleBytes(700_000)
const CACHED = /^public, max-age=\d+(, immutable)?$/

describe('a file of a folder', () => {
  let caller: Caller
  let root: string
  let big: string
  beforeAll(async () => {
    caller = target.anonymous()
    const files = {
      'ascii.txt': TEXT,
      'dir/big.bin': BIG,
      't.json': '{"a": 1}',
      'Portugal%2C+España=Peninsula Ibérica.txt': 'named',
    }
    const profile = PROFILES['256 KiB, raw leaves, 174 links']
    root = await stageFolder(caller, files, profile)
    big = (await importFile(BIG, profile)).root.toString()
  })

  test('is given with its tag, its path and the CIDs that lead to it', async () => {
    const answer = await caller.get(`/ipfs/${root}/ascii.txt`)
    expect([answer.status, answer.body.toString()]).toEqual([200, TEXT])
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/plain\b/),
      'content-length': '31',
      'accept-ranges': 'bytes',
      'cache-control': expect.stringMatching(CACHED),
      etag: `"${rawCid(TEXT)}"`,
      'x-ipfs-path': `/ipfs/${root}/ascii.txt`,
      'x-ipfs-roots': `${root},${rawCid(TEXT)}`,
    })
    const deep = await caller.get(`/ipfs/${root}/dir/big.bin`)
    expect(deep.body.equals(BIG)).toBe(true)
    expect(headerOf(deep, 'etag')).toBe(`"${big}"`)
    expect(headerOf(deep, 'x-ipfs-roots').split(',')).toHaveLength(3)
  })

  test('HEAD gives the headers of GET, and no body', async () => {
    for (const path of ['ascii.txt', 'dir/big.bin']) {
      const [get, head] = [
        await caller.get(`/ipfs/${root}/${path}`),
        await caller.request('HEAD', `/ipfs/${root}/${path}`),
      ]
      expect([head.status, head.body.length]).toEqual([200, 0])
      for (const name of ['content-type', 'content-length', 'etag', 'x-ipfs-path', 'x-ipfs-roots']) {
        expect(headerOf(head, name), name).toBe(headerOf(get, name))
      }
    }
  })

  test('is given at the CID of the file alone, too', async () => {
    const answer = await caller.get(`/ipfs/${big}`)
    expect([answer.status, headerOf(answer, 'etag')]).toEqual([200, `"${big}"`])
    expect(answer.body.equals(BIG)).toBe(true)
  })

  test.for([
    ['bytes=6-16', 6, 17],
    ['bytes=-3', 28, 31],
    ['bytes=28-', 28, 31],
    ['bytes=6-16,0-4', 6, 17],
  ] as const)('Range: %s gives the first range of it', async ([range, start, end]) => {
    const answer = await caller.get(`/ipfs/${root}/ascii.txt`, { Range: range })
    expect([answer.status, headerOf(answer, 'content-range')]).toEqual([206, `bytes ${start}-${end - 1}/31`])
    expect(answer.body.toString()).toBe(TEXT.slice(start, end))
  })

  test.for([
    [0, 0],
    [262_143, 262_145],
    [524_288, 699_999],
  ] as const)('bytes %i to %i of a file of many blocks', async ([first, last]) => {
    const answer = await caller.get(`/ipfs/${root}/dir/big.bin`, { Range: `bytes=${first}-${last}` })
    expect([answer.status, headerOf(answer, 'content-range')]).toEqual([206, `bytes ${first}-${last}/700000`])
    expect(answer.body.equals(BIG.subarray(first, last + 1))).toBe(true)
  })

  test('a range outside is 416', async () => {
    expectProblem(await caller.get(`/ipfs/${root}/ascii.txt`, { Range: 'bytes=31-' }), 416, 'range_not_satisfiable')
  })

  test.for([(tag: string) => tag, (tag: string) => `W/${tag}`, (tag: string) => `"x", "y", ${tag}`, () => '*'])(
    'If-None-Match %# is 304',
    async (write) => {
      const tag = `"${rawCid(TEXT)}"`
      const answer = await caller.get(`/ipfs/${root}/ascii.txt`, { 'If-None-Match': write(tag) })
      expect([answer.status, answer.body.length, headerOf(answer, 'etag')]).toEqual([304, 0, tag])
      const other = await caller.get(`/ipfs/${root}/ascii.txt`, { 'If-None-Match': `"${root}"` })
      expect(other.status).toBe(200)
    },
  )

  test('a name with percent signs in it is found where these are encoded', async () => {
    const name = 'Portugal%252C+Espa%C3%B1a=Peninsula%20Ib%C3%A9rica.txt'
    expect((await caller.get(`/ipfs/${root}/${name}`)).body.toString()).toBe('named')
  })

  test.for(['%00', 'ascii.txt%00', '..%2Fascii.txt', 'ascii.txt/x', 'dir%2Fbig.bin', 'i-do-not-exist'])(
    'the name %s leads nowhere',
    async (name) => {
      // A proxy in front refuses some of these itself.
      expectProblem(await exchange(target.directUrl, 'GET', `/ipfs/${root}/${name}`), 404, 'not_found')
    },
  )

  test('a path that leads above the root is refused, and one that does not is resolved', async () => {
    expectProblem(await caller.get(`/ipfs/${root}/../x`), 400, 'bad_request')
    expect((await caller.get(`/ipfs/${root}/dir/../ascii.txt`)).body.toString()).toBe(TEXT)
  })

  test('JSON is JSON, by its name and without one, whatever else Accept says', async () => {
    const cid = rawCid('{"a": 1}')
    for (const [path, accept] of [
      [`/ipfs/${root}/t.json`, '*/*'],
      [`/ipfs/${cid}`, '*/*'],
      [`/ipfs/${cid}`, 'application/json'],
      [`/ipfs/${cid}?format=json`, 'application/vnd.ipld.raw'],
    ] as const) {
      const answer = await caller.get(path, { Accept: accept })
      expect([answer.status, headerOf(answer, 'content-type'), answer.body.toString()]).toEqual([
        200,
        'application/json',
        '{"a": 1}',
      ])
    }
  })

  test('?filename= and ?download= say how it is saved', async () => {
    const named = await caller.get(`/ipfs/${root}/ascii.txt?filename=${encodeURIComponent('testтест.txt')}`)
    const utf8 = `filename="test____.txt"; filename*=UTF-8''test%D1%82%D0%B5%D1%81%D1%82.txt`
    expect(headerOf(named, 'content-disposition')).toBe(`inline; ${utf8}`)
    const saved = await caller.get(`/ipfs/${root}/ascii.txt?download=true`)
    expect(headerOf(saved, 'content-disposition')).toBe('attachment; filename="ascii.txt"')
  })

  test('its block is given at its path', async () => {
    for (const headers of [{ Accept: 'application/vnd.ipld.raw' }, { Accept: '*/*' }]) {
      const answer = await caller.get(
        `/ipfs/${root}/ascii.txt${headers.Accept === '*/*' ? '?format=raw' : ''}`,
        headers,
      )
      expect([answer.status, answer.body.toString()]).toEqual([200, TEXT])
      expect(answer.headers).toMatchObject({
        'content-type': 'application/vnd.ipld.raw',
        'content-disposition': expect.stringMatching(/^attachment; filename=".*\.bin"$/),
        'x-content-type-options': 'nosniff',
        'cache-control': expect.stringMatching(CACHED),
        'x-ipfs-path': `/ipfs/${root}/ascii.txt`,
        'x-ipfs-roots': expect.stringContaining(root),
      })
    }
    const ranged = await caller.get(`/ipfs/${root}/ascii.txt?format=raw`, { Range: 'bytes=6-16' })
    expect([ranged.status, headerOf(ranged, 'content-range')]).toEqual([206, 'bytes 6-16/31'])
  })
})

describe('a file that lacks a block', () => {
  test('is given as far as its blocks are there', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes(600_000)
    const { root, blocks } = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    // The root block, and all leaves but the second.
    const [first, , third] = blocks
    for (const block of [first, third, blocks.at(-1)]) {
      if (block === undefined) throw new TypeError('the file has fewer blocks')
      await caller.stage(block.bytes, { cid: block.cid.toString(), contentType: 'application/octet-stream' })
    }
    for (const [start, end] of [
      [0, 99],
      [262_100, 262_143],
      [599_000, 599_999],
    ] as const) {
      const answer = await caller.get(`/ipfs/${root}`, { Range: `bytes=${start}-${end}` })
      expect([answer.status, headerOf(answer, 'content-range')]).toEqual([206, `bytes ${start}-${end}/600000`])
      expect(answer.body.equals(bytes.subarray(start, end + 1))).toBe(true)
    }
    await expect(caller.get(`/ipfs/${root}`)).rejects.toThrow()
    expectProblem(await caller.get(`/ipfs/${root}`, { Range: 'bytes=262144-262145' }), 404, 'not_found')
  })
})

/** In the order of their names. Those that Kubo takes by default, sha1 aside, with what it takes to be told apart. */
const HASHES: readonly BlockHash[] = [
  { name: 'blake2b-384', code: 0xb230, digest: (bytes) => blake2b(bytes, { dkLen: 48 }) },
  { name: 'blake2s-256', code: 0xb260, digest: (bytes) => blake2s(bytes) },
  { name: 'dbl-sha2-256', code: 0x56, digest: (bytes) => openssl('sha256', openssl('sha256', bytes)) },
  { name: 'keccak-256', code: 0x1b, digest: (bytes) => keccak_256(bytes) },
  { name: 'sha2-512', code: 0x13, digest: (bytes) => openssl('sha512', bytes) },
  { name: 'sha3-224', code: 0x17, digest: (bytes) => openssl('sha3-224', bytes) },
]
const SHA1: BlockHash = { name: 'sha1', code: 0x11, digest: (bytes) => openssl('sha1', bytes) }
const openssl = (name: string, bytes: Uint8Array): Uint8Array => hash(name, bytes, 'buffer')

describe('blocks of other hashes', () => {
  test('are verified in a CAR, and given at their paths', async () => {
    const caller = target.anonymous()
    const dag = folderOfHashes(HASHES)
    const root = await stageDag(caller, dag)
    for (const [place, { name }] of HASHES.entries()) {
      const bytes = Buffer.from(dag.blocks[place]?.bytes ?? [])
      for (const query of ['', '?format=raw']) {
        const answer = await caller.get(`/ipfs/${root}/${name}${query}`)
        expect([answer.status, answer.body.toString()], name).toEqual([200, bytes.toString()])
      }
    }
    const tar = await caller.get(`/ipfs/${root}?format=tar`)
    expect(tar.status).toBe(200)
  })

  test.for(HASHES)('are refused with other bytes: $name', async (one) => {
    const wrong = folderOfHashes([{ ...one, digest: (bytes) => one.digest(Buffer.concat([bytes, Buffer.from('x')])) }])
    const answer = await uploadCar(target.anonymous(), wrong.root.toString(), await carOf(wrong))
    expectProblem(answer, 422, 'cid_mismatch')
  })

  test('are refused by sha1', async () => {
    const dag = folderOfHashes([SHA1])
    const answer = await uploadCar(target.anonymous(), dag.root.toString(), await carOf(dag))
    expect(expectProblem(answer, 400, 'invalid_car').detail).toContain('0x11')
  })
})

describe('a symbolic link', () => {
  test('is listed, and answers the path that it leads to', async () => {
    const caller = target.anonymous()
    const root = await stageDag(caller, symlinkFolder(`foo-${sampleBytes(6).toString('hex')}`))
    expect((await caller.get(`/ipfs/${root}/`)).body.toString()).toContain('>bar<')
    const link = await caller.get(`/ipfs/${root}/bar`)
    expect([link.status, link.body.toString()]).toEqual([200, expect.stringMatching(/^foo-[0-9a-f]{12}$/)])
  })
})

describe('what any page may ask', () => {
  test.for(['GET', 'OPTIONS'])('%s says it', async (method) => {
    const answer = await target.anonymous().request(method, '/ipfs/bafkqabtimvwgy3yk/')
    expect(answer.body.toString()).toBe(method === 'GET' ? 'hello\n' : '')
    const listOf = (name: string) => headerOf(answer, name).split(/\s*,\s*/)
    expect(headerOf(answer, 'access-control-allow-origin')).toBe('*')
    expect(listOf('access-control-allow-methods')).toEqual(expect.arrayContaining(['GET', 'HEAD', 'OPTIONS']))
    expect(listOf('access-control-allow-headers')).toEqual(
      expect.arrayContaining(['Content-Type', 'Range', 'User-Agent', 'X-Requested-With']),
    )
    expect(listOf('access-control-expose-headers')).toEqual(
      expect.arrayContaining([
        'Content-Range',
        'Content-Length',
        'X-Ipfs-Path',
        'X-Ipfs-Roots',
        'X-Chunked-Output',
        'X-Stream-Output',
      ]),
    )
  })
})

describe('what is not here', () => {
  test('is 404, and 412 for a client that asks for what is here', async () => {
    const caller = target.anonymous()
    const path = `/ipfs/${rawCid(sampleBytes())}`
    expectProblem(await caller.get(path), 404, 'not_found')
    for (const method of ['GET', 'HEAD']) {
      const answer = await caller.request(method, path, { headers: { 'Cache-Control': 'only-if-cached' } })
      expect(answer.status).toBe(412)
    }
  })

  test('records of IPNS are 400', async () => {
    const caller = target.anonymous()
    expectProblem(await caller.get('/ipfs/bafkqabtimvwgy3yk?format=ipns-record'), 400, 'bad_request')
  })
})
