import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod'
import type { DataSet } from '../../data-sets/data-set.ts'
import type { AddedPieces, Sent } from '../../data-sets/data-sets.ts'
import { Address, Hex, readBody, readId, readPieceName, readTxHash } from '../json-body.ts'
import { Refusal } from '../refusal.ts'
import { findPiece, type ProverService } from '../service.ts'

/** More would not fit into one transaction. */
const MAX_ADDED = 40
const MAX_REMOVED = 35

const ExtraData = Hex.optional().default('')
const Pieces = z.array(
  z.object({ pieceCid: z.string(), subPieces: z.array(z.object({ subPieceCid: z.string() })).min(1) }),
)
const CreateBody = z.object({ recordKeeper: Address, extraData: ExtraData })
const AddBody = z.object({ extraData: ExtraData, pieces: Pieces })
const CreateAndAddBody = CreateBody.extend({ pieces: Pieces })
const RemoveBody = z.object({ extraData: ExtraData, pieceIds: z.array(z.int().min(0)).optional() })

interface OfDataSet {
  readonly Params: { readonly id: string }
}
interface OfTransaction {
  readonly Params: { readonly id: string; readonly tx: string }
}
interface OfPiece {
  readonly Params: { readonly id: string; readonly pieceId: string }
}

/** Data sets and the pieces in them. Transactions are fake and confirm by themselves. */
export function dataSetRoutes(app: FastifyInstance, service: ProverService): void {
  const { dataSets } = service

  app.post('/pdp/data-sets', async (request, reply) => {
    const body = readBody(CreateBody, request.body)
    return sendCreated(reply, await dataSets.create({ ...body, pieceCids: [] }))
  })

  app.post('/pdp/data-sets/create-and-add', async (request, reply) => {
    const body = readBody(CreateAndAddBody, request.body)
    return sendCreated(reply, await dataSets.create({ ...body, ...readPieces(service, body.pieces) }))
  })

  app.get<OfTransaction>('/pdp/data-sets/created/:tx', async (request) => {
    const hash = readTxHash(request.params.tx)
    const dataSet = dataSets.findCreation(hash)
    if (dataSet === undefined) throw plain(404, 'Data set creation not found for given txHash')
    const about = { createMessageHash: hash, service: 'public' }
    if (dataSets.isRejected(dataSet.creation)) {
      return { ...about, dataSetCreated: false, txStatus: 'rejected', ok: false }
    }
    if (!dataSets.isConfirmed(dataSet.creation)) {
      return { ...about, dataSetCreated: false, txStatus: 'pending', ok: null }
    }
    const confirmed = { txStatus: 'confirmed', ok: true, dataSetId: dataSet.id, confirmedTxHash: hash }
    return { ...about, dataSetCreated: true, ...confirmed }
  })

  app.get<OfDataSet>('/pdp/data-sets/:id', async (request) => {
    const dataSet = findDataSet(service, request.params.id)
    const pieces = dataSets
      .livePieces(dataSet)
      .map(({ pieceId, pieceCid }) => ({ pieceId, pieceCid, subPieceCid: pieceCid, subPieceOffset: 0 }))
    return { id: dataSet.id, pieces, nextChallengeEpoch: 0 }
  })

  app.post<OfDataSet>('/pdp/data-sets/:id/pieces', async (request, reply) => {
    const { id } = findDataSet(service, request.params.id)
    const { extraData, pieces } = readBody(AddBody, request.body)
    const txHash = txHashOf(await dataSets.addPieces(id, { extraData, ...readPieces(service, pieces) }))
    return reply.code(201).header('location', `/pdp/data-sets/${id}/pieces/added/${txHash}`).send()
  })

  app.get<OfTransaction>('/pdp/data-sets/:id/pieces/added/:tx', async (request) => {
    const txHash = readTxHash(request.params.tx)
    const { id: dataSetId, additions } = findDataSet(service, request.params.id)
    const addition = additions.find(({ transaction }) => transaction.hash === txHash)
    if (addition === undefined) throw plain(404, 'Piece addition not found for given transaction')
    const { transaction, pieceIds } = addition
    const about = { txHash, dataSetId, pieceCount: pieceIds.length }
    if (dataSets.isRejected(transaction))
      return { ...about, txStatus: 'rejected', addMessageOk: false, piecesAdded: false }
    if (!dataSets.isConfirmed(transaction))
      return { ...about, txStatus: 'pending', addMessageOk: null, piecesAdded: false }
    const confirmed = { txStatus: 'confirmed', confirmedPieceIds: pieceIds, confirmedTxHash: txHash }
    return { ...about, ...confirmed, addMessageOk: true, piecesAdded: true }
  })

  app.get<OfPiece>('/pdp/data-sets/:id/pieces/:pieceId', async (request) => {
    const dataSet = findDataSet(service, request.params.id)
    const pieceId = readId(request.params.pieceId, 'piece')
    const piece = dataSets.livePieces(dataSet).find((piece) => piece.pieceId === pieceId)
    if (piece === undefined) throw plain(404, 'Piece not found')
    const { pieceCid } = piece
    return { pieceId, pieceCid, subPieces: [{ subPieceCid: pieceCid, subPieceOffset: 0 }] }
  })

  app.delete<OfPiece>('/pdp/data-sets/:id/pieces/:pieceId', async (request) => {
    const dataSet = findDataSet(service, request.params.id)
    const pieceId = readId(request.params.pieceId, 'piece')
    const { extraData, pieceIds: asked = [] } = readBody(RemoveBody, request.body)
    // The body's wins where it has any, as in Curio.
    const pieceIds = [...new Set(asked.length === 0 ? [pieceId] : asked)]
    if (pieceIds.length > MAX_REMOVED) throw plain(400, `more than ${MAX_REMOVED} pieces at once`)
    const live = new Set(dataSets.livePieces(dataSet).map((piece) => piece.pieceId))
    if (pieceIds.some((pieceId) => !live.has(pieceId))) throw plain(404, 'One or more piece not found')
    return { txHash: txHashOf(await dataSets.removePieces(dataSet.id, { extraData, pieceIds })) }
  })
}

