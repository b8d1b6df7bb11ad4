/**
 * `/ipfs/{cid}` for single blocks: the block part of the trustless gateway specification.
 *
 * The first group says in its own words what gateway-conformance v0.13 asks of `trustless-block-gateway`, for the three
 * blocks of its fixture (ipfs/gateway-conformance 22c7644, `t0117-gateway-block.car`, MIT or Apache-2.0).
 *
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, headerOf } from './caller.ts'
import { CODEC, hexOf, legacyOf, rawCidOf } from './content-ids.ts'
import { asCidV0, blockCid, importFile, PROFILES, pieceCids, spellingsOf } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const RAW = 'application/vnd.ipld.raw'

const ROOT = {
  cid: 'bafybeie72edlprgtlwwctzljf6gkn2wnlrddqjbkxo3jomh4n7omwblxly',
  bytes: Buffer.from(
    '122d0a2401701220a082a58332416c09ff2ad5bba179ab22b4a50ea547a3bdd58e70451b1d86eb88120364697218580a020801',
    'hex',
  ),
}
const DIR = {
  cid: 'bafybeifaqksygmsbnqe76kwvxoqxtkzcwssq5jkhuo65ldtqiunr3bxlra',
  bytes: Buffer.from(
    '12330a2401551220e778bb8d3e155f62127694c1e09753012cb71aad8890846cd09a52a7dcc3d47c120961736369692e747874181f0a020801',
    'hex',
  ),
}
const TEXT = {
  cid: 'bafkreihhpc5y2pqvl5rbe5uuyhqjouybfs3rvlmisccgzue2kkt5zq6upq',
  bytes: Buffer.from('hello application/vnd.ipld.raw\n'),
}

describe('what gateway-conformance asks', () => {
  let caller: Caller
  beforeAll(async () => {
    caller = target.anonymous()
    for (const { cid, bytes } of [ROOT, DIR, TEXT]) {
      expect(await caller.stage(bytes, { cid, contentType: 'application/octet-stream' })).toMatchObject({
        verified: true,
      })
    }
  })

  test('?format=raw gives the block', async () => {
    for (const { cid, bytes } of [ROOT, DIR, TEXT]) {
      const answer = await caller.get(`/ipfs/${cid}?format=raw`)
      expect(answer.status).toBe(200)
      expect(answer.body.equals(bytes)).toBe(true)
    }
  })

  test('Accept gives the block', async () => {
    const answer = await caller.get(`/ipfs/${DIR.cid}`, { Accept: RAW })
    expect(answer.status).toBe(200)
    expect(answer.body.equals(DIR.bytes)).toBe(true)
  })

  test('Accept gives the headers of a block', async () => {
    const answer = await caller.get(`/ipfs/${TEXT.cid}`, { Accept: RAW })
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-type')).toBe(RAW)
    expect(headerOf(answer, 'content-length')).toBe('31')
    expect(headerOf(answer, 'content-disposition')).toMatch(/attachment;\s*filename=".*\.bin"/)
    expect(headerOf(answer, 'x-content-type-options')).toBe('nosniff')
    expect(answer.body.equals(TEXT.bytes)).toBe(true)
  })

  test('?filename= names the block', async () => {
    const answer = await caller.get(`/ipfs/${TEXT.cid}?filename=foobar.bin`, { Accept: RAW })
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-disposition')).toMatch(/attachment;\s*filename="foobar\.bin/)
  })

  test('the block may be cached for as long as the service says', async () => {
    const answer = await caller.get(`/ipfs/${TEXT.cid}`, { Accept: RAW })
    expect(headerOf(answer, 'etag')).not.toBe('')
    expect(headerOf(answer, 'x-ipfs-path')).toBe(`/ipfs/${TEXT.cid}`)
    expect(headerOf(answer, 'x-ipfs-roots')).toContain(TEXT.cid)
    expect(headerOf(answer, 'cache-control')).toBe('public, max-age=3600')
  })

  test.for([
    ['bytes=6-16', 6, 17],
    ['bytes=6-', 6, 31],
    ['bytes=-5', 26, 31],
    ['bytes=6-16,20-24', 6, 17],
  ] as const)('Range: %s gives the right bytes, or all of them', async ([range, start, end]) => {
    const answer = await caller.get(`/ipfs/${TEXT.cid}?format=raw`, { Range: range })
    expect([200, 206]).toContain(answer.status)
    expect(answer.body.equals(answer.status === 200 ? TEXT.bytes : TEXT.bytes.subarray(start, end))).toBe(true)
    if (answer.status === 206) expect(headerOf(answer, 'content-range')).toBe(`bytes ${start}-${end - 1}/31`)
  })
})

describe('the probe of gateways', () => {
  test.for(['GET', 'HEAD'])('%s /ipfs/bafkqaaa?format=raw is 200 and empty', async (method) => {
    const answer = await target.anonymous().request(method, '/ipfs/bafkqaaa?format=raw')
    expect([answer.status, answer.body.length, headerOf(answer, 'content-type')]).toEqual([200, 0, RAW])
  })

  test('an identity CID gives what it carries', async () => {
    const answer = await target.anonymous().get('/ipfs/bafkqaf3imvwgy3zaneqgc3janfxgy2lomvscay3jmqfa?format=raw')
    expect(answer.body.toString()).toBe('hello i am inlined cid\n')
  })
})

describe('blocks of a file', () => {
  test.for([
    ['unixfs-v0-2015', 900_000],
    ['unixfs-v1-2025', 2 * MIB + 77],
  ] as const)('%s: every block is given, though only the file was uploaded', async ([profile, sizeBytes], context) => {
    target.needsOwnServer(context, 'stages big files')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(sizeBytes)
    const { root, blocks } = await importFile(bytes, PROFILES[profile])
    await user.stage(bytes, { cid: root.toString() })
    for (const block of blocks) {
      const [whole, last] = [
        await user.get(`/ipfs/${block.cid}?format=raw`),
        await user.get(`/ipfs/${block.cid}?format=raw`, { Range: 'bytes=-1' }),
      ]
      expect([whole.status, last.status]).toEqual([200, 206])
      expect(whole.body.equals(block.bytes)).toBe(true)
      expect(last.body.equals(block.bytes.subarray(-1))).toBe(true)
    }
  })

  test('the root is given in either version and in every multibase', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    const { root, blocks } = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    await caller.stage(bytes, { cid: asCidV0(root) })
    for (const cid of [asCidV0(root), ...spellingsOf(root.toV1().bytes)]) {
      const answer = await caller.get(`/ipfs/${cid}?format=raw`)
      expect(answer.body.equals(blocks.at(-1)?.bytes ?? Buffer.alloc(0)), cid).toBe(true)
      expect(headerOf(answer, 'etag')).toBe(`"${cid}.raw"`)
    }
  })
})

describe('raw blocks', () => {
  test.for(['sha256', 'blake3', 'blake2b256'] as const)('are given by their %s', async (hash) => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    const [cid = ''] = spellingsOf(blockCid(CODEC.raw, hash, bytes))
    await caller.stage(bytes, { cid })
    const answer = await caller.get(`/ipfs/${cid}?format=raw`)
    expect(answer.body.equals(bytes)).toBe(true)
  })

  test('HEAD gives the headers of GET', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    const { cid } = await caller.stage(bytes)
    const [get, head] = [
      await caller.get(`/ipfs/${cid}?format=raw`),
      await caller.request('HEAD', `/ipfs/${cid}?format=raw`),
    ]
    expect([head.status, head.body.length]).toEqual([200, 0])
    for (const name of ['content-type', 'content-length', 'content-disposition', 'etag', 'cache-control']) {
      expect(headerOf(head, name), name).toBe(headerOf(get, name))
    }
  })

  test('If-None-Match is 304', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    const path = `/ipfs/${cid}?format=raw`
    const etag = headerOf(await caller.get(path), 'etag')
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await caller.get(path, { 'If-None-Match': tag })
      expect([answer.status, answer.body.length, headerOf(answer, 'etag')]).toEqual([304, 0, etag])
    }
    expect((await caller.get(path, { 'If-None-Match': `"${cid}"` })).status).toBe(200)
  })

  test('a page of any origin may read them, and sees the headers that it needs', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    const answer = await caller.get(`/ipfs/${cid}?format=raw`, { Origin: 'https://example.com' })
    expect(headerOf(answer, 'access-control-allow-origin')).toBe('*')
    const exposed = headerOf(answer, 'access-control-expose-headers')
      .toLowerCase()
      .split(/\s*,\s*/)
    expect(exposed).toEqual(
      expect.arrayContaining(['content-range', 'content-length', 'x-ipfs-path', 'x-ipfs-roots', 'etag']),
    )
    const preflight = await caller.request('OPTIONS', `/ipfs/${cid}`, {
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'range',
      },
    })
    expect(preflight.status).toBe(204)
    expect(headerOf(preflight, 'access-control-allow-methods')).toContain('GET')
  })

  test('Accept says where the same answer has an address of its own', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    const answer = await caller.get(`/ipfs/${cid}`, { Accept: RAW })
    expect(headerOf(answer, 'content-location')).toBe(`/ipfs/${cid}?format=raw`)
    expect(headerOf(answer, 'vary').toLowerCase()).toContain('accept')
  })
})

