import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pieceOf, pieceOfBytes, startTestProver } from '../../testing/harness.ts'
import { synapseClient } from '../../testing/synapse-client.ts'

async function startWith(piece: { pieceCid: string; bytes: Uint8Array<ArrayBuffer> }) {
  const prover = await startTestProver()
  await synapseClient(prover.url).uploadPiece(piece.pieceCid, piece.bytes)
  const get = async (range?: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, ...(range !== undefined && { range }) }
    const answer = await fetch(`${prover.url}/piece/${piece.pieceCid}`, { ...init, headers })
    return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
  }
  return { ...prover, get }
}

describe('GET /piece/{cid}', () => {
  test('gives the bytes under both CIDs with the headers of immutable content', async () => {
    const piece = pieceOf(700_000)
    const { url, get } = await startWith(piece)
    const whole = await get()
    expect(whole.bytes).toEqual(piece.bytes)
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-length': '700000',
      etag: `"${piece.pieceCid}"`,
      'cache-control': 'public, max-age=29030400, immutable',
      vary: 'Accept-Encoding',
      'accept-ranges': 'bytes',
    })
    const byRoot = await fetch(`${url}/piece/${piece.pieceCidV1}`)
    expect(byRoot.headers.get('etag')).toBe(`"${piece.pieceCidV1}"`)
    expect(new Uint8Array(await byRoot.arrayBuffer())).toEqual(piece.bytes)
  })

  test('answers HEAD with the length and no bytes', async () => {
    const { get } = await startWith(pieceOf(1000))
    const head = await get(undefined, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '1000', 0])
  })

  test('gives exactly the bytes of any range', async () => {
    const piece = pieceOf(600_000)
    const { get } = await startWith(piece)
    const offsets = fc.nat({ max: 599_999 })
    await fc.assert(
      fc.asyncProperty(offsets, offsets, async (one, other) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)]
        const part = await get(`bytes=${first}-${last}`)
        expect(part.status).toBe(206)
        expect(part.headers.get('content-range')).toBe(`bytes ${first}-${last}/600000`)
        expect(Buffer.from(part.bytes).equals(piece.bytes.subarray(first, last + 1))).toBe(true)
      }),
      { numRuns: 30 },
    )
    expect((await get('bytes=-5')).bytes).toEqual(piece.bytes.subarray(-5))
    expect((await get('bytes=599999-')).bytes).toEqual(piece.bytes.subarray(-1))
    const beyond = await get('bytes=600000-')
    expect([beyond.status, beyond.headers.get('content-range'), beyond.bytes.length]).toEqual([
      416,
      'bytes */600000',
      0,
    ])
  })

  test('gives everything for ranges that it does not read, and for If-Range with another tag', async () => {
    const piece = pieceOf(200)
    const { get } = await startWith(piece)
    for (const range of ['bytes=0-1,3-4', 'bytes=5-3', 'lines=0-1'])
      expect((await get(range)).bytes).toEqual(piece.bytes)
    expect((await get('bytes=0-1', { headers: { 'if-range': '"other"' } })).status).toBe(200)
    expect((await get('bytes=0-1', { headers: { 'if-range': `"${piece.pieceCid}"` } })).status).toBe(206)
  })

  test('answers 304 to a tag that it gave', async () => {
    const piece = pieceOf(200)
    const { get } = await startWith(piece)
    const answer = await get(undefined, { headers: { 'if-none-match': `"x", W/"${piece.pieceCid}"` } })
    expect([answer.status, answer.headers.get('etag')]).toEqual([304, `"${piece.pieceCid}"`])
  })

  test('gives under a CID of version 1 the piece with the most of its zeros', async () => {
    const [short, long] = [
      pieceOfBytes(new Uint8Array(512).fill(7, 0, 200)),
      pieceOfBytes(new Uint8Array(508).fill(7, 0, 200)),
    ]
    const larger = pieceOfBytes(new Uint8Array(510).fill(7, 0, 200))
    expect(short.pieceCidV1).toBe(larger.pieceCidV1)
    expect(short.pieceCidV1).not.toBe(long.pieceCidV1)
    const { url } = await startWith(larger)
    await synapseClient(url).uploadPiece(short.pieceCid, short.bytes)
    expect(await synapseClient(url).download(short.pieceCidV1)).toEqual(short.bytes)
  })

  test('answers 404 for what it has not, 400 for what is no piece CID', async () => {
    const { url } = await startTestProver()
    expect((await fetch(`${url}/piece/${pieceOf(127).pieceCid}`)).status).toBe(404)
    expect((await fetch(`${url}/piece/${pieceOf(127).pieceCidV1}`)).status).toBe(404)
    expect((await fetch(`${url}/piece/hello`)).status).toBe(400)
  })

  test('cuts the connection where the file turns out to be shorter than the piece', async () => {
    const piece = pieceOf(600_000)
    const { dir, get } = await startWith(piece)
    await writeFile(join(dir, 'pieces', piece.pieceCid), piece.bytes.subarray(0, 400_000))
    await expect(get()).rejects.toThrow()
  })
})
