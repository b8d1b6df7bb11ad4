import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../create-client.ts'
import { LIMITS } from '../limits.ts'
import type { Download, GetProgress, LadeClientOptions } from '../options.ts'
import { FAKE_TOKEN, type FakeService, type Fault, refuse, startFakeService } from '../testing/fake-service.ts'
import { unixfsV0Cid, unixfsV1Cid } from '../testing/importer.ts'
import { noise } from '../testing/noise.ts'

const MIB = 1_048_576

let service: FakeService
beforeEach(async () => {
  service = await startFakeService()
})
afterEach(() => service.close())

const clientOf = (options: LadeClientOptions = {}) =>
  createClient({ url: service.url, token: FAKE_TOKEN, retry: { baseDelayMs: 1, maxDelayMs: 4 }, ...options }, LIMITS)

/** Stages bytes under the CID that IPFS tools print, and answers it. */
async function stage(bytes: Uint8Array): Promise<string> {
  const cid = await unixfsV1Cid(bytes)
  service.stage(bytes, cid)
  return cid
}

/** What of a body can be read, and what it ends by. */
async function readAll({ body }: Download): Promise<{ readonly bytes: Uint8Array; readonly error: unknown }> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body) chunks.push(chunk)
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error }
  }
  return { bytes: Buffer.concat(chunks), error: undefined }
}

/** A fault: so many bytes of the answer, and then the connection is cut. */
function cutAfter(bytes: Uint8Array, cid: string, sentBytes: number): Fault {
  return (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length, etag: `"${cid}"` })
    response.write(bytes.subarray(0, sentBytes), () => response.destroy())
  }
}

describe('get', () => {
  const bytes = noise(3 * MIB + 5)

  it('gives a file back in any of three ways, and says that it was checked', async () => {
    const cid = await stage(bytes)
    const client = clientOf()
    const download = await client.get(cid)
    expect(download).toMatchObject({ cid, sizeBytes: bytes.length, verified: true, filename: undefined })
    const streamed = await readAll(download)
    expect(streamed.error).toBeUndefined()
    const whole = await (await client.get(cid)).bytes()
    const blob = await (await client.get(cid)).blob()
    for (const found of [streamed.bytes, whole, await blob.bytes()]) expect(Buffer.compare(found, bytes)).toBe(0)
    expect(blob.type).toBe('application/octet-stream')
  })

  it('fetches nothing of the body before it is read, and no more of it once it is cancelled', async () => {
    const cid = await stage(bytes)
    const { body } = await clientOf().get(cid)
    const reader = body.getReader()
    await reader.read()
    await reader.cancel()
    expect(service.count('GET /p/')).toBe(1)
  })

  it('reports bytes that only grow, up to the whole', async () => {
    const cid = await stage(bytes)
    const progress: GetProgress[] = []
    await (await clientOf().get(cid, { onProgress: (report) => progress.push(report) })).bytes()
    const received = progress.map(({ receivedBytes }) => receivedBytes)
    expect(received).toEqual(received.toSorted((a, b) => a - b))
    expect(progress.at(-1)).toEqual({ sizeBytes: bytes.length, receivedBytes: bytes.length })
  })

  it('gives a range without checking it, and a range that is the whole with', async () => {
    const cid = await stage(bytes)
    const cases: [number | undefined, number | undefined, boolean][] = [
      [5, 9, false],
      [bytes.length - 1, undefined, false],
      [undefined, 9, false],
      [3, bytes.length + 100, false],
      [0, bytes.length - 1, true],
      [0, bytes.length + 100, true],
    ]
    for (const [from, to, verified] of cases) {
      const download = await clientOf().get(cid, { from, to })
      expect(download).toMatchObject({ sizeBytes: bytes.length, verified })
      expect(Buffer.compare(await download.bytes(), bytes.subarray(from ?? 0, (to ?? bytes.length) + 1))).toBe(0)
    }
  })

  it('refuses ranges that are none, and one that lies outside', async () => {
    const cid = await stage(bytes)
    const wrong = [
      { from: -1 },
      { from: 0.5 },
      { from: 2, to: 1 },
      { to: Number.NaN },
      { have: new Blob(['a']), to: 3 },
    ]
    for (const options of wrong) await expect(clientOf().get(cid, options)).rejects.toThrow(TypeError)
    expect(service.seen).toEqual([])
    await expect(clientOf().get(cid, { from: bytes.length })).rejects.toMatchObject({
      code: 'range_not_satisfiable',
      evidence: { size: bytes.length },
    })
  })

  it('asks nobody for what is no id, and passes on what the service says of one', async () => {
    await expect(clientOf().get('?')).rejects.toMatchObject({ code: 'invalid_cid' })
    expect(service.seen).toEqual([])
    await expect(clientOf().get('myfile01')).rejects.toMatchObject({ code: 'not_found', requestId: 'r-1' })
    service.failOnce('GET /p/', refuse(410, 'gone', { reason: 'removed' }))
    await expect(clientOf().get('myfile01')).rejects.toMatchObject({ code: 'gone', evidence: { reason: 'removed' } })
  })

  it('cannot check an opaque id, and says so', async () => {
    service.stage(bytes, 'myfile01')
    const download = await clientOf().get('myfile01')
    expect(download.verified).toBe(false)
    expect(Buffer.compare(await download.bytes(), bytes)).toBe(0)
  })
})

