import { toFunctionSelector } from 'viem'
import * as z from 'zod'
import { type AddedPieces, type Authorization, providerIdOf } from './authorization.ts'
import type { ExchangeAnswer } from './exchange.ts'
import { type ProverClient, readLocation, statusOnly } from './prover-client.ts'
import { refused } from './stage-failure.ts'

const CREATED = /^\/pdp\/data-sets\/created\/(0x[0-9a-f]{64})$/
const ADDED = /^\/pdp\/data-sets\/\d{1,20}\/pieces\/added\/(0x[0-9a-f]{64})$/
const TRANSACTION = /^0x[0-9a-f]{64}$/
/** Instead of a transaction whose hash nobody knows: only the data set shows whether it happened. */
export const UNKNOWN_TRANSACTION = 'unknown'
/** A data set of 15,000 pieces. */
const MAX_DATA_SET_BYTES = 4 * 1024 * 1024

/** How provers say that the contract has seen this nonce: its error by name, by selector, and in words. */
const NONCE_USED = new RegExp(
  `ClientDataSetAlreadyRegistered|${toFunctionSelector('ClientDataSetAlreadyRegistered(uint256)')}|extraData was used before`,
  'i',
)

const Creation = z.object({
  dataSetCreated: z.boolean(),
  txStatus: z.string().max(40),
  ok: z.boolean().nullish(),
  dataSetId: z.int().min(0).optional(),
  confirmedTxHash: z.string().regex(TRANSACTION).optional(),
})
/** What a prover says about a data set that it was asked to create. */
export type CreationStatus = z.infer<typeof Creation>
const Added = z.object({
  txStatus: z.string().max(40),
  addMessageOk: z.boolean().nullish(),
  piecesAdded: z.boolean(),
  confirmedPieceIds: z.array(z.int().min(0)).max(1000).optional(),
})
/** What a prover says about pieces that it was asked to add. */
export type AddedStatus = z.infer<typeof Added>
const DataSet = z.object({ pieces: z.array(z.object({ pieceId: z.int().min(0), pieceCid: z.string().max(200) })) })
const NOT_KNOWN: AddedStatus = { txStatus: '', piecesAdded: false }

export interface DataSetCallsOptions {
  readonly client: ProverClient
  readonly authorization: Authorization
  /** For the answer to a request that sends a transaction to a chain. */
  readonly transactionMs: number
}

/** Curio's calls about data sets. Data sets and pieces are named by the ids that the prover knows. */
export class DataSetCalls {
  readonly #client: ProverClient
  readonly #authorization: Authorization
  readonly #times: { readonly headMs: number }

  constructor({ client, authorization, transactionMs }: DataSetCallsOptions) {
    this.#client = client
    this.#authorization = authorization
    this.#times = { headMs: transactionMs }
  }

  /** Creates a data set with these pieces. Resolves to the transaction. */
  async create(pieces: AddedPieces): Promise<string> {
    const { recordKeeper } = this.#authorization
    const extraData = await this.#authorization.creation(pieces)
    const json = { recordKeeper, extraData, pieces: piecesOf(pieces) }
    return this.#client.ask(
      { method: 'POST', path: '/pdp/data-sets/create-and-add', json, times: this.#times },
      statusOnly(201),
      (answer) => readLocation(answer, this.#client.origin, CREATED),
      (answer) => {
        if (!isNonceUsed(answer)) return undefined
        throw refused('The prover created the data set, but the response with its id was lost.')
      },
    )
  }

  /** Adds pieces. Resolves to the transaction, or to {@link UNKNOWN_TRANSACTION} when an earlier one used the nonce. */
  async add(dataSetId: string, pieces: AddedPieces): Promise<string> {
    const extraData = await this.#authorization.addition(dataSetId, pieces)
    const json = { extraData, pieces: piecesOf(pieces) }
    return this.#client.ask(
      { method: 'POST', path: `/pdp/data-sets/${providerIdOf(dataSetId)}/pieces`, json, times: this.#times },
      statusOnly(201),
      (answer) => readLocation(answer, this.#client.origin, ADDED),
      (answer) => (isNonceUsed(answer) ? UNKNOWN_TRANSACTION : undefined),
    )
  }

  creationStatus(transaction: string): Promise<CreationStatus> {
    return this.#client.askJson({ method: 'GET', path: `/pdp/data-sets/created/${transaction}` }, Creation)
  }

  /** Undefined when the prover does not know the addition. */
  async addedStatus(id: string, transaction: string): Promise<AddedStatus | undefined> {
    const path = `/pdp/data-sets/${id}/pieces/added/${transaction}`
    const added = await this.#client.askJson({ method: 'GET', path }, Added, {
      otherwise: ({ status }) => (status === 404 ? NOT_KNOWN : undefined),
    })
    return added === NOT_KNOWN ? undefined : added
  }

  /** The pieces in a data set: the id of each CID, the highest where there are several. */
  async pieceIds(id: string): Promise<ReadonlyMap<string, number>> {
    const question = { method: 'GET', path: `/pdp/data-sets/${id}` } as const
    const { pieces } = await this.#client.askJson(question, DataSet, { maxBytes: MAX_DATA_SET_BYTES })
    const idByCid = new Map<string, number>()
    for (const { pieceCid, pieceId } of pieces) idByCid.set(pieceCid, Math.max(pieceId, idByCid.get(pieceCid) ?? 0))
    return idByCid
  }

  hasPiece(dataSetId: string, pieceId: string): Promise<boolean> {
    return this.#client.ask(
      { method: 'GET', path: piecePath(dataSetId, pieceId) },
      statusOnly(200),
      () => true,
      ({ status }) => (status === 404 ? false : undefined),
    )
  }

  /** Asks to remove a piece. Resolves to false when it is gone already. */
  async remove(nonce: string, dataSetId: string, pieceId: string): Promise<boolean> {
    const extraData = await this.#authorization.removal(nonce, dataSetId, pieceId)
    const json = { extraData, pieceIds: [Number(pieceId)] }
    return this.#client.ask(
      { method: 'DELETE', path: piecePath(dataSetId, pieceId), json, times: this.#times },
      statusOnly(200),
      () => true,
      // The piece is gone, or the whole data set has ended.
      ({ status }) => (status === 404 || status === 409 ? false : undefined),
    )
  }
}

/** @throws {LadeError} `stage_failed` for what is no transaction hash. */
export function requireTransaction(transaction: string): string {
  if (!TRANSACTION.test(transaction)) throw refused('This prover has no such transaction.')
  return transaction
}

function piecesOf({ pieceCids }: AddedPieces) {
  return pieceCids.map((pieceCid) => ({ pieceCid, subPieces: [{ subPieceCid: pieceCid }] }))
}

function piecePath(dataSetId: string, pieceId: string): string {
  return `/pdp/data-sets/${providerIdOf(dataSetId)}/pieces/${pieceId}`
}

function isNonceUsed({ status, body }: ExchangeAnswer): boolean {
  return status >= 400 && NONCE_USED.test(body.toString('utf8'))
}
