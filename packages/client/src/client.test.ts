import { createHash } from 'node:crypto'
import { hashPiece, pieceCidV2 } from '@lade/core/piece'
import type { CID } from 'multiformats/cid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient } from './client.ts'
import type { LadeClient, PutCidForm, PutProgress } from './options.ts'
import { carOf, cborLinkTo } from './testing/cars.ts'
import { importFile, unixfsV1Cid } from './testing/importer.ts'
import { noise } from './testing/noise.ts'
import { type OwnService, startOwnService } from './testing/own-service.ts'

const MIB = 1_048_576

let service: OwnService
let client: LadeClient
beforeAll(async () => {
  service = await startOwnService({ LADE_SPONSORED_FILE_MB: '1' })
  client = createLadeClient({ url: service.url, token: await service.token() })
})
afterAll(() => service.remove())

const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const clientWith = (token: string) => createLadeClient({ url: service.url, token })

describe('put and get with a service', () => {
  const bytes = noise(2 * MIB + 7)

  it.each<[PutCidForm, (data: Uint8Array) => Promise<string> | string]>([
    ['unixfs', unixfsV1Cid],
    ['sha256', hex],
    ['piece', (data) => pieceCidV2(hashPiece(data))],
  ])('stage a file under its %s id and give it back checked', async (form, idOf) => {
    const { cid, verified } = await client.put(bytes, { cid: form })
    expect([cid, verified]).toEqual([await idOf(bytes), true])
    const download = await client.get(cid)
    expect(download.verified).toBe(true)
    expect(Buffer.compare(await download.bytes(), bytes)).toBe(0)
  })

  it('give it back, checked, by every other name that it has', async () => {
    const { pieceCid, sha256 } = await client.put(bytes, { cid: 'raw' })
    await client.put(bytes)
    for (const cid of [pieceCid, sha256, await unixfsV1Cid(bytes)]) {
      const download = await client.get(cid ?? '')
      expect(download.verified).toBe(true)
      expect(Buffer.compare(await download.bytes(), bytes)).toBe(0)
    }
  })

  it('keep name and type', async () => {
    const { cid } = await client.put(noise(9, 3), { filename: 'naïve "plan".txt', contentType: 'text/plain' })
    expect(await client.get(cid)).toMatchObject({ filename: 'naïve "plan".txt', contentType: 'text/plain' })
  })

  it('keep a private file from everybody but its owner, and share it by a link', async () => {
    const { cid } = await client.put(noise(99, 4), { visibility: 'private' })
    expect((await (await client.get(cid)).bytes()).length).toBe(99)
    await expect(createLadeClient({ url: service.url }).get(cid)).rejects.toMatchObject({ code: 'not_found' })
    await expect(clientWith(await service.token()).get(cid)).rejects.toMatchObject({ code: 'not_found' })
    const { url } = await client.files.share(cid, { ttlSeconds: 60 })
    expect((await fetch(url)).status).toBe(200)
  })

  it('are what the last put says of them, and are changed by themselves', async () => {
    for (const sizeBytes of [99, 200_000]) {
      const data = noise(sizeBytes, 40)
      const first = await client.put(data, { filename: 'old.txt', contentType: 'text/plain' })
      expect(first).toMatchObject({ visibility: 'public', contentType: 'text/plain', filename: 'old.txt' })
      const wanted = { visibility: 'private', contentType: 'image/png', filename: 'new.png' } as const
      expect(await client.put(data, { ...wanted, termDays: 40 })).toMatchObject({ ...wanted, term: '40 days' })
      await expect(createLadeClient({ url: service.url }).get(first.cid)).rejects.toMatchObject({ code: 'not_found' })
      const changed = await client.files.change(first.cid, { visibility: 'public', filename: null })
      expect(changed).toMatchObject({ ...wanted, visibility: 'public', filename: null })
      expect(await client.files.get(first.cid)).toEqual(changed)
    }
  })

  it('error: options that a call does not have are a type error and a thrown one', async () => {
    // @ts-expect-error: visibility: 'private' is meant.
    await expect(client.put(noise(9), { private: true })).rejects.toThrow('put has no option "private"')
    // @ts-expect-error: visibility: 'private' is meant.
    await expect(client.files.change('myfile01', { private: true })).rejects.toThrow('files.change has no option')
    // @ts-expect-error: there is no such option.
    await expect(client.get('myfile01', { form: 1 })).rejects.toThrow('get has no option "form"')
    // @ts-expect-error: ttlSeconds is meant.
    await expect(client.files.share('myfile01', { ttl: 1 })).rejects.toThrow('files.share has no option "ttl"')
    // @ts-expect-error: token is meant.
    expect(() => createLadeClient({ url: service.url, apiKey: 'x' })).toThrow('createLadeClient has no option "apiKey"')
  })

  it.each(['127.0.0.1:8080', 'localhost:8080', 'lade.example', ''])('error: the url %j lacks its scheme', (url) => {
    expect(() => createLadeClient({ url })).toThrow('url must start with http:// or https://')
  })

  it('error: a token with more around it, and options that are no object, are a thrown type error that says so', async () => {
    for (const token of ['Bearer pk_live_a.b.c', 'pk_live_a.b.c\n', '']) {
      expect(() => createLadeClient({ url: service.url, token })).toThrow('token must be pk_live_… alone')
    }
    // @ts-expect-error: { url } is meant.
    expect(() => createLadeClient(service.url)).toThrow('createLadeClient takes its options as an object, with url,')
    // @ts-expect-error: what to change is missing.
    await expect(client.files.change('myfile01')).rejects.toThrow('files.change takes its options as an object')
  })

  it('send a file once, and again once it was removed', async () => {
    const data = noise(200_000, 5)
    const first = await client.put(data)
    expect(await client.put(data)).toEqual(first)
    await client.files.remove(first.cid)
    await expect(client.get(first.cid)).rejects.toMatchObject({ code: 'gone', evidence: { reason: 'removed' } })
    await client.put(data)
    expect(Buffer.compare(await (await client.get(first.cid)).bytes(), data)).toBe(0)
  })

  it('answer what was found under another id with the id that was asked for', async () => {
    const data = noise(3 * MIB, 6)
    const first = await client.put(data)
    const found = await client.put(data, { cid: 'sha256' })
    expect(found).toMatchObject({ cid: hex(data), dealId: first.dealId, owner: first.owner })
    expect(found.retrievalUrl).toBe(`${service.url}/p/${hex(data)}`)
  })

  it('pass on what refuses a file before its body is read', async () => {
    const anonymous = createLadeClient({ url: service.url, retry: { attempts: 1 } })
    for (const data of [noise(MIB + 1, 7), new Blob([noise(90 * MIB, 7)])]) {
      let sentBytes = 0
      const onProgress = (progress: PutProgress) => {
        sentBytes = progress.sentBytes
      }
      const failure = anonymous.put(data, { onProgress })
      await expect(failure).rejects.toMatchObject({ code: 'too_large', evidence: { limit: MIB } })
      expect(sentBytes).toBe(0)
    }
    const reader = clientWith(await service.token(['get']))
    await expect(reader.put(noise(5, 8))).rejects.toMatchObject({ code: 'insufficient_scope' })
  })

  const uploadCar = async (cid: CID, car: Uint8Array<ArrayBuffer>) => {
    const headers = { 'content-type': 'application/vnd.ipld.car', authorization: `Bearer ${await service.token()}` }
    const response = await fetch(`${service.url}/api/upload?cid=${cid}`, { method: 'POST', body: car, headers })
    expect(await response.json()).toMatchObject({ verified: true })
  }

  it('check a file that came as a CAR and was cut in a way of its own, by its blocks', async () => {
    const data = noise(MIB + 99, 9)
    const { root, blocks } = await importFile(data, { chunkBytes: 100_000, linksPerNode: 5, isRaw: true })
    await uploadCar(root, carOf(root, blocks))
    const download = await client.get(root.toString())
    expect(download).toMatchObject({ verified: true, sizeBytes: data.length })
    expect(Buffer.compare(await download.bytes(), data)).toBe(0)
  })

  it('find out that such a file is another one', async () => {
    const cut = { chunkBytes: 100_000, linksPerNode: 5, isRaw: true }
    const { root, blocks } = await importFile(noise(MIB + 99, 10), cut)
    await uploadCar(root, carOf(root, blocks))
    const altering: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input).includes('/p/')) return response
      const bytes = await response.bytes()
      bytes[500_000] = (bytes[500_000] ?? 0) ^ 1
      return new Response(bytes, { headers: response.headers })
    }
    const download = await createLadeClient({ url: service.url, fetch: altering }).get(root.toString())
    await expect(download.bytes()).rejects.toMatchObject({ code: 'cid_mismatch' })
  })

  it('check a CAR that is given back as one', async () => {
    const file = await importFile(noise(300_000, 11), { chunkBytes: 100_000, linksPerNode: 5, isRaw: true })
    const { cid, bytes: block } = await cborLinkTo(file.root)
    const car = carOf(cid, new Map([[cid.toString(), block], ...file.blocks]))
    await uploadCar(cid, car)
    const download = await client.get(cid.toString())
    expect(download).toMatchObject({ contentType: 'application/vnd.ipld.car', verified: true })
    expect(Buffer.compare(await download.bytes(), car)).toBe(0)
  })
})

