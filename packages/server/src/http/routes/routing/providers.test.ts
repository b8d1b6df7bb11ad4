import { sha256Hex } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

interface Providers {
  readonly Providers: readonly { Schema: string; ID: string; Addrs: string[]; Protocols: string[] }[]
}

const PROTOCOL = 'transport-ipfs-gateway-http'
const FILE = Buffer.from('named by its router')

function rawCid(bytes: Uint8Array): string {
  return CID.createV1(0x55, createDigest(0x12, Buffer.from(sha256Hex(bytes), 'hex'))).toString()
}

describe('/routing/v1/providers/{cid}', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    await stage(FILE)
  })
  afterAll(() => service.remove())

  const ask = (cid: string, query = '', headers: Record<string, string> = {}) =>
    service.fetch(`/routing/v1/providers/${cid}${query}`, { headers })
  const named = async (cid: string, query = '') => ((await (await ask(cid, query)).json()) as Providers).Providers
  const stage = async (bytes: Uint8Array, headers: Record<string, string> = {}, cid = rawCid(bytes)) => {
    expect((await service.upload(bytes, { cid, headers })).status).toBe(200)
  }

  it('names this service for a block that its gateway answers', async () => {
    const response = await ask(rawCid(FILE))
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('access-control-allow-origin'),
    ]).toEqual([200, expect.stringMatching(/^application\/json/), '*'])
    expect([response.headers.get('cache-control'), response.headers.get('vary')]).toEqual([
      'public, max-age=60',
      'Accept',
    ])
    const [record, ...others] = ((await response.json()) as Providers).Providers
    expect(others).toEqual([])
    expect(record).toEqual({
      Schema: 'peer',
      // The identity multihash of an Ed25519 key, in base58.
      ID: expect.stringMatching(/^12D3KooW[1-9A-HJ-NP-Za-km-z]{44}$/),
      Addrs: [`/ip4/127.0.0.1/tcp/${new URL(service.url).port}/http`],
      Protocols: [PROTOCOL],
    })
    expect((await service.fetch(`/ipfs/${rawCid(FILE)}?format=raw`)).status).toBe(200)
  })

  it('names it for every block of a directory, under CIDs of both versions', async () => {
    const { root, blocks } = await directoryDag({ 'a.txt': Buffer.from('a'), 'b.bin': patternBytes(600_000) })
    await stage(await carOf(root, blocks), { 'content-type': 'application/vnd.ipld.car' }, root.toString())
    for (const [cid] of blocks) expect(await named(cid)).toHaveLength(1)
    expect(await named(root.toV1().toString())).toHaveLength(1)
  })

  it.each([
    ['application/x-ndjson', true],
    ['application/x-ndjson, application/json;q=0.5', true],
    ['application/x-ndjson;q=0.5, application/json', false],
    ['*/*', false],
  ])('answers lines to Accept: %s: %s', async (accept, isLines) => {
    const response = await ask(rawCid(FILE), '', { accept })
    const text = await response.text()
    expect(response.headers.get('content-type')?.split(';')[0]).toBe(
      isLines ? 'application/x-ndjson' : 'application/json',
    )
    if (isLines) expect(text).toMatch(/^\{"Schema":"peer",[^\n]*\}\n$/)
    else expect(JSON.parse(text)).toHaveProperty('Providers')
    const nobody = await ask(rawCid(Buffer.from('not here')), '', { accept })
    expect(await nobody.text()).toBe(isLines ? '' : '{"Providers":[]}')
  })

  it('names nobody for what is absent, private or removed', async () => {
    const absent = await ask(rawCid(Buffer.from('absent')))
    expect([absent.status, await absent.json()]).toEqual([200, { Providers: [] }])
    expect(absent.headers.get('cache-control')).toBe('public, max-age=15')

    const secret = Buffer.from('a private file')
    await stage(secret, { 'x-visibility': 'private', ...bearer(token) })
    expect(await named(rawCid(secret))).toEqual([])

    const brief = Buffer.from('a file that is removed')
    await stage(brief, bearer(token))
    expect(await named(rawCid(brief))).toHaveLength(1)
    expect((await service.fetch(`/api/files/${rawCid(brief)}`, { method: 'DELETE', headers: bearer(token) })).ok).toBe(
      true,
    )
    expect(await named(rawCid(brief))).toEqual([])
  })

  it('names nobody for a CID that carries its block', async () => {
    expect(await named('bafkqaaa')).toEqual([])
  })

  it.each<[string, number]>([
    ['?filter-protocols=transport-ipfs-gateway-http', 1],
    ['?filter-protocols=transport-bitswap,Transport-IPFS-Gateway-HTTP', 1],
    ['?filter-protocols=transport-bitswap', 0],
    ['?filter-protocols=unknown', 0],
    ['?filter-addrs=http', 1],
    ['?filter-addrs=https', 0],
    ['?filter-addrs=!tcp', 0],
    ['?filter-addrs=&filter-protocols=', 1],
    ['?filter-addrs=http&filter-protocols=transport-bitswap', 0],
  ])('honours %s', async (query, count) => {
    expect(await named(rawCid(FILE), query)).toHaveLength(count)
  })

  it.each(['a'.repeat(64), 'short', 'myfile01'])('error: %s is no CID', async (text) => {
    const response = await ask(text)
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, 'invalid_cid'])
  })

  it('keeps its peer id across starts', async () => {
    const [before] = await named(rawCid(FILE))
    const { dataDir } = service
    await service.close()
    const again = await runService({ dataDir })
    try {
      const response = await again.fetch(`/routing/v1/providers/${rawCid(FILE)}`)
      const [after] = ((await response.json()) as Providers).Providers
      expect(after?.ID).toBe(before?.ID)
    } finally {
      await again.close()
    }
  })
})
