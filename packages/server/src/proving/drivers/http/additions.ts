import type { Addition, AdditionProgress, Prover, StoredPiece } from '../../prover.ts'
import { providerIdOf } from './authorization.ts'
import {
  type AddedStatus,
  DataSetCalls,
  type DataSetCallsOptions,
  requireTransaction,
  UNKNOWN_TRANSACTION,
} from './data-set-calls.ts'
import { refused, unusable } from './stage-failure.ts'

/** The part of `Prover` that is about data sets. */
export function additionsAt(options: DataSetCallsOptions): Pick<Prover, 'add' | 'progress' | 'remove'> {
  const calls = new DataSetCalls(options)
  const { authorization } = options

  async function add({ dataSetId, ...pieces }: Addition): Promise<string> {
    return dataSetId === null ? calls.create(pieces) : calls.add(dataSetId, pieces)
  }

  async function progress(addition: Addition & { readonly transaction: string }): Promise<AdditionProgress> {
    const { nonce, dataSetId, pieceCids, transaction } = addition
    if (dataSetId === null) return creationProgress(nonce, pieceCids, requireTransaction(transaction))
    if (transaction !== UNKNOWN_TRANSACTION) {
      return additionProgress(dataSetId, pieceCids, requireTransaction(transaction))
    }
    const found = await foundIn(dataSetId, pieceCids)
    if (found !== undefined) return found
    // The transaction that used the nonce may have been rejected since, and would never show. The prover reports a nonce that is still used.
    const again = await add(addition)
    return again === UNKNOWN_TRANSACTION ? { state: 'pending' } : { state: 'pending', transaction: again }
  }

  async function creationProgress(
    nonce: string,
    pieceCids: readonly string[],
    transaction: string,
  ): Promise<AdditionProgress> {
    const creation = await calls.creationStatus(transaction)
    const { txStatus, ok, dataSetId: id, confirmedTxHash = transaction } = creation
    if (isRejected(txStatus, ok)) return rejected()
    if (!creation.dataSetCreated || id === undefined) return { state: 'pending' }
    // A transaction that was replaced is known by its first hash, and to some provers by its last.
    const added =
      (await calls.addedStatus(String(id), transaction)) ?? (await calls.addedStatus(String(id), confirmedTxHash))
    if (added === undefined) return { state: 'pending' }
    return progressOf(added, authorization.dataSetId(nonce, id), pieceCids)
  }

  async function additionProgress(
    dataSetId: string,
    pieceCids: readonly string[],
    transaction: string,
  ): Promise<AdditionProgress> {
    const added = await calls.addedStatus(providerIdOf(dataSetId), transaction)
    const said = added && progressOf(added, dataSetId, pieceCids)
    if (said !== undefined && said.state !== 'rejected') return said
    // The chain accepts one of two transactions with the same nonce, and it may have been the other.
    const progress = (await foundIn(dataSetId, pieceCids)) ?? said
    if (progress === undefined) throw refused('The prover does not know the addition.')
    return progress
  }

  /** The pieces as confirmed, by the content of the data set; undefined unless all of them are in it. */
  async function foundIn(dataSetId: string, pieceCids: readonly string[]): Promise<AdditionProgress | undefined> {
    const idByCid = await calls.pieceIds(providerIdOf(dataSetId))
    const pieceIds = pieceCids.map((pieceCid) => idByCid.get(pieceCid))
    if (!pieceIds.every((pieceId) => pieceId !== undefined)) return undefined
    return { state: 'confirmed', dataSetId, pieceIds: pieceIds.map(String) }
  }

  async function remove({ nonce, dataSetId, pieceId }: StoredPiece & { readonly nonce: string }) {
    if (!/^\d{1,15}$/.test(pieceId)) throw refused('This prover has no such piece.')
    // Asking to remove what is gone would cost the prover a transaction.
    if (!(await calls.hasPiece(dataSetId, pieceId))) return 'gone'
    return (await calls.remove(nonce, dataSetId, pieceId)) ? 'asked' : 'gone'
  }

  return { add, progress, remove }
}

function progressOf(added: AddedStatus, dataSetId: string, pieceCids: readonly string[]): AdditionProgress {
  const { txStatus, addMessageOk, confirmedPieceIds } = added
  if (isRejected(txStatus, addMessageOk)) return rejected()
  if (!added.piecesAdded || confirmedPieceIds === undefined) return { state: 'pending' }
  if (confirmedPieceIds.length !== pieceCids.length)
    throw unusable('The prover reports a different number of pieces than were added.')
  return { state: 'confirmed', dataSetId, pieceIds: confirmedPieceIds.map(String) }
}

/** Curio says `failed`, or `confirmed` and that it was no success; its clients also know `rejected`. */
function isRejected(txStatus: string, isOk: boolean | null | undefined): boolean {
  return isOk === false || txStatus === 'rejected' || txStatus === 'failed'
}

function rejected(): AdditionProgress {
  return { state: 'rejected', reason: 'The chain rejected the transaction.' }
}
