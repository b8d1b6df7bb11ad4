/** `/piece/{pieceCid}`: what provers pull from, and everybody who knows a file by its piece CID. */
import { downloadAndValidate, parse } from '@filoz/synapse-core/piece'
import { findPiece, ping } from '@filoz/synapse-core/sp'
import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { CAR_TYPE, carOf, stageCar } from './car-files.ts'
import { hexOf, legacyOf, rawCidOf, sha256 } from './content-ids.ts'
import { importDirectory, PROFILES, pieceCids, spellingsOf } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

const namesOfPiece = (bytes: Uint8Array) => {
  const { v1, v2 } = pieceCids(bytes)
  const [[nameV1 = ''], [nameV2 = '']] = [spellingsOf(v1), spellingsOf(v2)]
  return { v1: nameV1, v2: nameV2, all: [...spellingsOf(v1), ...spellingsOf(v2)] }
}

describe('GET /piece/{pieceCid}', () => {
  test.for([1, 127, 128, 1017, 300_000])('gives %i bytes under both piece CIDs, without padding', async (sizeBytes) => {
    const caller = target.anonymous()
    const bytes = sampleBytes(sizeBytes)
    await caller.stage(bytes, { contentType: 'application/x-piece' })
    for (const cid of namesOfPiece(bytes).all) {
      const answer = await caller.get(`/piece/${cid}`)
      expect(answer.status, cid).toBe(200)
      expect(answer.body.equals(bytes)).toBe(true)
      expect(answer.headers).toMatchObject({
        'content-type': 'application/x-piece',
        'content-length': String(sizeBytes),
        etag: `"${cid}"`,
        'accept-ranges': 'bytes',
        'cache-control': 'public, max-age=3600',
        'repr-digest': `sha-256=:${sha256(bytes).toString('base64')}:`,
        'x-content-type-options': 'nosniff',
        'content-security-policy':
          "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
        'access-control-allow-origin': '*',
      })
    }
  })

  test('HEAD gives the exact length and no body', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes(1017)
    await caller.stage(bytes)
    const { v1, v2 } = namesOfPiece(bytes)
    for (const cid of [v1, v2]) {
      const head = await caller.request('HEAD', `/piece/${cid}`)
      expect([head.status, headerOf(head, 'content-length'), head.body.length]).toEqual([200, '1017', 0])
    }
  })

  test('gives ranges, 416 outside of them, and 304', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes(1000)
    await caller.stage(bytes)
    const { v2 } = namesOfPiece(bytes)
    const part = await caller.get(`/piece/${v2}`, { Range: 'bytes=127-253' })
    expect([part.status, headerOf(part, 'content-range')]).toEqual([206, 'bytes 127-253/1000'])
    expect(part.body.equals(bytes.subarray(127, 254))).toBe(true)
    const outside = await caller.get(`/piece/${v2}`, { Range: 'bytes=1000-' })
    expectProblem(outside, 416, 'range_not_satisfiable')
    const same = await caller.get(`/piece/${v2}`, { 'If-None-Match': `"${v2}"` })
    expect([same.status, same.body.length]).toEqual([304, 0])
  })

  test('gives a CAR as it is', async () => {
    const caller = target.anonymous()
    const dag = await importDirectory({ 'a.txt': sampleBytes() }, PROFILES['unixfs-v1-2025'])
    const car = await carOf(dag)
    await stageCar(caller, dag.root.toString(), car)
    const answer = await caller.get(`/piece/${namesOfPiece(car).v2}`)
    expect(answer.body.equals(car)).toBe(true)
    expect(headerOf(answer, 'content-type')).toBe(CAR_TYPE)
  })

  test('gives a private piece to its owner only', async (context) => {
    const [owner, other] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes()
    await owner.stage(bytes, { headers: { 'X-Visibility': 'private' } })
    const path = `/piece/${namesOfPiece(bytes).v2}`
    expectProblem(await target.anonymous().get(path), 404, 'not_found')
    expectProblem(await other.get(path), 404, 'not_found')
    const own = await owner.get(path)
    expect(own.body.equals(bytes)).toBe(true)
    expect(headerOf(own, 'cache-control')).toMatch(/^private\b/)
  })

  test('what was never staged is 404, and what was removed 410', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes()
    const { v1, v2 } = namesOfPiece(bytes)
    expectProblem(await user.get(`/piece/${v2}`), 404, 'not_found')
    const { cid } = await user.stage(bytes)
    await user.request('DELETE', `/api/files/${cid}`)
    for (const piece of [v1, v2]) expectProblem(await user.get(`/piece/${piece}`), 410, 'gone')
  })

  test('what is no piece CID is 400, though it names a file', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    await caller.stage(bytes)
    for (const id of [rawCidOf(bytes).base32, hexOf(bytes), legacyOf(bytes), 'myfile01', 'short']) {
      expectProblem(await caller.get(`/piece/${id}`), 400, 'invalid_cid')
    }
  })

  test('a page of any origin may read pieces', async () => {
    const preflight = await target.anonymous().request('OPTIONS', '/piece/x', {
      headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'GET' },
    })
    expect([preflight.status, headerOf(preflight, 'access-control-allow-origin')]).toEqual([204, '*'])
  })

  test.for(['POST', 'PUT', 'DELETE'])('%s is 405', async (method) => {
    const answer = await target.anonymous().request(method, `/piece/${namesOfPiece(sampleBytes()).v2}`)
    expectProblem(answer, 405, 'method_not_allowed')
    expect(headerOf(answer, 'allow')).toBe('GET, HEAD')
  })
})

describe('the client of @filoz/synapse-core', () => {
  test('finds and downloads a public file as from any storage provider', async () => {
    const serviceURL = target.baseUrl.href
    const bytes = sampleBytes(300_000)
    const { v2 } = namesOfPiece(bytes)
    const pieceCid = parse(v2)
    await expect(findPiece({ serviceURL, pieceCid })).rejects.toThrow()
    await target.anonymous().stage(bytes)
    expect((await ping(serviceURL)).status).toBe(200)
    expect((await findPiece({ serviceURL, pieceCid })).toString()).toBe(v2)
    const url = new URL(`/piece/${v2}`, target.baseUrl).href
    expect(bytes.equals(await downloadAndValidate({ url, expectedPieceCid: v2 }))).toBe(true)
  })
})
