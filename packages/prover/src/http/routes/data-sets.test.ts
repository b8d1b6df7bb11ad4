import { describe, expect, test } from 'vitest'
import { pieceOf, startTestProver, type TestPiece } from '../../testing/harness.ts'
import { synapseClient } from '../../testing/synapse-client.ts'

const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'
const PIECES = [pieceOf(127, 1), pieceOf(128, 2), pieceOf(129, 3)] as const
const CIDS = PIECES.map(({ pieceCid }) => pieceCid)

async function startWith(pieces: readonly TestPiece[], options: Parameters<typeof startTestProver>[0] = {}) {
  const prover = await startTestProver(options)
  const client = synapseClient(prover.url)
  for (const { pieceCid, bytes } of pieces) await client.uploadPiece(pieceCid, bytes)
  const ask = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
    const answer = await fetch(`${prover.url}/pdp/data-sets${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, location: answer.headers.get('location') ?? '', text, json: () => JSON.parse(text) }
  }
  return { ...prover, client, ask }
}

const listed = (pieceCid: string) => ({ pieceCid, subPieces: [{ subPieceCid: pieceCid }] })

describe('data sets', () => {
  test('come to be once their transaction is confirmed', async () => {
    let time = 1_000_000
    const { ask, client } = await startWith(PIECES, { now: () => time, confirmDelayMs: 5000 })
    const created = await ask('', { recordKeeper: RECORD_KEEPER, extraData: '0x0a' })
    expect(created).toMatchObject({ status: 201, text: '' })
    const hash = /^\/pdp\/data-sets\/created\/(0x[0-9a-f]{64})$/.exec(created.location)?.[1]
    const about = { createMessageHash: hash, service: 'public' }
    expect((await ask(`/created/${hash}`)).json()).toEqual({
      ...about,
      dataSetCreated: false,
      txStatus: 'pending',
      ok: null,
    })
    expect(await ask('/1')).toMatchObject({ status: 404, text: 'Data set not found\n' })
    expect((await ask('/1/pieces', { extraData: '0x0b', pieces: [] })).status).toBe(404)
    time += 5000
    expect((await ask(`/created/${hash?.slice(2).toUpperCase()}`)).json()).toEqual({
      ...about,
      dataSetCreated: true,
      txStatus: 'confirmed',
      ok: true,
      dataSetId: 1,
      confirmedTxHash: hash,
    })
    expect((await client.getDataSet(1)).pieces).toEqual([])

    const added = await ask('/1/pieces', { extraData: '0x0c', pieces: [listed(CIDS[0] ?? '')] })
    const txHash = /^\/pdp\/data-sets\/1\/pieces\/added\/(0x[0-9a-f]{64})$/.exec(added.location)?.[1]
    const addition = { txHash, dataSetId: 1, pieceCount: 1 }
    expect((await ask(`/1/pieces/added/${txHash}`)).json()).toEqual({
      ...addition,
      txStatus: 'pending',
      addMessageOk: null,
      piecesAdded: false,
    })
    expect((await client.getDataSet(1)).pieces).toEqual([])
    time += 5000
    expect((await ask(`/1/pieces/added/${txHash}`)).json()).toEqual({
      ...addition,
      txStatus: 'confirmed',
      addMessageOk: true,
      piecesAdded: true,
      confirmedPieceIds: [0],
      confirmedTxHash: txHash,
    })
    expect((await ask('/1/pieces/0')).json()).toEqual({
      pieceId: 0,
      pieceCid: CIDS[0],
      subPieces: [{ subPieceCid: CIDS[0], subPieceOffset: 0 }],
    })
  })

  test('take signed data once', async () => {
    const { client } = await startWith(PIECES)
    await client.createDataSet(RECORD_KEEPER, '0x0A')
    await expect(client.createDataSetAndAddPieces(RECORD_KEEPER, '0x0a', CIDS)).rejects.toThrow('reverted')
    await client.addPieces(1, '0x0b', CIDS.slice(0, 1))
    await expect(client.addPieces(1, '0x0b', CIDS.slice(0, 1))).rejects.toMatchObject({ status: 500 })
    expect((await client.getDataSet(1)).pieces).toHaveLength(1)
    await client.addPieces(1, '0x', CIDS.slice(1))
    await client.addPieces(1, '0x', CIDS.slice(1))
    expect((await client.getDataSet(1)).pieces.map(({ pieceId }) => pieceId)).toEqual([0, 1, 2, 3, 4])
  })

  test('are answered again as at first when the request that made them is repeated', async () => {
    const { client, ask } = await startWith(PIECES)
    const body = { recordKeeper: RECORD_KEEPER, extraData: '0x0a', pieces: CIDS.map(listed) }
    const [first, second] = [await ask('/create-and-add', body), await ask('/create-and-add', body)]
    expect([second.status, second.location]).toEqual([201, first.location])
    for (const other of [CIDS.slice(1), CIDS.toReversed(), []]) {
      const answer = await ask(other.length === 0 ? '' : '/create-and-add', { ...body, pieces: other.map(listed) })
      expect(answer).toMatchObject({ status: 500, text: expect.stringContaining('extraData was used before') })
    }
    expect((await client.getDataSet(1)).pieces).toHaveLength(3)
    expect((await ask('/2')).status).toBe(404)
  })

  test('and their pieces are never there when the chain rejects the transaction', async () => {
    const rejected = new Set<string>()
    const { client, ask } = await startWith(PIECES, { faults: { isRejected: (hash) => rejected.has(hash) } })
    const create = async (extraData: string) => {
      const { location } = await ask('', { recordKeeper: RECORD_KEEPER, extraData })
      return location.split('/').pop() ?? ''
    }
    const lost = await create('0x01')
    rejected.add(lost)
    expect((await ask(`/created/${lost}`)).json()).toMatchObject({
      dataSetCreated: false,
      txStatus: 'rejected',
      ok: false,
    })
    expect((await ask('/1')).status).toBe(404)
    await create('0x01')
    const { location } = await ask('/2/pieces', { extraData: '0x02', pieces: CIDS.map(listed) })
    rejected.add(location.split('/').pop() ?? '')
    expect((await ask(location.replace('/pdp/data-sets', ''))).json()).toMatchObject({
      txStatus: 'rejected',
      addMessageOk: false,
    })
    expect((await client.getDataSet(2)).pieces).toEqual([])
    expect(await client.addPieces(2, '0x02', CIDS.slice(1))).toMatchObject({ confirmedPieceIds: [3, 4] })
  })

  test('lose a piece whose removal the chain rejected when it is asked for again', async () => {
    const rejected = new Set<string>()
    const { client } = await startWith(PIECES, { faults: { isRejected: (hash) => rejected.has(hash) } })
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', CIDS)
    rejected.add(await client.deletePieces(1, '0x02', [0]))
    expect((await client.getDataSet(1)).pieces).toHaveLength(3)
    await client.deletePieces(1, '0x02', [0])
    expect((await client.getDataSet(1)).pieces).toHaveLength(2)
  })

  test('say that an addition was asked for before although its pieces are lost since', async () => {
    let isLost = false
    const { client, ask } = await startWith(PIECES, {
      faults: { piece: () => (isLost ? { kind: 'lost' } : undefined) },
    })
    const body = { recordKeeper: RECORD_KEEPER, extraData: '0x0a', pieces: CIDS.map(listed) }
    const { location } = await ask('/create-and-add', body)
    await client.addPieces(1, '0x0b', CIDS.slice(0, 1))
    isLost = true
    expect(await ask('/create-and-add', body)).toMatchObject({ status: 201, location })
    await expect(client.addPieces(1, '0x0b', CIDS.slice(0, 1))).rejects.toMatchObject({ status: 500 })
    await expect(client.addPieces(1, '0x0c', CIDS.slice(0, 1))).rejects.toMatchObject({ status: 400 })
  })

  test('get ids of their own when many are created at once', async () => {
    const { client } = await startWith(PIECES)
    const creations = Array.from({ length: 10 }, (_, index) =>
      client.createDataSetAndAddPieces(RECORD_KEEPER, `0x0${index}`, CIDS),
    )
    const ids = (await Promise.all(creations)).map(({ dataSetId }) => dataSetId)
    expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('lose the pieces that are removed', async () => {
    const { client, ask } = await startWith(PIECES)
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', CIDS)
    await client.deletePieces(1, '0x02', [0, 2])
    expect((await client.getDataSet(1)).pieces).toMatchObject([{ pieceId: 1, pieceCid: CIDS[1] }])
    await expect(client.deletePieces(1, '0x03', [1, 2])).rejects.toThrow('One or more piece not found')
    expect(await ask('/1/pieces/1', { extraData: '0x04' }, 'DELETE')).toMatchObject({ status: 200 })
    expect((await client.getDataSet(1)).pieces).toEqual([])
    const tooMany = { extraData: '0x05', pieceIds: Array.from({ length: 36 }, (_, id) => id) }
    expect((await ask('/1/pieces/0', tooMany, 'DELETE')).status).toBe(400)
  })

  test('refuse pieces that are not held, none, more than forty, and such as are made of others', async () => {
    const { ask } = await startWith(PIECES)
    const [held = ''] = CIDS
    const missing = pieceOf(500).pieceCid
    const refused = [
      [[listed(missing)], /subPiece CID .* not found/],
      [[], /^At least one piece must be provided/],
      [Array(41).fill(listed(held)), /^more than 40 pieces at once/],
      [[{ pieceCid: held, subPieces: [...listed(held).subPieces, ...listed(held).subPieces] }], /only subPiece/],
      [[{ pieceCid: held, subPieces: listed(CIDS[1] ?? '').subPieces }], /only subPiece/],
      [[listed(PIECES[0].pieceCidV1)], /invalid pieceCid/],
    ] as const
    for (const [pieces, text] of refused) {
      const answer = await ask('/create-and-add', { recordKeeper: RECORD_KEEPER, extraData: '0x01', pieces })
      expect(answer).toMatchObject({ status: 400, text: expect.stringMatching(text) })
    }
    expect((await ask('', { recordKeeper: '0x12', extraData: '0x' })).status).toBe(400)
    expect((await ask('', { recordKeeper: RECORD_KEEPER, extraData: '0x1' })).status).toBe(400)
  })

  test('end at the wish of their client', async () => {
    let time = 60_000
    const { client, ask } = await startWith(PIECES, { now: () => time })
    await client.createDataSet(RECORD_KEEPER, '0x01')
    expect(await ask('/1/terminate')).toMatchObject({ status: 404, text: 'Termination not found\n' })
    expect((await ask('/1/terminate', { extraData: '0x' })).status).toBe(400)
    expect((await client.terminateService(1, '0x02')).status).toBe(202)
    const status = (await ask('/1/terminate')).json()
    expect(status).toMatchObject({ fwssTerminated: true, serviceTerminationEpoch: 2 })
    expect(status.confirmedTxHash).toBe(status.terminationTxHash)
    time += 30_000
    const again = await ask('/1/terminate', { extraData: '0x03' })
    expect([again.status, again.json()]).toEqual([
      409,
      { code: 0, message: 'already terminated', serviceTerminationEpoch: 2 },
    ])
    await expect(client.addPieces(1, '0x04', CIDS)).rejects.toMatchObject({ status: 409 })
  })

  test('say that a termination is under way', async () => {
    let time = 0
    const { client, ask } = await startWith([], { now: () => time, confirmDelayMs: 1000 })
    const { location } = await ask('', { recordKeeper: RECORD_KEEPER })
    expect(location).not.toBe('')
    time += 1000
    await client.terminateService(1, '0x02')
    expect((await ask('/1/terminate')).json()).toMatchObject({ fwssTerminated: null, serviceTerminationEpoch: null })
    const again = await ask('/1/terminate', { extraData: '0x03' })
    expect(again.json()).toEqual({ code: 1, message: 'termination queued', serviceTerminationEpoch: null })
  })

  test('answer 404 and 400 in plain text to what is unknown and what is no id', async () => {
    const { ask } = await startWith([])
    expect((await ask('/7')).text).toBe('Data set not found\n')
    expect((await ask('/x')).text).toBe('Invalid data set ID format\n')
    expect((await ask('/created/0x12')).text).toBe('Invalid txHash length\n')
    expect((await ask(`/created/0x${'g'.repeat(64)}`)).text).toBe('Invalid txHash format\n')
    expect((await ask(`/created/0x${'0'.repeat(64)}`)).text).toBe('Data set creation not found for given txHash\n')
  })
})
