/** The storage provider client of `@filoz/synapse-core` as it is published, against this prover. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calibration } from '@filoz/synapse-core/chains'
import { type PieceCID, parse } from '@filoz/synapse-core/piece'
import * as sp from '@filoz/synapse-core/sp'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pieceOf, startTestProver, type TestPiece } from './testing/harness.ts'

const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Signs by its own key. There is no chain: whatever asks one fails. */
const client = createClient({
  account: privateKeyToAccount(`0x${'11'.repeat(32)}`),
  chain: calibration,
  transport: custom({ request: () => Promise.reject(new Error('no chain is asked')) }),
})

type Creation = sp.createDataSetAndAddPieces.OptionsType

const cidOf = ({ pieceCid }: TestPiece): PieceCID => parse(pieceCid)

async function startWith(pieces: readonly TestPiece[]) {
  const prover = await startTestProver({ privateHosts: ['127.0.0.1:*'] })
  const serviceURL = prover.url
  for (const piece of pieces) await sp.uploadPiece({ serviceURL, pieceCid: cidOf(piece), data: piece.bytes })
  return serviceURL
}

describe('the client of @filoz/synapse-core', () => {
  test('uploads pieces in both ways, finds them and retrieves them', async () => {
    const [named, streamed] = [pieceOf(1000, 1), pieceOf(300_000, 3)]
    const serviceURL = await startWith([named, named])
    expect((await sp.ping(serviceURL)).status).toBe(200)
    const sent = await sp.uploadPieceStreaming({ serviceURL, data: streamed.bytes })
    expect([sent.pieceCid.toString(), sent.size]).toEqual([streamed.pieceCid, 300_000])
    for (const piece of [named, streamed]) {
      const found = await sp.findPiece({ serviceURL, pieceCid: cidOf(piece) })
      expect(found.toString()).toBe(piece.pieceCid)
      const answer = await fetch(`${serviceURL}/piece/${piece.pieceCid}`)
      expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), piece.bytes)).toBe(0)
    }
    await expect(sp.findPiece({ serviceURL, pieceCid: cidOf(pieceOf(500, 5)) })).rejects.toThrow('404 page not found')
    const wrong = sp.uploadPieceStreaming({ serviceURL, data: named.bytes, pieceCid: cidOf(streamed) })
    await expect(wrong).rejects.toThrow(/pieceCid size does not match/)
  })

  test('makes data sets, adds pieces to them and takes pieces out', async () => {
    const pieces = [pieceOf(500, 1), pieceOf(501, 3), pieceOf(502, 5)]
    const serviceURL = await startWith(pieces)
    const [first, ...more] = pieces.map((piece) => ({ pieceCid: cidOf(piece) }))
    if (first === undefined) throw new Error('there are three')
    const waits = { pollInterval: 10 }

    const creation = { serviceURL, payee: PAYEE, pieces: [first], clientDataSetId: 7n } satisfies Creation
    const created = await sp.createDataSetAndAddPieces(client, creation)
    const made = await sp.waitForCreateDataSetAddPieces({ statusUrl: created.statusUrl, ...waits })
    expect(made).toMatchObject({ hash: created.txHash, dataSetId: 1n, piecesIds: [0n] })

    const addition = { serviceURL, dataSetId: 1n, clientDataSetId: 7n, pieces: more, nonce: 9n }
    const added = await sp.addPieces(client, addition)
    const status = await sp.waitForAddPieces({ statusUrl: added.statusUrl, ...waits })
    expect(status).toMatchObject({ txHash: added.txHash, dataSetId: 1n, pieceCount: 2, confirmedPieceIds: [1n, 2n] })
    await expect(sp.addPieces(client, addition)).rejects.toThrow(/was used before/)

    const removal = { serviceURL, dataSetId: 1n, clientDataSetId: 7n, pieceId: 1n }
    expect((await sp.schedulePieceDeletion(client, removal)).hash).toMatch(/^0x[0-9a-f]{64}$/)
    const dataSet = await sp.getDataSet({ serviceURL, dataSetId: 1n })
    expect(dataSet.pieces.map(({ pieceId, pieceCid }) => [pieceId, pieceCid.toString()])).toEqual([
      [0n, pieces[0]?.pieceCid],
      [2n, pieces[2]?.pieceCid],
    ])

    const empty = await sp.createDataSet(client, { serviceURL, payee: PAYEE, cdn: false })
    expect(await sp.waitForCreateDataSet({ statusUrl: empty.statusUrl, ...waits })).toMatchObject({ dataSetId: 2n })
  })

  test('has pieces pulled', async () => {
    const piece = pieceOf(100_000, 7)
    const source = createServer((_, response) => void response.end(piece.bytes))
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void source.close())
    const sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}/piece/${piece.pieceCid}`
    const serviceURL = await startWith([])
    const pieces = [{ pieceCid: cidOf(piece), sourceUrl }]
    const pulled = await sp.waitForPullPieces(client, { serviceURL, payee: PAYEE, pieces, pollInterval: 10 })
    expect(pulled).toEqual({ status: 'complete', pieces: [{ pieceCid: piece.pieceCid, status: 'complete' }] })
    expect((await sp.findPiece({ serviceURL, pieceCid: cidOf(piece) })).toString()).toBe(piece.pieceCid)
  })
})
