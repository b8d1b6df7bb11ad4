/**
 * Data of other codecs at `/ipfs/{cid}[/{path}]`: what gateway-conformance v0.13 asks of `path-dag-gateway`, said in other words. Nothing is
 * converted from one codec to another.
 *
 * @see https://specs.ipfs.tech/ipips/ipip-0524/
 */
import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, headerOf } from '../caller.ts'
import { blockOf } from '../car-files.ts'
import { CODEC } from '../content-ids.ts'
import type { Block } from '../network-ids.ts'
import { expectProblem } from '../problem.ts'
import { sampleBytes, useTarget } from '../target.ts'
import { rawCid, stageDag, stageFolder } from './folders.ts'

const target = useTarget()
const BROWSER = { Accept: 'text/html,*/*;q=0.8' }
const PLAIN = { json: 0x0200, cbor: 0x51 } as const
const DAG = {
  json: { codec: CODEC.dagJson, encode: dagJson.encode },
  cbor: { codec: CODEC.dagCbor, encode: dagCbor.encode },
} as const
type Kind = keyof typeof DAG
const KINDS: readonly Kind[] = ['json', 'cbor']
const DISPOSITION = { json: 'inline', cbor: 'attachment' } as const
const RANGES = [
  ['bytes=1-5', 1, 6],
  ['bytes=-4', undefined, undefined],
  ['bytes=2-4,0-1', 2, 5],
] as const

describe.for(KINDS)('a block of plain %s', (kind) => {
  let caller: Caller
  let block: Block
  let cid: string
  beforeAll(async () => {
    caller = target.anonymous()
    const value = { random: sampleBytes(8).toString('hex') }
    const bytes = kind === 'json' ? Buffer.from(JSON.stringify(value)) : dagCbor.encode(value)
    block = blockOf(PLAIN[kind], 'sha256', bytes)
    cid = await stageDag(caller, { root: block.cid, blocks: [block] })
  })

  test.for(['none', 'query', 'accept'])('is given as it is, whether asked for by %s', async (how) => {
    const path = `/ipfs/${cid}${how === 'query' ? `?format=${kind}` : ''}`
    const headers: Record<string, string> = how === 'accept' ? { Accept: `application/${kind}` } : {}
    const answer = await caller.get(path, headers)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(block.bytes)).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-type': `application/${kind}`,
      'content-disposition': `${DISPOSITION[kind]}; filename="${cid}.${kind}"`,
    })
    for (const [range, start, end] of RANGES) {
      const part = await caller.get(path, { ...headers, Range: range })
      expect([part.status, headerOf(part, 'content-type')]).toEqual([206, `application/${kind}`])
      const expected = start === undefined ? block.bytes.subarray(-4) : block.bytes.subarray(start, end)
      expect(part.body.equals(expected)).toBe(true)
    }
  })

  test('is nothing else', async () => {
    for (const format of ['dag-json', 'dag-cbor', 'tar', kind === 'json' ? 'cbor' : 'json']) {
      expectProblem(await caller.get(`/ipfs/${cid}?format=${format}`), 406, 'not_acceptable')
    }
  })
})

