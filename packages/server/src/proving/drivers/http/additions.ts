import { toFunctionSelector } from 'viem'
import * as z from 'zod'
import type { Addition, AdditionProgress, StoredPiece } from '../../prover.ts'
import { type Authorization, providerIdOf } from './authorization.ts'
import type { ExchangeAnswer } from './exchange.ts'
import { type ProverClient, readLocation, statusOnly } from './prover-client.ts'
import { refused, unusable } from './stage-failure.ts'

const CREATED = /^\/pdp\/data-sets\/created\/(0x[0-9a-f]{64})$/
const ADDED = /^\/pdp\/data-sets\/\d{1,20}\/pieces\/added\/(0x[0-9a-f]{64})$/
const TRANSACTION = /^0x[0-9a-f]{64}$/
/** In place of a transaction whose hash nobody knows: the data set itself shows whether it happened. */
const UNKNOWN = 'unknown'
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
const Added = z.object({
  txStatus: z.string().max(40),
  addMessageOk: z.boolean().nullish(),
  piecesAdded: z.boolean(),
  confirmedPieceIds: z.array(z.int().min(0)).max(1000).optional(),
})
type Added = z.infer<typeof Added>
const DataSet = z.object({ pieces: z.array(z.object({ pieceId: z.int().min(0), pieceCid: z.string().max(200) })) })

export interface AdditionsOptions {
  readonly client: ProverClient
  readonly authorization: Authorization
  /** For the answer to a request that sends a transaction to a chain. */
  readonly transactionMs: number
}

