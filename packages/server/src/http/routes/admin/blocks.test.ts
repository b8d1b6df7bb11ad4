import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlockList, BlockResult, FileEntry, FileList, UploadResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, fileDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const REASON = 'Complaint 1234'

describe('/api/admin/blocks', () => {
  let service: RunningService
  let admin: string
  let token: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_SIGNUP: 'open' } })
    admin = await service.mint(['admin'])
    token = (await service.signUp()).token
  })
  afterAll(() => service.remove())
  afterEach(async () => {
    for (const { cid } of (await listed()).blocks) await unblock(cid)
  })

  const send = (method: string, path: string, json?: object, as: string | undefined = admin): Promise<Response> =>
    service.fetch(path, {
      method,
      headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...bearer(as) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
  const block = async (cid: string, options: object = {}): Promise<BlockResult> => {
    const response = await send('POST', '/api/admin/blocks', { cid, reason: REASON, ...options })
    const body = await response.text()
    if (response.status !== 200) throw new Error(body)
    return JSON.parse(body) as BlockResult
  }
  const unblock = (cid: string): Promise<Response> => send('DELETE', `/api/admin/blocks/${cid}`)
  const listed = async (): Promise<BlockList> => (await (await send('GET', '/api/admin/blocks')).json()) as BlockList
  const answerAt = async (path: string, as?: string, headers: Record<string, string> = {}) => {
    const response = await service.fetch(path, { headers: { ...bearer(as), ...headers } })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isError = response.status >= 400
    return {
      status: response.status,
      bytes,
      caching: response.headers.get('cache-control'),
      problem: isError
        ? (JSON.parse(bytes.toString()) as { error: string; detail: string; reason?: string })
        : undefined,
    }
  }
  const statusOf = async (path: string, as?: string) => (await answerAt(path, as)).status
  const uploaded = async (bytes: Uint8Array, options: Parameters<RunningService['upload']>[1] = {}) => {
    const response = await service.upload(bytes, options)
    const body = await response.text()
    if (response.status !== 200) throw new Error(body)
    return JSON.parse(body) as UploadResult
  }

  it('answers 451 under every alias at /p, /piece and /ipfs, and again as before when it is lifted', async () => {
    const bytes = patternBytes(700_000, 101)
    const { root } = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
    const { pieceCid } = await uploaded(bytes, { cid: root.toString() })
    const raw = CID.createV1(0x55, await sha256.digest(bytes)).toString()
    const paths = [
      `/p/${root}`,
      `/p/${root.toV0()}`,
      `/p/${raw}`,
      `/p/${sha256Hex(bytes)}`,
      `/p/${pieceCid}`,
      `/piece/${pieceCid}`,
      `/ipfs/${root}?format=raw`,
      `/ipfs/${root}?format=car`,
      `/ipfs/${root.toV0()}?format=car`,
      `/ipfs/${raw}?format=raw`,
    ]
    for (const cid of [root.toString(), sha256Hex(bytes), String(pieceCid)]) {
      for (const path of paths) expect(await statusOf(path), path).toBe(200)
      expect(await block(cid)).toMatchObject({
        cid,
        reason: REASON,
        files: 1,
        ended: 0,
        deleted: false,
        containing: [],
      })
      for (const path of paths) {
        const { status, problem, caching } = await answerAt(path)
        expect([status, problem?.error, problem?.reason, caching], path).toEqual([
          451,
          'blocked',
          undefined,
          'no-store',
        ])
        expect((await service.fetch(path, { method: 'HEAD' })).status, path).toBe(451)
      }
      expect((await service.fetch(`/pdp/piece?pieceCid=${pieceCid}`)).status).toBe(451)
      expect(await (await service.fetch(`/routing/v1/providers/${root}`)).json()).toEqual({ Providers: [] })
      expect((await unblock(cid)).status).toBe(200)
    }
    for (const path of paths) expect(await statusOf(path), path).toBe(200)
  })

  it('takes answers out of memory', async () => {
    const bytes = Buffer.from('small and hot')
    await uploaded(bytes)
    const path = `/p/${sha256Hex(bytes)}`
    for (let round = 0; round < 3; round += 1) expect(await statusOf(path)).toBe(200)
    await block(sha256Hex(bytes))
    expect(await statusOf(path)).toBe(451)
    await unblock(sha256Hex(bytes))
    expect(await statusOf(path)).toBe(200)
  })

  it('tells the owner why, in the file entry and in the answer, and nobody else; private files too', async () => {
    const bytes = patternBytes(1000, 102)
    const cid = sha256Hex(bytes)
    await uploaded(bytes, { token, headers: { 'x-visibility': 'private' } })
    const share = await send('POST', `/api/files/${cid}/share`, { ttlSeconds: 60 }, token)
    const { url } = (await share.json()) as { url: string }
    await block(cid)
    const own = await answerAt(`/p/${cid}`, token)
    expect([own.status, own.problem?.reason]).toEqual([451, REASON])
    expect(own.problem?.detail).toContain(REASON)
    const other = (await service.signUp('eve@example.org')).token
    for (const as of [undefined, other]) expect((await answerAt(`/p/${cid}`, as)).problem?.reason).toBeUndefined()
    expect(await statusOf(new URL(url).pathname + new URL(url).search)).toBe(451)
    const entry = (await (await send('GET', `/api/files/${cid}`, undefined, token)).json()) as FileEntry
    expect(entry.blocked).toMatchObject({ reason: REASON, blockedAt: expect.stringMatching(/Z$/) })
    const { files } = (await (await send('GET', '/api/files', undefined, token)).json()) as FileList
    expect(files.find((file) => file.cid === cid)?.blocked?.reason).toBe(REASON)
    await unblock(cid)
    expect(await statusOf(`/p/${cid}`, token)).toBe(200)
    expect((await (await send('GET', `/api/files/${cid}`, undefined, token)).json()) as FileEntry).not.toHaveProperty(
      'blocked',
    )
  })

  it('refuses an upload before its body where the id shows it, else at its end, and keeps and charges nothing', async () => {
    const bytes = patternBytes(300_000, 103)
    const { root } = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
    await block(root.toString())
    const usage = async () => (await (await send('GET', '/api/usage', undefined, token)).json()) as { today: object }
    const before = await usage()
    for (const [content, cid] of [
      [bytes, root.toString()],
      [bytes.subarray(0, 100), sha256Hex(bytes.subarray(0, 100))],
    ] as const) {
      if (cid !== root.toString()) await block(cid)
      const response = await service.upload(content, { cid, token })
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([451, 'blocked'])
    }
    // The id says nothing; the bytes do.
    const hidden = patternBytes(2000, 104)
    await block(sha256Hex(hidden))
    for (const content of [hidden, hidden]) {
      const response = await service.upload(content, { cid: 'hidden000001', token })
      expect(response.status).toBe(451)
    }
    expect(await usage()).toEqual(before)
    expect(await statusOf('/p/hidden000001')).toBe(404)
  })

  it('refuses a root with all its paths, and leaves what is below it where another file has it', async () => {
    const [one, other] = [patternBytes(3000, 105), patternBytes(3000, 106)]
    const folder = await directoryDag({ 'one.bin': one, 'other.bin': other })
    const car = await carOf(folder.root, folder.blocks)
    await uploaded(car, { cid: folder.root.toString(), headers: { 'content-type': 'application/vnd.ipld.car' } })
    await uploaded(other, { cid: CID.createV1(0x55, await sha256.digest(other)).toString() })
    const oneRaw = CID.createV1(0x55, await sha256.digest(one)).toString()
    const otherRaw = CID.createV1(0x55, await sha256.digest(other)).toString()
    await block(folder.root.toString())
    for (const path of [
      `/p/${folder.root}`,
      `/ipfs/${folder.root}?format=car`,
      `/ipfs/${folder.root}?format=raw`,
      `/ipfs/${folder.root}/one.bin?format=car`,
      `/ipfs/${folder.root}/other.bin?format=car`,
      `/ipfs/${oneRaw}?format=raw`,
      `/p/${sha256Hex(car)}`,
    ]) {
      expect(await statusOf(path), path).toBe(451)
    }
    expect(await statusOf(`/ipfs/${otherRaw}?format=raw`)).toBe(200)
  })

  it('refuses a block in a CAR, and the CAR as a whole, and nothing else of it', async () => {
    const [one, other] = [patternBytes(3000, 107), patternBytes(3000, 108)]
    const folder = await directoryDag({ 'one.bin': one, 'other.bin': other })
    const car = await carOf(folder.root, folder.blocks)
    const headers = { 'content-type': 'application/vnd.ipld.car' }
    await uploaded(car, { cid: folder.root.toString(), headers })
    const oneRaw = CID.createV1(0x55, await sha256.digest(one)).toString()
    expect((await block(oneRaw)).containing).toEqual([folder.root.toString()])
    for (const path of [`/p/${folder.root}`, `/ipfs/${oneRaw}?format=raw`, `/ipfs/${folder.root}/one.bin?format=car`]) {
      expect(await statusOf(path), path).toBe(451)
    }
    await expect(
      service.fetch(`/ipfs/${folder.root}?format=car`).then((response) => response.arrayBuffer()),
    ).rejects.toThrow()
    expect(await statusOf(`/ipfs/${folder.root}?format=raw`)).toBe(200)
    expect(await statusOf(`/ipfs/${folder.root}/other.bin?format=car`)).toBe(200)
    const again = await service.upload(car, { cid: folder.root.toString(), headers, token })
    expect(again.status).toBe(451)
  })

  it('refuses files that were composed of it, and compositions with it', async () => {
    const whole = patternBytes(133_169_152 + 1000, 111)
    const parts = [whole.subarray(0, 133_169_152), whole.subarray(133_169_152)]
    const cids = parts.map((part) => sha256Hex(part))
    for (const part of parts) await uploaded(part, { token })
    const compose = () => send('POST', `/api/compose?cid=${sha256Hex(whole)}`, { parts: cids }, token)
    expect((await compose()).status).toBe(200)
    await block(String(cids[1]))
    expect(await statusOf(`/p/${sha256Hex(whole)}`)).toBe(451)
    expect((await compose()).status).toBe(451)
    await unblock(String(cids[1]))
    const again = await service.fetch(`/p/${sha256Hex(whole)}`, { headers: { range: 'bytes=0-9' } })
    expect(again.status).toBe(206)
  }, 60_000)

  it('deletes the files and the bytes at once where that is asked for', async () => {
    const bytes = patternBytes(500_000, 109)
    const cid = sha256Hex(bytes)
    await uploaded(bytes, { token })
    await uploaded(bytes)
    const stored = async () =>
      (await readdir(join(service.dataDir, 'objects', cid.slice(0, 2))).catch(() => [])).filter((name) => name === cid)
    expect(await stored()).toEqual([cid])
    expect(await block(cid, { delete: true })).toMatchObject({ files: 2, ended: 2, deleted: true })
    expect(await stored()).toEqual([])
    expect(await statusOf(`/p/${cid}`)).toBe(451)
    await unblock(cid)
    expect(await statusOf(`/p/${cid}`)).toBe(410)
  })

  it('cuts a download that is under way', async () => {
    const bytes = patternBytes(64 * 1024 * 1024, 110)
    await uploaded(bytes)
    const response = await service.fetch(`/p/${sha256Hex(bytes)}`)
    const reader = response.body?.getReader()
    await reader?.read()
    await block(sha256Hex(bytes))
    const readAll = async () => {
      for (;;) if ((await reader?.read())?.done !== false) return
    }
    await expect(readAll()).rejects.toThrow()
  })

  it('lists what is blocked, newest first, page by page', async () => {
    const cids = ['a', 'b', 'c'].map((word) => sha256Hex(Buffer.from(word)))
    for (const cid of cids) await block(cid)
    const page = (await (await send('GET', '/api/admin/blocks?limit=2')).json()) as BlockList
    expect(page.blocks.map(({ cid }) => cid)).toEqual([cids[2], cids[1]])
    const next = (await (await send('GET', `/api/admin/blocks?cursor=${page.nextCursor}`)).json()) as BlockList
    expect([next.blocks.map(({ cid }) => cid), next.nextCursor, next.denylists]).toEqual([[cids[0]], null, []])
    const metrics = { content: service.logged().filter(({ msg }) => msg === 'content was blocked') }
    expect(metrics.content.at(-1)).toMatchObject({ cid: cids[2], reason: REASON })
  })

  it.each([
    [{ cid: 'x', reason: REASON }, 'invalid_cid'],
    [{ cid: sha256Hex(Buffer.from('x')) }, 'bad_request'],
    [{ cid: sha256Hex(Buffer.from('x')), reason: '' }, 'bad_request'],
    [{ cid: sha256Hex(Buffer.from('x')), reason: ' ' }, 'bad_request'],
    [{ cid: sha256Hex(Buffer.from('x')), reason: 'a\nb' }, 'bad_request'],
    [{ cid: sha256Hex(Buffer.from('x')), reason: REASON, delete: 'yes' }, 'bad_request'],
    [{ cid: sha256Hex(Buffer.from('x')), reason: REASON, other: 1 }, 'bad_request'],
  ])('error: %j is %s', async (body, code) => {
    const response = await send('POST', '/api/admin/blocks', body)
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, code])
    expect((await listed()).blocks).toEqual([])
  })

  it('error: needs the scope admin, and a takedown to lift', async () => {
    const cid = sha256Hex(Buffer.from('y'))
    expect((await send('POST', '/api/admin/blocks', { cid, reason: REASON }, token)).status).toBe(403)
    expect((await service.fetch('/api/admin/blocks')).status).toBe(401)
    expect((await unblock(cid)).status).toBe(404)
  })

  it('holds after a restart', async () => {
    const bytes = Buffer.from('remembered')
    const own = await runService()
    const mint = await own.mint(['admin'])
    await own.upload(bytes)
    await own.fetch('/api/admin/blocks', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(mint) },
      body: JSON.stringify({ cid: sha256Hex(bytes), reason: REASON }),
    })
    await own.close()
    const restarted = await runService({ dataDir: own.dataDir })
    try {
      expect((await restarted.fetch(`/p/${sha256Hex(bytes)}`)).status).toBe(451)
    } finally {
      await restarted.close()
      await own.remove()
    }
  })
})
