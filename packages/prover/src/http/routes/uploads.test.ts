import { mkdir, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pieceCidV2, zeroCommitment } from '@lade/core/piece'
import { describe, expect, test } from 'vitest'
import { pieceOf, startTestProver } from '../../testing/harness.ts'
import { synapseClient } from '../../testing/synapse-client.ts'

const EVENT_ID = String.raw`\[eid: [0-9a-f-]{36}\]\n$`

async function openNamed(url: string, pieceCid: string): Promise<URL> {
  const created = await fetch(`${url}/pdp/piece`, { method: 'POST', body: JSON.stringify({ pieceCid }) })
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toMatch(/^\/pdp\/piece\/upload\/[0-9a-f-]{36}$/)
  return new URL(created.headers.get('location') ?? '', url)
}

async function openStreaming(url: string): Promise<URL> {
  const created = await fetch(`${url}/pdp/piece/uploads`, { method: 'POST' })
  expect([created.status, await created.text()]).toEqual([201, ''])
  return new URL(created.headers.get('location') ?? '', url)
}

const put = async (url: URL, body: Uint8Array<ArrayBuffer>) => {
  const answer = await fetch(url, { method: 'PUT', body })
  return { status: answer.status, text: await answer.text() }
}
const finalize = async (url: URL, pieceCid: string) => {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ pieceCid }) })
  return { status: answer.status, text: await answer.text() }
}
const foldersOf = async (dir: string) => ({
  pieces: await readdir(join(dir, 'pieces')),
  pending: await readdir(join(dir, 'pending')),
  levels: await readdir(join(dir, 'levels')),
})
const EMPTY = { pieces: [], pending: [], levels: [] }

describe('POST /pdp/piece', () => {
  test.each([
    ['no JSON', '{', 400],
    ['no CID', '{"pieceCid":"hello"}', 400],
    ['a CID of version 1', JSON.stringify({ pieceCid: pieceOf(127).pieceCidV1 }), 400],
    ['a piece of 126 bytes', JSON.stringify({ pieceCid: pieceOf(126).pieceCid }), 400],
    ['more than 1,065,353,216 bytes', JSON.stringify({ pieceCid: cidOfSize(1_065_353_217) }), 413],
  ])('refuses %s in plain text', async (_what, body, status) => {
    const { url } = await startTestProver()
    const answer = await fetch(`${url}/pdp/piece`, { method: 'POST', body })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await answer.text()).toMatch(new RegExp(EVENT_ID))
  })

  test('takes the largest and the smallest size', async () => {
    const { url } = await startTestProver()
    await openNamed(url, cidOfSize(1_065_353_216))
    await openNamed(url, pieceOf(127).pieceCid)
  })
})