/** @throws {Refusal} 400 for what is no id, 404 for what is no data set yet. */
export function findDataSet({ dataSets }: ProverService, id: string): DataSet {
  const dataSet = dataSets.get(readId(id, 'data set'))
  if (dataSet === undefined) throw plain(404, 'Data set not found')
  return dataSet
}

/** @throws {Refusal} the status that Curio and the chain behind it would answer. */
export function txHashOf(sent: Sent): string {
  if ('txHash' in sent) return sent.txHash
  const { refused } = sent
  if (refused === 'unknown') throw plain(404, 'Data set not found')
  if (refused === 'terminated') throw plain(409, 'data set has been terminated')
  throw new Refusal(500, 'Failed to send transaction: execution reverted: this extraData was used before')
}

function sendCreated(reply: FastifyReply, sent: Sent): FastifyReply {
  return reply
    .code(201)
    .header('location', `/pdp/data-sets/created/${txHashOf(sent)}`)
    .send()
}

/** The pieces to add, which `check` finds held. Pieces put together from several are not taken: not all can be proven. */
function readPieces(service: ProverService, pieces: z.infer<typeof Pieces>): Pick<AddedPieces, 'pieceCids' | 'check'> {
  if (pieces.length === 0) throw new Refusal(400, 'At least one piece must be provided')
  if (pieces.length > MAX_ADDED) throw new Refusal(400, `more than ${MAX_ADDED} pieces at once`)
  const pieceCids = pieces.map((piece) => {
    const { pieceCid } = readPieceName(piece.pieceCid)
    const subPieces = piece.subPieces.map(
      ({ subPieceCid }) => readPieceName(subPieceCid, 'Invalid subPieceCid').pieceCid,
    )
    if (subPieces.length !== 1 || subPieces[0] !== pieceCid) {
      throw new Refusal(400, 'Failed to process request: a piece has itself as its only subPiece here')
    }
    return pieceCid
  })
  const check = (): void => {
    const missing = pieceCids.find((pieceCid) => findPiece(service, pieceCid) === undefined)
    if (missing === undefined) return
    const reason = `subPiece CID ${missing} not found or does not belong to service public`
    throw new Refusal(400, `Failed to process request: failed to validate subPieces: ${reason}`)
  }
  return { pieceCids, check }
}

function plain(status: number, message: string): Refusal {
  return new Refusal(status, message, { hasEventId: false })
}