describe('get of bytes that are not those of the id', () => {
  it.each([1, 1000, 200_000, 3 * MIB])(
    'ends by cid_mismatch and holds the last of %i bytes back',
    async (sizeBytes) => {
      const bytes = noise(sizeBytes)
      for (const idOf of [unixfsV1Cid, unixfsV0Cid]) {
        const cid = await idOf(bytes)
        const altered = bytes.slice()
        altered.fill((altered.at(-1) ?? 0) ^ 1, -1)
        service.stage(altered, cid)
        const download = await clientOf().get(cid)
        expect(download.verified).toBe(true)
        const read = await readAll(download)
        expect(read.error).toMatchObject({ code: 'cid_mismatch', evidence: { expected: cid } })
        expect(read.bytes.length).toBeLessThan(sizeBytes)
        expect(Buffer.compare(read.bytes, bytes.subarray(0, read.bytes.length))).toBe(0)
        for (const way of ['bytes', 'blob'] as const) {
          await expect((await clientOf().get(cid))[way]()).rejects.toMatchObject({ code: 'cid_mismatch' })
        }
      }
    },
  )

  it('gives them when it is told not to check', async () => {
    const cid = await unixfsV1Cid(noise(10))
    service.stage(noise(10, 2), cid)
    const download = await clientOf().get(cid, { verify: false })
    expect(download.verified).toBe(false)
    expect(Buffer.compare(await download.bytes(), noise(10, 2))).toBe(0)
  })
})