describe('PUT /pdp/piece/upload/{uuid}', () => {
  test('stores the bytes of the CID, and answers 409 to a second body', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(127)
    const upload = await openNamed(url, piece.pieceCid)
    expect(await put(upload, piece.bytes)).toEqual({ status: 204, text: '' })
    expect(await foldersOf(dir)).toEqual({ ...EMPTY, pieces: [piece.pieceCid] })
    const second = await put(upload, piece.bytes)
    expect(second.status).toBe(409)
    expect(second.text).toMatch(/^Data has already been uploaded /)
  })

  test('refuses wrong bytes, keeps nothing of them, and takes the right ones after that', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(100_000)
    const upload = await openNamed(url, piece.pieceCid)
    const flipped = piece.bytes.map((byte, index) => (index === 77_777 ? byte ^ 1 : byte))
    const wrong = [
      [flipped, /^Computed hash does not match expected hash/],
      [piece.bytes.subarray(1), /^Piece size does not match the expected size/],
      [pieceOf(100_001).bytes, /^piece data exceeds the size declared in pieceCid \(100000 bytes\)/],
      [new Uint8Array(), /^Piece size does not match the expected size/],
    ] as const
    for (const [bytes, text] of wrong) {
      const answer = await put(upload, bytes)
      expect(answer.status).toBe(400)
      expect(answer.text).toMatch(text)
      expect(await foldersOf(dir)).toEqual(EMPTY)
    }
    expect((await put(upload, piece.bytes)).status).toBe(204)
  })

  test('refuses unknown uploads, and those that were opened the other way', async () => {
    const { url } = await startTestProver()
    const piece = pieceOf(127)
    const unknown = new URL('/pdp/piece/upload/00000000-0000-4000-8000-000000000000', url)
    expect(await put(unknown, piece.bytes)).toMatchObject({
      status: 404,
      text: expect.stringMatching(/^Upload UUID not/),
    })
    expect((await put(new URL('/pdp/piece/upload/7', url), piece.bytes)).status).toBe(400)
    const other = (await openStreaming(url)).pathname.replace('/uploads/', '/upload/')
    expect((await put(new URL(other, url), piece.bytes)).status).toBe(404)
  })

  test('forgets a body that is cut off or stands still', async () => {
    const { url, dir } = await startTestProver({ bodyIdleMs: 100 })
    const piece = pieceOf(1000)
    const { pathname, port } = await openNamed(url, piece.pieceCid)
    const head = `PUT ${pathname} HTTP/1.1\r\nhost: prover\r\ncontent-length: 1000\r\n\r\n`
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(head)
    socket.write(piece.bytes.subarray(0, 500))
    const answer = await new Promise<string>((resolve) => {
      let text = ''
      socket.on('data', (data) => {
        text += data
      })
      socket.on('close', () => resolve(text))
    })
    expect(answer).toMatch(/^HTTP\/1.1 408 /)
    expect(await foldersOf(dir)).toEqual(EMPTY)

    const cut = connect(Number(port), '127.0.0.1')
    cut.write(head)
    cut.write(piece.bytes.subarray(0, 500))
    await expect.poll(async () => (await foldersOf(dir)).pending.length).toBe(1)
    cut.destroy()
    await expect.poll(() => foldersOf(dir)).toEqual(EMPTY)
    expect((await put(new URL(pathname, url), piece.bytes)).status).toBe(204)
  })

  test('keeps nothing where the disk does not take it, and says so', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(1000)
    const upload = await openNamed(url, piece.pieceCid)
    await rm(join(dir, 'pieces'), { recursive: true })
    expect(await put(upload, piece.bytes)).toMatchObject({ status: 500 })
    expect(await readdir(join(dir, 'pending'))).toEqual([])
    expect((await fetch(`${url}/piece/${piece.pieceCid}`)).status).toBe(404)
    await mkdir(join(dir, 'pieces'))
    expect((await put(upload, piece.bytes)).status).toBe(204)
  })

  test('takes a piece whose level cannot be kept', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(150_000)
    await rm(join(dir, 'levels'), { recursive: true })
    expect((await put(await openNamed(url, piece.pieceCid), piece.bytes)).status).toBe(204)
    const body = JSON.stringify({ seed: `0x${'07'.repeat(32)}`, pieceCid: piece.pieceCid })
    expect((await fetch(`${url}/pdp/prove`, { method: 'POST', body })).status).toBe(200)
  })

  test('takes the same piece from many at once', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(150_000)
    const uploads = await Promise.all(Array.from({ length: 8 }, () => openNamed(url, piece.pieceCid)))
    const answers = await Promise.all(uploads.map((upload) => put(upload, piece.bytes)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204))
    expect(await foldersOf(dir)).toEqual({ pieces: [piece.pieceCid], pending: [], levels: [piece.pieceCid] })
    expect(await synapseClient(url).download(piece.pieceCid)).toEqual(piece.bytes)
  })
})