describe('refusals', () => {
  test('a format that there is not is 400', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    for (const format of ['block', 'RAW', '']) {
      expectProblem(await caller.get(`/ipfs/${cid}?format=${format}`), 400, 'bad_request')
    }
  })

  test('what is no CID is 400, though it names a file', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    await caller.stage(bytes)
    for (const id of [hexOf(bytes), legacyOf(bytes), 'myfile01']) {
      expectProblem(await caller.get(`/ipfs/${id}?format=raw`), 400, 'invalid_cid')
    }
  })

  test('a piece CID is 406, and says where the piece is', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    await caller.stage(bytes)
    const { v1, v2 } = pieceCids(bytes)
    for (const [cid = ''] of [spellingsOf(v1), spellingsOf(v2)]) {
      const answer = await caller.get(`/ipfs/${cid}?format=raw`)
      expect(expectProblem(answer, 406, 'not_acceptable').detail).toContain(`/piece/${cid}`)
    }
  })

  test('a path behind the CID of a raw block leads nowhere', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    expectProblem(await caller.get(`/ipfs/${cid}/a?format=raw`), 404, 'not_found')
  })

  test('a service worker is 400', async () => {
    const caller = target.anonymous()
    const { cid } = await caller.stage(sampleBytes())
    const answer = await caller.get(`/ipfs/${cid}?format=raw`, { 'Service-Worker': 'script' })
    expectProblem(answer, 400, 'bad_request')
  })

  test('what was never staged is 404, or 412 for a client that asks for what is here', async () => {
    const caller = target.anonymous()
    const path = `/ipfs/${rawCidOf(sampleBytes()).base32}?format=raw`
    const missing = await caller.get(path)
    expectProblem(missing, 404, 'not_found')
    expect(headerOf(missing, 'cache-control')).toBe('no-store')
    expectProblem(await caller.get(path, { 'Cache-Control': 'only-if-cached' }), 412, 'only_if_cached')
    const { cid } = await caller.stage(sampleBytes())
    const here = await caller.get(`/ipfs/${cid}?format=raw`, { 'Cache-Control': 'only-if-cached' })
    expect(here.status).toBe(200)
  })

  test('private files give no blocks, and removed ones none any more', async (context) => {
    const user = await target.anyUser(context)
    const [secret, doomed] = [sampleBytes(), sampleBytes()]
    const hidden = await user.stage(secret, { headers: { 'X-Visibility': 'private' } })
    expectProblem(await user.get(`/ipfs/${hidden.cid}?format=raw`), 404, 'not_found')
    const removed = await user.stage(doomed)
    await user.request('DELETE', `/api/files/${removed.cid}`)
    expectProblem(await user.get(`/ipfs/${removed.cid}?format=raw`), 410, 'gone')
  })

  test.for(['POST', 'PUT', 'DELETE'])('%s is 405', async (method) => {
    const answer = await target.anonymous().request(method, '/ipfs/bafkqaaa')
    expectProblem(answer, 405, 'method_not_allowed')
    expect(headerOf(answer, 'allow')).toBe('GET, HEAD')
  })
})