describe('get over a connection that breaks', () => {
  const bytes = noise(3 * MIB + 5)

  it('goes on where it was, and checks the whole', async () => {
    const cid = await stage(bytes)
    for (const sentBytes of [0, 1, 70_000, 2 * MIB]) service.failOnce('GET /p/', cutAfter(bytes, cid, sentBytes))
    const download = await clientOf().get(cid)
    const { bytes: found, error } = await readAll(download)
    expect(error).toBeUndefined()
    expect(Buffer.compare(found, bytes)).toBe(0)
    const resumed = service.seen.filter(({ headers }) => headers.range !== undefined)
    expect(resumed.length).toBeGreaterThan(0)
    for (const { headers } of resumed) expect(headers['if-range']).toBe(`"${cid}"`)
  })

  it('goes on where it was when the service has cut it off for reading too slowly', async () => {
    const cid = await stage(bytes)
    service.failOnce('GET /p/', (request, response) => {
      response.writeHead(200, { 'content-length': bytes.length, etag: `"${cid}"` })
      response.write(bytes.subarray(0, 2 * MIB), () => request.socket.resetAndDestroy())
    })
    const { bytes: found, error } = await readAll(await clientOf().get(cid))
    expect(error).toBeUndefined()
    expect(Buffer.compare(found, bytes)).toBe(0)
    expect(service.count('GET /p/')).toBe(2)
  })

  it('goes on in a range', async () => {
    const cid = await stage(bytes)
    service.failOnce('GET /p/', (_, response) => {
      const head = {
        'content-range': `bytes 10-2000009/${bytes.length}`,
        'content-length': 2_000_000,
        etag: `"${cid}"`,
      }
      response.writeHead(206, head)
      response.write(bytes.subarray(10, 70_000), () => response.destroy())
    })
    const download = await clientOf().get(cid, { from: 10, to: 2_000_009 })
    expect(Buffer.compare(await download.bytes(), bytes.subarray(10, 2_000_010))).toBe(0)
  })

  it('has its whole budget again for every byte that comes', async () => {
    const cid = await stage(bytes)
    const steps = 30
    for (let step = 1; step < steps; step += 1) {
      service.failOnce('GET /p/', (request, response) => {
        const from = Number(/=(\d+)-/.exec(request.headers.range ?? '=0-')?.[1])
        const isRange = request.headers.range !== undefined
        response.writeHead(isRange ? 206 : 200, {
          'content-length': bytes.length - from,
          etag: `"${cid}"`,
          ...(isRange ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
        })
        response.write(bytes.subarray(from, from + 20_000), () => setTimeout(() => response.destroy(), 5))
      })
    }
    const download = await clientOf({ retry: { attempts: 2, baseDelayMs: 1 } }).get(cid)
    expect(Buffer.compare(await download.bytes(), bytes)).toBe(0)
    expect(service.count('GET /p/')).toBeGreaterThan(steps / 2)
  })

  it('gives up when nothing more comes within the budget', async () => {
    const cid = await stage(bytes)
    service.failOnce('GET /p/', cutAfter(bytes, cid, 70_000))
    service.failAlways('GET /p/', (request) => void request.socket.destroy())
    const download = await clientOf({ retry: { attempts: 3, baseDelayMs: 1 } }).get(cid)
    const { bytes: found, error } = await readAll(download)
    expect(error).toMatchObject({ code: 'unreachable' })
    expect(found.length).toBeLessThanOrEqual(70_000)
    expect(service.count('GET /p/')).toBe(3)
  })

  it('does not put together two files: where the validator is another one, it ends', async () => {
    const cid = await stage(bytes)
    service.failOnce('GET /p/', cutAfter(bytes, 'other', 70_000))
    const { error } = await readAll(await clientOf().get(cid))
    expect(error).toMatchObject({ code: 'unexpected_answer' })
  })

  it('skips what it has when the whole comes again', async () => {
    const cid = await stage(bytes)
    service.failOnce('GET /p/', cutAfter(bytes, cid, 70_000))
    service.failOnce('GET /p/', cutAfter(bytes, cid, bytes.length))
    expect(Buffer.compare(await (await clientOf().get(cid)).bytes(), bytes)).toBe(0)
  })

  it('ends by the reason of the signal', async () => {
    const cid = await stage(bytes)
    const controller = new AbortController()
    const download = await clientOf().get(cid, { signal: controller.signal })
    const reader = download.body.getReader()
    await reader.read()
    controller.abort(new RangeError('enough'))
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await expect(rest()).rejects.toThrow(new RangeError('enough'))
  })
})

describe('get of the rest of a file', () => {
  const bytes = noise(3 * MIB + 5)
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it.each([1, 100_000, bytes.length - 1, bytes.length])(
    'fetches what is after %i bytes, and checks the whole',
    async (haveBytes) => {
      const cid = await stage(bytes)
      const path = join(folder, 'begun')
      await writeFile(path, bytes.subarray(0, haveBytes))
      for (const have of [new Blob([bytes.subarray(0, haveBytes)]), await openAsBlob(path)]) {
        const progress: GetProgress[] = []
        const download = await clientOf().get(cid, { have, onProgress: (report) => progress.push(report) })
        expect(download).toMatchObject({ verified: true, sizeBytes: bytes.length })
        expect(Buffer.compare(await download.bytes(), bytes.subarray(haveBytes))).toBe(0)
        if (haveBytes < bytes.length) expect(progress.at(-1)?.receivedBytes).toBe(bytes.length)
      }
    },
  )

  it('finds out that what is there is of another file', async () => {
    const cid = await stage(bytes)
    const download = await clientOf().get(cid, { have: new Blob([noise(1000, 2)]) })
    expect((await readAll(download)).error).toMatchObject({ code: 'cid_mismatch' })
    const whole = await clientOf().get(cid, { have: new Blob([noise(bytes.length, 2)]) })
    expect((await readAll(whole)).error).toMatchObject({ code: 'cid_mismatch' })
  })

  it('refuses more than the file has, and takes nothing for a beginning', async () => {
    const cid = await stage(bytes)
    const longer = new Blob([bytes, 'a'])
    await expect(clientOf().get(cid, { have: longer })).rejects.toMatchObject({ code: 'range_not_satisfiable' })
    expect((await (await clientOf().get(cid, { have: new Blob([]) })).bytes()).length).toBe(bytes.length)
  })
})
