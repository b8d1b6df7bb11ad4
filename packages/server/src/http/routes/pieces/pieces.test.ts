import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, fileDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

/** Vector 20 of the published ones: `hello world`, 11 bytes. */
const HELLO = {
  bytes: Buffer.from('hello world'),
  v1: 'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
  v2: 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
}
/** Vector 16: 1017 bytes of 0xcc. */
const CC = {
  bytes: Buffer.alloc(1017, 0xcc),
  v1: 'baga6ea4seaqf3n5ob5qonkwnxfcbjzftsagbnrjfzualqvzhcylz46b7sgz6wmi',
  v2: 'bafkzcibd64dqmxnxvyhwbzvkzw4uifhewoiayfwfexgqbocxe4lbphtyh6i3h2zr',
}
const ABSENT = 'bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'

interface Result {
  readonly items: readonly Record<string, unknown>[]
  readonly missing: readonly string[]
}

describe('pieces', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    await service.upload(HELLO.bytes, { headers: { 'content-type': 'text/x-hello', 'x-filename': 'hello.txt' } })
    await service.upload(CC.bytes, { cid: CC.v2 })
  })
  afterAll(() => service.remove())

  const get = async (path: string, init: RequestInit = {}) => {
    const response = await service.fetch(path, init)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const problemAt = async (path: string, init?: RequestInit) => {
    const { status, bytes } = await get(path, init)
    return { status, ...(JSON.parse(bytes.toString()) as { error: string; detail: string }) }
  }

  describe('GET /piece/{pieceCid}', () => {
    it.each([HELLO.v1, HELLO.v2, HELLO.v2.toUpperCase()])('answers the bytes of %s, without padding', async (cid) => {
      const { status, headers, bytes } = await get(`/piece/${cid}`)
      expect([status, bytes.equals(HELLO.bytes)]).toEqual([200, true])
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-length': '11',
        'content-type': 'text/x-hello',
        'content-disposition': 'attachment; filename=hello.txt',
        etag: `"${cid}"`,
        'accept-ranges': 'bytes',
        'cache-control': 'public, max-age=3600',
        'repr-digest': `sha-256=:${Buffer.from(sha256Hex(HELLO.bytes), 'hex').toString('base64')}:`,
        'content-security-policy':
          "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
        'access-control-allow-origin': '*',
      })
    })

    it('answers the same again from memory, until the file is gone', async () => {
      const bytes = patternBytes(500)
      const { pieceCid } = (await (await service.upload(bytes, { token })).json()) as { pieceCid: string }
      for (let round = 0; round < 3; round += 1)
        expect((await get(`/piece/${pieceCid}`)).bytes.equals(bytes)).toBe(true)
      await service.fetch(`/api/files/${sha256Hex(bytes)}`, { method: 'DELETE', headers: bearer(token) })
      expect(await problemAt(`/piece/${pieceCid}`)).toMatchObject({ status: 410, error: 'gone' })
    })

    it('answers HEAD, ranges and 304 like a file', async () => {
      const head = await get(`/piece/${CC.v1}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '1017', 0])
      const part = await get(`/piece/${CC.v1}`, { headers: { range: 'bytes=-17' } })
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1016/1017'])
      expect((await get(`/piece/${CC.v2}`, { headers: { 'if-none-match': `"${CC.v2}"` } })).status).toBe(304)
      expect((await problemAt(`/piece/${CC.v2}`, { headers: { range: 'bytes=1017-' } })).status).toBe(416)
    })

    it('gives a CAR as it is, not what is in it', async () => {
      const directory = await directoryDag({ 'a.txt': Buffer.from('a') })
      const file = await fileDag(patternBytes(300_000), { profile: 'unixfs-v0-2015' })
      for (const dag of [directory, file]) {
        const car = await carOf(dag.root, dag.blocks)
        const headers = { 'content-type': 'application/vnd.ipld.car' }
        const { pieceCid } = (await (await service.upload(car, { cid: dag.root.toString(), headers })).json()) as {
          pieceCid: string
        }
        const { bytes } = await get(`/piece/${pieceCid}`)
        expect(bytes.equals(car)).toBe(true)
      }
    })

    it('gives private pieces to their owner only', async () => {
      const secret = patternBytes(600, 9)
      const upload = { token, headers: { 'x-visibility': 'private' } }
      const { pieceCid } = (await (await service.upload(secret, upload)).json()) as { pieceCid: string }
      expect(await problemAt(`/piece/${pieceCid}`)).toMatchObject({ status: 404, error: 'not_found' })
      const own = await get(`/piece/${pieceCid}`, { headers: bearer(token) })
      expect([own.bytes.equals(secret), own.headers.get('cache-control')]).toEqual([true, 'private, no-cache'])
      const other = (await service.signUp('eve@example.org')).token
      expect(await problemAt(`/piece/${pieceCid}`, { headers: bearer(other) })).toMatchObject({ status: 404 })
    })

    it.each([
      ['a raw CID', 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'],
      ['a digest', sha256Hex(HELLO.bytes)],
      ['an opaque id', 'myfile0001'],
      ['no id', ''],
      ['a piece CID with a path behind it', `${HELLO.v2}/x`],
      ['a damaged piece CID', HELLO.v2.slice(0, -1)],
    ])('error: %s is invalid_cid', async (_title, text) => {
      expect(await problemAt(`/piece/${text}`)).toMatchObject({ status: 400, error: 'invalid_cid' })
    })

    it('error: what nobody staged is 404, and other methods are 405', async () => {
      expect(await problemAt(`/piece/${ABSENT}`)).toMatchObject({ status: 404, error: 'not_found' })
      const posted = await get(`/piece/${ABSENT}`, { method: 'POST' })
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    })
  })

  describe('/api/piece-cids', () => {
    const byQuery = async (cids: readonly string[], headers = bearer(token)) => {
      const query = cids.map((cid) => `cid=${encodeURIComponent(cid)}`).join('&')
      const response = await service.fetch(`/api/piece-cids?${query}`, { headers })
      return { status: response.status, body: (await response.json()) as Result & { error?: string; detail?: string } }
    }
    const byBody = async (body: unknown, headers = bearer(token)) => {
      const response = await service.fetch('/api/piece-cids', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      })
      return { status: response.status, body: (await response.json()) as Result & { error?: string; detail?: string } }
    }
    const helloItem = (cid: string) => ({
      cid,
      pieceCid: HELLO.v2,
      pieceCidV1: HELLO.v1,
      rawSize: 11,
      paddedSize: 128,
      height: 2,
      aggregate: null,
    })

    it('answers the pieces by any name of the bytes, in the order asked', async () => {
      const names = [
        sha256Hex(HELLO.bytes),
        'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq',
        'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
        HELLO.v1,
        HELLO.v2,
      ]
      for (const ask of [byQuery, (cids: readonly string[]) => byBody({ cids })]) {
        const { status, body } = await ask([CC.v1, ...names, ABSENT, CC.v2])
        expect(status).toBe(200)
        expect(body.missing).toEqual([ABSENT])
        expect(body.items.map(({ cid }) => cid)).toEqual([CC.v1, ...names, CC.v2])
        expect(body.items[0]).toEqual({
          cid: CC.v1,
          pieceCid: CC.v2,
          pieceCidV1: CC.v1,
          rawSize: 1017,
          paddedSize: 2048,
          height: 6,
          aggregate: null,
        })
        for (const name of names) expect(body.items).toContainEqual(helloItem(name))
      }
    })

    it('answers each cid as often as it is asked for', async () => {
      const { body } = await byQuery([HELLO.v2, ABSENT, HELLO.v2, ABSENT])
      expect(body).toEqual({ items: [helloItem(HELLO.v2), helloItem(HELLO.v2)], missing: [ABSENT, ABSENT] })
    })

    it('answers private files to their owner, and nobody else', async () => {
      const secret = patternBytes(700, 21)
      await service.upload(secret, { token, headers: { 'x-visibility': 'private' } })
      const cid = sha256Hex(secret)
      expect((await byQuery([cid])).body.items).toHaveLength(1)
      const other = (await service.signUp('mallory@example.org')).token
      expect((await byQuery([cid], bearer(other))).body).toEqual({ items: [], missing: [cid] })
    })

    it('takes as many as it says, and one more is bad_request', async () => {
      const longest = 'f'.padEnd(79, '0')
      const cids = (count: number) => Array.from({ length: count }, () => longest.slice(0, 80))
      expect((await byQuery(Array.from({ length: 100 }, () => HELLO.v2))).body.items).toHaveLength(100)
      expect(await byQuery(cids(101))).toMatchObject({ status: 400, body: { error: 'bad_request' } })
      const thousand = await byBody({ cids: Array.from({ length: 1000 }, () => HELLO.v2.toUpperCase()) })
      expect(thousand.body.items).toHaveLength(1000)
      expect(await byBody({ cids: cids(1001) })).toMatchObject({ status: 400, body: { error: 'bad_request' } })
    })

    it('reads a body of a thousand of the longest cids, which other endpoints refuse', async () => {
      const cids = Array.from({ length: 1000 }, (_, index) => `opaque${String(index).padStart(74, '0')}`)
      expect(JSON.stringify({ cids }).length).toBeGreaterThan(65_536)
      expect((await byBody({ cids })).body.missing).toEqual(cids)
      const body = JSON.stringify({ cids: Array.from({ length: 2000 }, () => cids[0]) })
      const headers = { 'content-type': 'application/json', ...bearer(token) }
      expect(await problemAt('/api/piece-cids', { method: 'POST', body, headers })).toMatchObject({
        status: 413,
        error: 'too_large',
        limit: 131_072,
      })
      expect(
        await problemAt('/api/tokens/revoke', { method: 'POST', body: ' '.repeat(70_000), headers }),
      ).toMatchObject({
        status: 413,
        limit: 65_536,
      })
    })

    it('error: a cid that is none is invalid_cid, and is named', async () => {
      for (const answer of [await byQuery([HELLO.v2, 'short', 'x']), await byBody({ cids: [HELLO.v2, 'short'] })]) {
        expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_cid' } })
        expect(answer.body.detail).toContain('"short"')
      }
    })

    it.each([[{}], [{ cids: 'x' }], [{ cids: [1] }], [[]]])('error: the body %j is bad_request', async (body) => {
      expect(await byBody(body)).toMatchObject({ status: 400, body: { error: 'bad_request' } })
    })

    it('error: no cid at all is bad_request', async () => {
      expect(await byBody({ cids: [] })).toMatchObject({ status: 400, body: { error: 'bad_request' } })
      expect(await problemAt('/api/piece-cids', { headers: bearer(token) })).toMatchObject({
        status: 400,
        error: 'bad_request',
      })
    })

    it('error: a token with the list scope is needed, also where its parameter stands twice', async () => {
      expect(await byQuery([HELLO.v2], {})).toMatchObject({ status: 401, body: { error: 'no_token' } })
      expect(await byBody({ cids: [HELLO.v2] }, {})).toMatchObject({ status: 401 })
      const putOnly = await service.fetch('/api/auth/signup', {
        method: 'POST',
        body: JSON.stringify({ email: 'put@example.org', label: 'x', scopes: ['put'] }),
        headers: { 'content-type': 'application/json' },
      })
      const narrow = ((await putOnly.json()) as { token: string }).token
      expect(await byQuery([HELLO.v2], bearer(narrow))).toMatchObject({ status: 403 })
      const twice = `/api/piece-cids?cid=${HELLO.v2}&token=${token}&token=${token}`
      expect(await problemAt(twice)).toMatchObject({ status: 400, error: 'bad_request' })
      const once = await get(`/api/piece-cids?cid=${HELLO.v2}&cid=${CC.v2}&token=${token}`)
      expect([once.status, once.headers.get('deprecation')]).toEqual([200, expect.stringMatching(/^@/)])
    })
  })
})