describe('the other operations with a service', () => {
  it('list files page by page, newest first, and find one', async () => {
    const own = clientWith(await service.token())
    const cids: string[] = []
    for (let seed = 0; seed < 5; seed += 1) cids.unshift((await own.put(noise(20, 100 + seed))).cid)
    const listed: string[] = []
    for await (const { cid } of own.files.list({ limit: 2 })) listed.push(cid)
    expect(listed).toEqual(cids)
    const page = await own.files.page({ limit: 2 })
    expect(page.files.map(({ cid }) => cid)).toEqual(cids.slice(0, 2))
    const next = await own.files.page({ limit: 2, cursor: page.nextCursor ?? undefined })
    expect(next.files.map(({ cid }) => cid)).toEqual(cids.slice(2, 4))
    expect((await own.files.get(cids[0] ?? '')).cid).toBe(cids[0])
    await own.files.remove(cids[0] ?? '')
    const removed = await own.files.page({ status: 'removed' })
    expect(removed.files.map(({ cid }) => cid)).toEqual([cids[0]])
    await expect(own.files.get('myfile01')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('tell what was used', async () => {
    const own = clientWith(await service.token())
    await own.put(noise(1234, 200))
    expect(await own.usage()).toMatchObject({ today: { bytes: 1234, files: 1 }, stored: { bytes: 1234, files: 1 } })
  })

  it('list tokens and end one', async () => {
    const own = clientWith(await service.token())
    const { tokens } = await own.tokens.list()
    expect(tokens).toHaveLength(1)
    const jti = tokens[0]?.jti ?? ''
    expect(await own.tokens.revoke(jti)).toMatchObject({ jti })
    await expect(own.usage()).rejects.toMatchObject({ code: 'revoked_token', evidence: { jti } })
  })

  it('end a token and keep its links', async () => {
    const token = await service.token()
    const own = clientWith(token)
    const bytes = noise(100, 202)
    const { cid } = await own.put(bytes, { visibility: 'private' })
    const { url } = await own.files.share(cid, { ttlSeconds: 60 })
    const jti = (await own.tokens.list()).tokens.find(({ current }) => current)?.jti ?? ''
    await own.tokens.revoke(jti, { keepLinks: true })
    expect((await fetch(url)).status).toBe(200)
  })

  it('answer the pieces of files', async () => {
    const own = clientWith(await service.token())
    const { cid, pieceCid } = await own.put(noise(2000, 201))
    const found = await own.pieceCids([cid, 'myfile01'])
    expect(found).toMatchObject({ items: [{ cid, pieceCid, rawSize: 2000 }], missing: ['myfile01'] })
  })

  it('list deals, and find one', async () => {
    const own = clientWith(await service.token())
    const { dealId, cid } = await own.put(noise(10, 202))
    const deals: unknown[] = []
    for await (const deal of own.deals.list({ limit: 1 })) deals.push(deal)
    const status = expect.stringMatching(/^(staged|proposed|active)$/)
    expect(deals).toEqual([expect.objectContaining({ dealId, cid, status })])
    expect(await own.deals.get(dealId)).toMatchObject({ dealId, cid })
    await expect(own.deals.get('d-0x00')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('say what the service is and allows', async () => {
    const info = await createLadeClient({ url: service.url }).info()
    expect(info).toMatchObject({ name: 'lade', tiers: { sponsored: { fileBytes: MIB } } })
  })

  it('need a token where the service asks for one', async () => {
    const anonymous = createLadeClient({ url: service.url })
    await expect(anonymous.usage()).rejects.toMatchObject({ code: 'no_token' })
    await expect(anonymous.files.page()).rejects.toMatchObject({ code: 'no_token' })
  })
})
