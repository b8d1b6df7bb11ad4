import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startProver } from './start-prover.ts'
import { pieceOf, startTestProver } from './testing/harness.ts'
import { synapseClient } from './testing/synapse-client.ts'

const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'

describe('startProver', () => {
  test('takes a piece from a Synapse client, finds it, gives it back and adds it to a data set', async () => {
    const { url } = await startTestProver()
    const client = synapseClient(url)
    expect(await client.ping()).toBe('curio-pdp')
    const [named, streamed] = [pieceOf(1000, 1), pieceOf(200_000, 2)]
    expect(await client.uploadPiece(named.pieceCid, named.bytes)).toBe(true)
    await client.uploadPieceStreaming(streamed.pieceCid, streamed.bytes)
    for (const { pieceCid, bytes } of [named, streamed]) {
      expect(await client.findPiece(pieceCid)).toBe(pieceCid)
      expect(await client.download(pieceCid)).toEqual(bytes)
      expect(await client.uploadPiece(pieceCid, bytes)).toBe(false)
    }

    const created = await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', [named.pieceCid])
    expect(created).toMatchObject({ dataSetId: 1, added: { confirmedPieceIds: [0], pieceCount: 1 } })
    expect(await client.addPieces(1, '0x02', [streamed.pieceCid])).toMatchObject({ confirmedPieceIds: [1] })
    const pieceOfSet = (pieceId: number, pieceCid: string) => ({
      pieceId,
      pieceCid,
      subPieceCid: pieceCid,
      subPieceOffset: 0,
    })
    const pieces = [pieceOfSet(0, named.pieceCid), pieceOfSet(1, streamed.pieceCid)]
    expect(await client.getDataSet(1)).toEqual({ id: 1, nextChallengeEpoch: 0, pieces })
  })

  test('has after a restart what it had before, and throws away what was not finished', async () => {
    const first = await startTestProver()
    const piece = pieceOf(300_000)
    const client = synapseClient(first.url)
    await client.uploadPiece(piece.pieceCid, piece.bytes)
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', [piece.pieceCid])
    const created = await fetch(`${first.url}/pdp/piece/uploads`, { method: 'POST' })
    await fetch(new URL(created.headers.get('location') ?? '', first.url), { method: 'PUT', body: piece.bytes })
    expect(await readdir(join(first.dir, 'pending'))).toHaveLength(1)
    await first.close()

    const second = await startTestProver({ dir: first.dir, findDelayMs: 60_000 })
    expect(await readdir(join(second.dir, 'pending'))).toEqual([])
    const again = synapseClient(second.url)
    expect(await again.findPiece(piece.pieceCid)).toBe(piece.pieceCid)
    expect(await again.download(piece.pieceCid)).toEqual(piece.bytes)
    expect((await again.getDataSet(1)).pieces).toMatchObject([{ pieceCid: piece.pieceCid }])
    expect(await again.createDataSet(RECORD_KEEPER, '0x02')).toMatchObject({ dataSetId: 2 })
  })

  test('leaves nothing open where it cannot listen', async () => {
    const { url, dir } = await startTestProver()
    await expect(startProver({ dir: `${dir}/other`, port: Number(new URL(url).port) })).rejects.toThrow('EADDRINUSE')
  })

  test('lets an upload under way end when it is closed, and closes twice', async () => {
    const prover = await startTestProver({ drainMs: 5000 })
    const piece = pieceOf(100_000)
    const created = await fetch(`${prover.url}/pdp/piece`, {
      method: 'POST',
      body: JSON.stringify({ pieceCid: piece.pieceCid }),
    })
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const init = { method: 'PUT', body: body.readable, duplex: 'half' } as RequestInit
    const answer = fetch(new URL(created.headers.get('location') ?? '', prover.url), init)
    await writer.write(piece.bytes.subarray(0, 50_000))
    await expect.poll(() => readdir(join(prover.dir, 'pending'))).toHaveLength(1)
    const asked = performance.now()
    const closed = prover.close()
    await writer.write(piece.bytes.subarray(50_000))
    await writer.close()
    expect((await answer).status).toBe(204)
    await closed
    expect(performance.now() - asked).toBeLessThan(4000)
    await prover.close()
    expect(await readdir(join(prover.dir, 'pieces'))).toEqual([piece.pieceCid])
  })
})