describe.for(KINDS)('a DAG of dag-%s', (kind) => {
  const type = `application/vnd.ipld.dag-${kind}`
  let caller: Caller
  let root: string
  let rootBytes: Uint8Array
  let end: Block
  beforeAll(async () => {
    caller = target.anonymous()
    const { codec, encode } = DAG[kind]
    end = blockOf(codec, 'sha256', encode({ hello: `this is not a link ${sampleBytes(6).toString('hex')}` }))
    const middle = blockOf(codec, 'sha256', encode({ bar: end.cid }))
    rootBytes = encode({ foo: { link: middle.cid } })
    const block = blockOf(codec, 'sha256', rootBytes)
    root = await stageDag(caller, { root: block.cid, blocks: [end, middle, block] })
  })

  test.for([
    ['', '*/*', type],
    [`?format=dag-${kind}`, '*/*', type],
    ['', type, type],
    [`?format=${kind}`, '*/*', `application/${kind}`],
    ['', `application/${kind}`, `application/${kind}`],
    ['', '*/*', type],
  ] as const)('is given as it is: %s, Accept %s', async ([query, accept, expected]) => {
    const path = `/ipfs/${root}${query}`
    const answer = await caller.get(path, { Accept: accept })
    expect([answer.status, headerOf(answer, 'content-type')]).toEqual([200, expected])
    expect(answer.body.equals(rootBytes)).toBe(true)
    for (const [range, start, to] of RANGES) {
      const part = await caller.get(path, { Accept: accept, Range: range })
      expect([part.status, headerOf(part, 'content-type')]).toEqual([206, expected])
      const wanted = start === undefined ? rootBytes.subarray(-4) : rootBytes.subarray(start, to)
      expect(part.body.equals(wanted)).toBe(true)
    }
    const head = await caller.request('HEAD', path, { headers: { Accept: accept } })
    expect([head.status, headerOf(head, 'content-length')]).toEqual([200, String(rootBytes.length)])
  })

  test('has the headers of its format', async () => {
    const answer = await caller.get(`/ipfs/${root}`, { Accept: type })
    expect(answer.headers).toMatchObject({
      'content-length': String(rootBytes.length),
      'content-disposition': `${DISPOSITION[kind]}; filename="${root}.${kind}"`,
      etag: `"${root}.dag-${kind}"`,
      'cache-control': expect.stringMatching(/^public, max-age=/),
      'x-ipfs-path': `/ipfs/${root}`,
      'x-ipfs-roots': root,
      'content-location': `/ipfs/${root}?format=dag-${kind}`,
    })
    const named = await caller.get(`/ipfs/${root}?filename=foobar.${kind}`, { Accept: type })
    expect(headerOf(named, 'content-disposition')).toBe(`${DISPOSITION[kind]}; filename="foobar.${kind}"`)
    const saved = await caller.get(`/ipfs/${root}?filename=foobar.${kind}&download=true`, { Accept: type })
    expect(headerOf(saved, 'content-disposition')).toBe(`attachment; filename="foobar.${kind}"`)
  })

  test('is converted to no other format', async () => {
    const other = kind === 'json' ? 'cbor' : 'json'
    for (const format of [`dag-${other}`, other, 'tar']) {
      expectProblem(await caller.get(`/ipfs/${root}?format=${format}`), 406, 'not_acceptable')
    }
    const answer = await caller.get(`/ipfs/${root}`, { Accept: `application/vnd.ipld.dag-${other}` })
    expectProblem(answer, 406, 'not_acceptable')
  })

  test('is followed through its links, and to no value inside of a block', async () => {
    const answer = await caller.get(`/ipfs/${root}/foo/link/bar?format=dag-${kind}`)
    expect(answer.body.equals(end.bytes)).toBe(true)
    expectProblem(await caller.get(`/ipfs/${root}/foo?format=dag-${kind}`), 501, 'not_implemented')
    expectProblem(await caller.get(`/ipfs/${root}/foo/i-do-not-exist`), 404, 'not_found')
  })

  test('is a page for a browser, which can save it', async () => {
    const answer = await caller.get(`/ipfs/${root}/`, BROWSER)
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-type')).toMatch(/^text\/html\b/)
    expect(headerOf(answer, 'etag')).toContain('DagIndex-')
    expect(answer.headers).not.toHaveProperty('content-disposition')
    expect(answer.headers).not.toHaveProperty('cache-control')
    expect(answer.body.toString()).toContain(`href="/ipfs/${root}?format=dag-${kind}&amp;download=true"`)
    expect(answer.body.toString()).toContain('</html>')
  })
})

describe('UnixFS', () => {
  test('is converted to no codec of data', async () => {
    const caller = target.anonymous()
    const root = await stageFolder(caller, { 'a.txt': 'no JSON' })
    for (const format of ['dag-json', 'dag-cbor', 'cbor', 'json']) {
      expectProblem(await caller.get(`/ipfs/${root}/a.txt?format=${format}`), 406, 'not_acceptable')
      expectProblem(await caller.get(`/ipfs/${rawCid('no JSON')}?format=${format}`), 406, 'not_acceptable')
    }
    for (const format of ['dag-json', 'dag-cbor', 'cbor']) {
      expectProblem(await caller.get(`/ipfs/${root}/?format=${format}`), 406, 'not_acceptable')
    }
    const accept = { Accept: 'application/vnd.ipld.dag-json' }
    expectProblem(await caller.get(`/ipfs/${root}/a.txt`, accept), 406, 'not_acceptable')
  })
})