describe('/pdp/piece/uploads', () => {
  test('stores a piece once it is finalized, and only once', async () => {
    const { url, dir } = await startTestProver()
    const piece = pieceOf(500)
    const upload = await openStreaming(url)
    expect(await finalize(upload, piece.pieceCid)).toMatchObject({ status: 500 })
    expect(await put(upload, piece.bytes)).toEqual({ status: 204, text: '' })
    expect((await foldersOf(dir)).pieces).toEqual([])
    expect(await finalize(upload, piece.pieceCid)).toEqual({ status: 200, text: '' })
    expect(await foldersOf(dir)).toEqual({ ...EMPTY, pieces: [piece.pieceCid] })
    expect(await finalize(upload, piece.pieceCid)).toEqual({ status: 404, text: '404 page not found\n' })
    expect(await put(upload, piece.bytes)).toEqual({ status: 404, text: '404 page not found\n' })
  })

  test('refuses a CID of other bytes and of another size', async () => {
    const { url, dir } = await startTestProver()
    const upload = await openStreaming(url)
    await put(upload, pieceOf(500).bytes)
    expect(await finalize(upload, pieceOf(500, 2).pieceCid)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/pieceCid does not match the calculated pieceCid/),
    })
    expect(await finalize(upload, pieceOf(501).pieceCid)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/pieceCid size does not match uploaded piece size/),
    })
    expect(await finalize(upload, pieceOf(500).pieceCidV1)).toMatchObject({ status: 400 })
    expect((await foldersOf(dir)).pieces).toEqual([])
  })

  test('refuses bodies that are too small or too large', async () => {
    const { url, dir } = await startTestProver({ maxPieceBytes: 1000 })
    const upload = await openStreaming(url)
    expect(await put(upload, pieceOf(126).bytes)).toMatchObject({ status: 400 })
    expect(await put(upload, pieceOf(1001).bytes)).toMatchObject({
      status: 413,
      text: expect.stringMatching(/^piece data exceeds the maximum allowed size \(1000 bytes\)/),
    })
    expect(await foldersOf(dir)).toEqual(EMPTY)
  })

  test('takes a second body in place of the first', async () => {
    const { url, dir } = await startTestProver()
    const upload = await openStreaming(url)
    const second = pieceOf(500, 2)
    await put(upload, pieceOf(500).bytes)
    await put(upload, second.bytes)
    expect((await foldersOf(dir)).pending).toHaveLength(1)
    expect((await finalize(upload, second.pieceCid)).status).toBe(200)
  })
})

describe('GET /pdp/piece', () => {
  test('finds a piece only some time after it was stored', async () => {
    let time = 1_000_000
    const { url } = await startTestProver({ findDelayMs: 5000, now: () => time })
    const client = synapseClient(url)
    const { pieceCid, bytes } = pieceOf(127)
    const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status
    expect(await statusOf(`/pdp/piece?pieceCid=${pieceCid}`)).toBe(404)
    await client.uploadPiece(pieceCid, bytes)
    time += 4999
    const early = await fetch(`${url}/pdp/piece?pieceCid=${pieceCid}`)
    expect([early.status, await early.text()]).toEqual([404, '404 page not found\n'])
    expect(await statusOf(`/pdp/piece/${pieceCid}/status`)).toBe(404)
    await expect(client.createDataSetAndAddPieces(`0x${'0'.repeat(40)}`, '0x01', [pieceCid])).rejects.toThrow(
      'not found',
    )
    time += 1
    expect(await client.findPiece(pieceCid.toUpperCase())).toBe(pieceCid)
    const status = await (await fetch(`${url}/pdp/piece/${pieceCid}/status`)).json()
    expect(status).toEqual({
      pieceCid,
      status: 'pending',
      indexed: false,
      adCreated: false,
      advertised: false,
      retrieved: false,
    })
  })

  test('refuses what is no piece CID of version 2', async () => {
    const { url } = await startTestProver()
    for (const query of ['', '?pieceCid=', '?pieceCid=x', `?pieceCid=${pieceOf(127).pieceCidV1}`]) {
      expect((await fetch(`${url}/pdp/piece${query}`)).status).toBe(400)
    }
    expect((await fetch(`${url}/pdp/nothing`)).status).toBe(404)
  })
})

function cidOfSize(rawSizeBytes: number): string {
  return pieceCidV2({ root: zeroCommitment(25), rawSizeBytes })
}
