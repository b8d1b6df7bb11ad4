import { sha256Hex } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, cborDag, directoryDag, fileDag, patternBytes, type TestDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const CAR = 'application/vnd.ipld.car'
const CHUNK = 262_144
const FILE = patternBytes(3 * CHUNK + 99)

describe('/p/{cid} of what came as a CAR', () => {
  let service: RunningService
  let token: string
  let file: TestDag
  let fileCar: Buffer
  let directory: TestDag
  let directoryCar: Buffer
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000' } })
    token = (await service.signUp()).token
    file = await fileDag(FILE, { profile: 'unixfs-v0-2015' })
    fileCar = await carOf(file.root, file.blocks)
    directory = await directoryDag({ 'a.txt': Buffer.from('a'), 'b.bin': patternBytes(2_000_000, 3) })
    directoryCar = await carOf(directory.root, directory.blocks)
    await stage(fileCar, file.root.toString())
    await stage(directoryCar, directory.root.toString())
  })
  afterAll(() => service.remove())

  const stage = async (bytes: Uint8Array, cid: string, headers: Record<string, string> = {}, as = '') => {
    const response = await service.upload(bytes, {
      cid,
      headers: { 'content-type': CAR, ...headers },
      ...(as === '' ? {} : { token: as }),
    })
    if (response.status !== 200) throw new Error(await response.text())
  }
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await service.fetch(path, init)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const v1Of = ({ root }: TestDag) => root.toV1().toString()

  describe('for a file', () => {
    it.each([(dag: TestDag) => dag.root.toString(), v1Of, (dag: TestDag) => v1Of(dag).toUpperCase()])(
      'answers the file under its root %#, as a file of that size',
      async (nameOf) => {
        const cid = nameOf(file)
        const { status, headers, bytes } = await get(`/p/${cid}`)
        expect([status, bytes.equals(FILE)]).toEqual([200, true])
        expect(Object.fromEntries(headers)).toMatchObject({
          'content-length': String(FILE.length),
          'content-type': 'application/octet-stream',
          'content-disposition': expect.stringMatching(/^attachment; filename=/),
          etag: `"${cid}"`,
          'accept-ranges': 'bytes',
          'cache-control': 'public, max-age=3600',
          'content-security-policy':
            "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
        })
        expect(headers.get('repr-digest')).toBeNull()
      },
    )

    it.each([
      [0, 0],
      [CHUNK - 1, CHUNK],
      [CHUNK, 2 * CHUNK - 1],
      [1, FILE.length - 2],
      [FILE.length - 1, FILE.length - 1],
    ])('answers the range %i to %i of it', async (first, last) => {
      const { status, headers, bytes } = await get(`/p/${file.root}`, { headers: { range: `bytes=${first}-${last}` } })
      expect([status, headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/${FILE.length}`])
      expect(bytes.equals(FILE.subarray(first, last + 1))).toBe(true)
    })

    it('answers HEAD, 304 and 416 by the size of the file', async () => {
      const head = await get(`/p/${file.root}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([
        200,
        String(FILE.length),
        0,
      ])
      const same = await get(`/p/${file.root}`, { headers: { 'if-none-match': `"${file.root}"` } })
      expect([same.status, same.bytes.length]).toEqual([304, 0])
      const outside = await get(`/p/${file.root}`, { headers: { range: `bytes=${FILE.length}-` } })
      expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${FILE.length}`])
    })

    it('answers the CAR itself under the names of its own bytes', async () => {
      const { headers, bytes } = await get(`/p/${sha256Hex(fileCar)}`)
      expect([bytes.equals(fileCar), headers.get('content-type')]).toEqual([true, CAR])
      expect(headers.get('repr-digest')).not.toBeNull()
    })

    it('answers the same with the same headers, however often, and saves under another name when asked', async () => {
      const small = patternBytes(900, 31)
      const dag = await fileDag(small, { profile: 'unixfs-v0-2015' })
      await stage(await carOf(dag.root, dag.blocks), dag.root.toString(), { 'x-filename': 'small.car' }, token)
      for (let round = 0; round < 3; round += 1) {
        const { headers, bytes } = await get(`/p/${dag.root}`)
        expect([bytes.equals(small), headers.get('content-type')]).toEqual([true, 'application/octet-stream'])
      }
      const saved = await get(`/p/${dag.root}?download=true&filename=x.bin`)
      expect(saved.headers.get('content-disposition')).toBe('attachment; filename=x.bin')
      await service.fetch(`/api/files/${dag.root}`, { method: 'DELETE', headers: bearer(token) })
      expect((await get(`/p/${dag.root}`)).status).toBe(410)
    })

    it('answers a private one to its owner, and to whoever has a share link', async () => {
      const secret = patternBytes(700_000, 41)
      const dag = await fileDag(secret)
      const cid = dag.root.toString()
      await stage(await carOf(dag.root, dag.blocks), cid, { 'x-visibility': 'private' }, token)
      expect((await get(`/p/${cid}`)).status).toBe(404)
      const own = await get(`/p/${cid}`, { headers: bearer(token) })
      expect([own.status, own.bytes.equals(secret), own.headers.get('cache-control')]).toEqual([
        200,
        true,
        'private, no-cache',
      ])
      const shared = await service.fetch(`/api/files/${cid}/share`, {
        method: 'POST',
        body: JSON.stringify({ ttlSeconds: 60 }),
        headers: { 'content-type': 'application/json', ...bearer(token) },
      })
      const { url } = (await shared.json()) as { url: string }
      const linked = await get(new URL(url).pathname + new URL(url).search, {
        headers: { range: 'bytes=600000-600009' },
      })
      expect([linked.status, linked.bytes.equals(secret.subarray(600_000, 600_010))]).toEqual([206, true])
      expect((await get(`/ipfs/${cid}?format=raw`)).status).toBe(404)
    })

    it('stays what it is when the file is staged by itself, whose bytes are the same', async () => {
      const bytes = patternBytes(600_000, 51)
      const dag = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
      await stage(await carOf(dag.root, dag.blocks), dag.root.toString())
      const before = await get(`/p/${dag.root}`)
      await stage(bytes, dag.root.toString(), { 'content-type': 'text/x-file' })
      const after = await get(`/p/${dag.root}`)
      expect(after.headers.get('content-type')).toBe(before.headers.get('content-type'))
      expect([after.bytes.equals(bytes), after.headers.get('etag')]).toEqual([true, before.headers.get('etag')])
    })
  })

  describe('for anything else', () => {
    it('answers the CAR under its root, with a tag of its own', async () => {
      const { status, headers, bytes } = await get(`/p/${directory.root}`)
      expect([status, bytes.equals(directoryCar)]).toEqual([200, true])
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': CAR,
        'content-length': String(directoryCar.length),
        etag: `"${directory.root}.${sha256Hex(directoryCar).slice(0, 16)}"`,
        'cache-control': 'public, max-age=300',
        'repr-digest': `sha-256=:${Buffer.from(sha256Hex(directoryCar), 'hex').toString('base64')}:`,
      })
      const part = await get(`/p/${directory.root}`, { headers: { range: 'bytes=10-19' } })
      expect([part.status, part.bytes.equals(directoryCar.subarray(10, 20))]).toEqual([206, true])
    })

    it('never answers another CAR of the same root under the same tag', async () => {
      const reversed = new Map([...directory.blocks].reverse())
      const dag = await cborDag({ one: directory.root }, directory.blocks)
      const other = { root: dag.root, blocks: new Map([...reversed, ...[...dag.blocks].slice(-1)]) }
      await stage(await carOf(dag.root, dag.blocks), dag.root.toString(), {}, token)
      const first = await get(`/p/${dag.root}`)
      await service.fetch(`/api/files/${dag.root}`, { method: 'DELETE', headers: bearer(token) })
      await stage(await carOf(other.root, other.blocks), dag.root.toString(), {}, token)
      const second = await get(`/p/${dag.root}`)
      expect([first.status, second.status, first.bytes.equals(second.bytes)]).toEqual([200, 200, false])
      expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'))
    })

    it('answers the root block, and not the CAR, under the names of that block', async () => {
      const dag = await cborDag({ of: directory.root, n: 1 }, directory.blocks)
      const block = Buffer.from(dag.blocks.get(dag.root.toString()) ?? [])
      const car = await carOf(dag.root, dag.blocks)
      await stage(car, dag.root.toString())
      expect((await get(`/p/${dag.root}`)).bytes.equals(car)).toBe(true)
      const raw = CID.createV1(0x55, dag.root.multihash).toString()
      for (const name of [raw, sha256Hex(block)]) {
        const { status, headers, bytes } = await get(`/p/${name}`)
        expect([status, bytes.equals(block), headers.get('etag')]).toEqual([200, true, `"${name}"`])
        expect(headers.get('content-type')).toBe('application/octet-stream')
      }
    })
  })

  it('answers the one block of a CAR under every name of its bytes', async () => {
    const bytes = patternBytes(5000, 61)
    const root = CID.createV1(0x55, await sha256.digest(bytes))
    await stage(await carOf(root, new Map([[root.toString(), bytes]])), root.toString())
    const asCbor = CID.createV1(0x71, root.multihash).toString()
    for (const name of [root.toString(), sha256Hex(bytes), asCbor]) {
      expect((await get(`/p/${name}`)).bytes.equals(bytes)).toBe(true)
    }
  })
})

describe('/p/{cid} of a root block that came by itself', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService()
  })
  afterAll(() => service.remove())

  it('answers the block, and the file once that is here, each with a tag of its own', async () => {
    const bytes = patternBytes(600_000, 71)
    const dag = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
    const cid = dag.root.toString()
    const block = Buffer.from(dag.blocks.get(cid) ?? [])
    expect((await service.upload(block, { cid })).status).toBe(200)
    const ofBlock = await service.fetch(`/p/${cid}`)
    expect(Buffer.from(await ofBlock.arrayBuffer()).equals(block)).toBe(true)
    expect((await service.upload(bytes, { cid })).status).toBe(200)
    const ofFile = await service.fetch(`/p/${cid}`)
    expect(Buffer.from(await ofFile.arrayBuffer()).equals(bytes)).toBe(true)
    expect(ofFile.headers.get('etag')).toBe(`"${cid}"`)
    expect(ofBlock.headers.get('etag')).not.toBe(ofFile.headers.get('etag'))
    expect(ofBlock.headers.get('cache-control')).toBe('public, max-age=300')
  })
})