/** The part of `Prover` that is about data sets. */
export function additionsAt({ client, authorization, transactionMs }: AdditionsOptions) {
  const times = { headMs: transactionMs }

  async function add({ nonce, dataSetId, pieceCids }: Addition): Promise<string> {
    const pieces = pieceCids.map((pieceCid) => ({ pieceCid, subPieces: [{ subPieceCid: pieceCid }] }))
    if (dataSetId === null) {
      const extraData = await authorization.creation(nonce, pieceCids)
      const json = { recordKeeper: authorization.recordKeeper, extraData, pieces }
      return client.ask(
        { method: 'POST', path: '/pdp/data-sets/create-and-add', json, times },
        statusOnly(201),
        (answer) => readLocation(answer, client.origin, CREATED),
        (answer) => {
          if (!isNonceUsed(answer)) return undefined
          throw refused('The prover created the data set, but the response with its id was lost.')
        },
      )
    }
    const extraData = await authorization.addition(nonce, dataSetId, pieceCids)
    return client.ask(
      { method: 'POST', path: `/pdp/data-sets/${providerIdOf(dataSetId)}/pieces`, json: { extraData, pieces }, times },
      statusOnly(201),
      (answer) => readLocation(answer, client.origin, ADDED),
      (answer) => (isNonceUsed(answer) ? UNKNOWN : undefined),
    )
  }

  async function progress(addition: Addition & { readonly transaction: string }): Promise<AdditionProgress> {
    const { nonce, dataSetId, transaction } = addition
    if (dataSetId === null) return creationProgress(nonce, addition.pieceCids, readTransaction(transaction))
    const id = providerIdOf(dataSetId)
    if (transaction !== UNKNOWN) {
      const added = await askAdded(id, readTransaction(transaction))
      const state = added && stateOf(added, dataSetId, addition.pieceCids)
      if (state !== undefined && state.state !== 'rejected') return state
      // Of two with one nonce the chain takes one, and it may have been the other.
      const other = (await found(id, dataSetId, addition.pieceCids)) ?? state
      if (other === undefined) throw refused('The prover does not know the addition.')
      return other
    }
    const there = await found(id, dataSetId, addition.pieceCids)
    if (there !== undefined) return there
    // What took the nonce may have been rejected since, and then nothing would ever be seen of it. A nonce still taken is said again.
    const again = await add(addition)
    return again === UNKNOWN ? { state: 'pending' } : { state: 'pending', transaction: again }
  }

  async function creationProgress(
    nonce: string,
    pieceCids: readonly string[],
    transaction: string,
  ): Promise<AdditionProgress> {
    const path = `/pdp/data-sets/created/${transaction}`
    const creation = await client.askJson({ method: 'GET', path }, Creation)
    const { txStatus, ok, dataSetId: id, confirmedTxHash = transaction } = creation
    if (isRejected(txStatus, ok)) return rejected()
    if (!creation.dataSetCreated || id === undefined) return { state: 'pending' }
    // A transaction that was replaced is asked for by its first hash, and by some provers by its last.
    const added = (await askAdded(String(id), transaction)) ?? (await askAdded(String(id), confirmedTxHash))
    if (added === undefined) return { state: 'pending' }
    return stateOf(added, authorization.dataSetId(nonce, id), pieceCids)
  }

  /** Undefined when the prover knows of no such addition. */
  async function askAdded(id: string, transaction: string): Promise<Added | undefined> {
    const path = `/pdp/data-sets/${id}/pieces/added/${transaction}`
    const added = await client.askJson({ method: 'GET', path }, Added, {
      otherwise: ({ status }) => (status === 404 ? NOT_KNOWN : undefined),
    })
    return added === NOT_KNOWN ? undefined : added
  }

  /** The pieces, as they stand in the data set; undefined when not all of them do. */
  async function found(
    id: string,
    dataSetId: string,
    pieceCids: readonly string[],
  ): Promise<AdditionProgress | undefined> {
    const question = { method: 'GET', path: `/pdp/data-sets/${id}` } as const
    const { pieces } = await client.askJson(question, DataSet, { maxBytes: MAX_DATA_SET_BYTES })
    const idByCid = new Map<string, number>()
    for (const { pieceCid, pieceId } of pieces) idByCid.set(pieceCid, Math.max(pieceId, idByCid.get(pieceCid) ?? 0))
    const pieceIds = pieceCids.map((pieceCid) => idByCid.get(pieceCid))
    if (!pieceIds.every((pieceId) => pieceId !== undefined)) return undefined
    return { state: 'confirmed', dataSetId, pieceIds: pieceIds.map(String) }
  }

  async function remove({ nonce, dataSetId, pieceId }: StoredPiece & { readonly nonce: string }) {
    if (!/^\d{1,15}$/.test(pieceId)) throw refused('This prover has no such piece.')
    const path = `/pdp/data-sets/${providerIdOf(dataSetId)}/pieces/${pieceId}`
    // Asking for what is done would cost the prover a transaction.
    const isThere = await client.ask(
      { method: 'GET', path },
      statusOnly(200),
      () => true,
      ({ status }) => (status === 404 ? false : undefined),
    )
    if (!isThere) return 'gone'
    const extraData = await authorization.removal(nonce, dataSetId, pieceId)
    const isAsked = await client.ask(
      { method: 'DELETE', path, json: { extraData, pieceIds: [Number(pieceId)] }, times },
      statusOnly(200),
      () => true,
      // Not there any more, or the whole data set has ended.
      ({ status }) => (status === 404 || status === 409 ? false : undefined),
    )
    return isAsked ? 'asked' : 'gone'
  }

  return { add, progress, remove }
}

const NOT_KNOWN: Added = { txStatus: '', piecesAdded: false }

function stateOf(added: Added, dataSetId: string, pieceCids: readonly string[]): AdditionProgress {
  const { txStatus, addMessageOk, confirmedPieceIds } = added
  if (isRejected(txStatus, addMessageOk)) return rejected()
  if (!added.piecesAdded || confirmedPieceIds === undefined) return { state: 'pending' }
  if (confirmedPieceIds.length !== pieceCids.length)
    throw unusable('The number of pieces that it reports differs from the number that was added.')
  return { state: 'confirmed', dataSetId, pieceIds: confirmedPieceIds.map(String) }
}

/** Curio says `failed`, or `confirmed` and that it was no success; its clients also know `rejected`. */
function isRejected(txStatus: string, isOk: boolean | null | undefined): boolean {
  return isOk === false || txStatus === 'rejected' || txStatus === 'failed'
}

function rejected(): AdditionProgress {
  return { state: 'rejected', reason: 'The chain rejected the transaction.' }
}

function isNonceUsed({ status, body }: ExchangeAnswer): boolean {
  return status >= 400 && NONCE_USED.test(body.toString('utf8'))
}

function readTransaction(transaction: string): string {
  if (!TRANSACTION.test(transaction)) throw refused('This prover has no such transaction.')
  return transaction
}
