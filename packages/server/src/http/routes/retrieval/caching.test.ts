import { sha256Hex } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const BYTES = Buffer.from('kept by caches for a while')
const WEEK_SECONDS = 7 * 86_400

describe('Cache-Control of public content', () => {
  let service: RunningService
  afterEach(() => service.remove())

  const cachingAt = async (path: string, init?: RequestInit) => {
    const response = await service.fetch(path, init)
    await response.arrayBuffer()
    return [response.status, response.headers.get('cache-control')]
  }
  const pathsOf = async () => {
    const cid = CID.createV1(0x55, await sha256.digest(BYTES)).toString()
    return [`/p/${sha256Hex(BYTES)}`, `/p/${cid}`, `/ipfs/${cid}?format=raw`, `/ipfs/${cid}?format=car`]
  }

  it('ends with the term of the file, and says immutable where nothing is ever taken back', async () => {
    service = await runService({ env: { LADE_CACHE_SECONDS: '31536000' } })
    await service.upload(BYTES)
    for (const path of [...(await pathsOf()), ...(await pathsOf())]) {
      const [status, caching] = await cachingAt(path)
      const [, seconds] = /^public, max-age=(\d+), immutable$/.exec(String(caching)) ?? []
      expect(status, path).toBe(200)
      expect(WEEK_SECONDS - Number(seconds), path).toBeGreaterThanOrEqual(0)
      expect(WEEK_SECONDS - Number(seconds), path).toBeLessThan(60)
    }
  })

  it('is as long as the operator says, in every answer', async () => {
    service = await runService({ env: { LADE_CACHE_SECONDS: '90' } })
    await service.upload(BYTES)
    const paths = await pathsOf()
    for (const path of paths) expect(await cachingAt(path), path).toEqual([200, 'public, max-age=90'])
    const [path = ''] = paths
    const range = { headers: { range: 'bytes=0-1' } }
    const known = { headers: { 'if-none-match': '*' } }
    expect(await cachingAt(path, range)).toEqual([206, 'public, max-age=90'])
    expect(await cachingAt(path, known)).toEqual([304, 'public, max-age=90'])
    expect(await cachingAt(path, { method: 'HEAD' })).toEqual([200, 'public, max-age=90'])
  })

  it('keeps what the owner of a public file sees from everybody else', async () => {
    service = await runService()
    const { token } = await service.signUp()
    await service.upload(BYTES, { headers: { 'content-type': 'text/x-sponsored' } })
    await service.upload(BYTES, { token, headers: { 'content-type': 'text/x-first' } })
    const other = (await service.signUp('eve@example.org')).token
    await service.upload(BYTES, { token: other, headers: { 'content-type': 'text/x-other' } })
    const path = `/p/${sha256Hex(BYTES)}`
    for (let round = 0; round < 2; round += 1) {
      const own = await service.fetch(path, { headers: bearer(other) })
      expect([own.headers.get('content-type'), own.headers.get('cache-control'), own.headers.get('vary')]).toEqual([
        'text/x-other',
        'private, max-age=3600',
        'Authorization',
      ])
      expect((await service.fetch(path)).headers.get('content-type')).toBe('text/x-first')
    }
  })
})
