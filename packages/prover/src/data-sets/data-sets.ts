import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurableDirectory } from '@lade/server/durable-directory'
import { replaceFile } from '../disk/durable-files.ts'
import { type DataSet, DataSetSchema, type Transaction } from './data-set.ts'

const FILE = /^(\d+)\.json$/

export interface DataSetsOptions {
  /** Absolute. */
  readonly dir: string
  readonly now: () => number
  /** How long a transaction stays pending. */
  readonly confirmDelayMs: number
}

/** What a change came to: the transaction's hash, or why there is none. */
export type Sent = { readonly txHash: string } | { readonly refused: 'reused' | 'unknown' | 'terminated' }

/**
 * Data sets, as a provider and the chain behind it keep them; a file each, replaced as a whole with every change.
 *
 * There is no chain. A transaction gets a random hash and is confirmed after a while; until then what it does is not seen.
 * As on the chain, signed data is good for one transaction: the same extraData a second time is refused.
 */
export class DataSets {
  readonly #dir: string
  readonly #now: () => number
  readonly #confirmDelayMs: number
  readonly #byId = new Map<number, DataSet>()
  /** Changes are made one after another: each is decided by what the one before wrote. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor({ dir, now, confirmDelayMs }: DataSetsOptions) {
    this.#dir = dir
    this.#now = now
    this.#confirmDelayMs = confirmDelayMs
  }

  /** @throws {Error} when a file is not a data set's. */
  static async open(options: DataSetsOptions): Promise<DataSets> {
    const dataSets = new DataSets(options)
    await createDurableDirectory(options.dir)
    for (const file of await readdir(options.dir)) {
      // A change that did not come to its end.
      if (file.endsWith('.pending')) await rm(join(options.dir, file))
      if (!FILE.test(file)) continue
      const dataSet = DataSetSchema.parse(JSON.parse(await readFile(join(options.dir, file), 'utf8')))
      dataSets.#byId.set(dataSet.id, dataSet)
    }
    return dataSets
  }

  /** A data set that has come to be. */
  get(id: number): DataSet | undefined {
    const dataSet = this.#byId.get(id)
    return dataSet !== undefined && this.isConfirmed(dataSet.creation) ? dataSet : undefined
  }

  findCreation(txHash: string): DataSet | undefined {
    return [...this.#byId.values()].find(({ creation }) => creation.hash === txHash)
  }

  /** True once the transaction has happened. */
  isConfirmed({ sentAt }: Transaction): boolean {
    return sentAt + this.#confirmDelayMs <= this.#now()
  }

  /** The pieces that were added and not removed, with their ids. */
  livePieces(dataSet: DataSet): { pieceId: number; pieceCid: string }[] {
    const confirmed = dataSet.additions.filter(({ transaction }) => this.isConfirmed(transaction))
    return confirmed
      .flatMap(({ pieceIds }) => pieceIds)
      .flatMap((pieceId) => {
        const piece = dataSet.pieces[pieceId]
        const isGone = piece === undefined || (piece.removal !== null && this.isConfirmed(piece.removal))
        return isGone ? [] : [{ pieceId, pieceCid: piece.pieceCid }]
      })
  }

  /** Creates a data set, with its first pieces where there are any; creation and addition are one transaction then. */
  create(request: { recordKeeper: string; extraData: string; pieceCids: readonly string[] }): Promise<Sent> {
    return this.#oneByOne(async () => {
      const creation = this.#transaction(request.extraData)
      const isReused = [...this.#byId.values()].some((known) => isSameData(known.creation, creation))
      if (isReused) return { refused: 'reused' }
      const id = Math.max(0, ...this.#byId.keys()) + 1
      const { recordKeeper, pieceCids } = request
      const empty: DataSet = { id, recordKeeper, creation, additions: [], pieces: [], termination: null }
      return this.#save(pieceCids.length === 0 ? empty : withPieces(empty, creation, pieceCids), creation)
    })
  }

  addPieces(id: number, request: { extraData: string; pieceCids: readonly string[] }): Promise<Sent> {
    return this.#change(id, request.extraData, (dataSet, transaction) => {
      const isReused = dataSet.additions.some((known) => isSameData(known.transaction, transaction))
      return isReused ? 'reused' : withPieces(dataSet, transaction, request.pieceCids)
    })
  }

  removePieces(id: number, request: { extraData: string; pieceIds: readonly number[] }): Promise<Sent> {
    return this.#change(id, request.extraData, (dataSet, removal) => {
      const pieces = dataSet.pieces.map((piece, pieceId) =>
        request.pieceIds.includes(pieceId) && piece.removal === null ? { ...piece, removal } : piece,
      )
      return { ...dataSet, pieces }
    })
  }

  terminate(id: number, request: { extraData: string }): Promise<Sent> {
    return this.#change(id, request.extraData, (dataSet, termination) => ({ ...dataSet, termination }))
  }

  #change(
    id: number,
    extraData: string,
    changed: (dataSet: DataSet, transaction: Transaction) => DataSet | 'reused',
  ): Promise<Sent> {
    return this.#oneByOne(async () => {
      const dataSet = this.get(id)
      if (dataSet === undefined) return { refused: 'unknown' }
      if (dataSet.termination !== null) return { refused: 'terminated' }
      const transaction = this.#transaction(extraData)
      const next = changed(dataSet, transaction)
      return next === 'reused' ? { refused: 'reused' } : this.#save(next, transaction)
    })
  }

  async #save(dataSet: DataSet, { hash }: Transaction): Promise<Sent> {
    await replaceFile(join(this.#dir, `${dataSet.id}.json`), JSON.stringify(dataSet))
    this.#byId.set(dataSet.id, dataSet)
    return { txHash: hash }
  }

  #transaction(extraData: string): Transaction {
    const data = extraData.toLowerCase().replace(/^0x/, '')
    const extraDataSha256 = data === '' ? null : createHash('sha256').update(data, 'hex').digest('hex')
    return { hash: `0x${randomBytes(32).toString('hex')}`, sentAt: this.#now(), extraDataSha256 }
  }

  #oneByOne<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(change)
    // Its own caller is told.
    this.#last = result.catch(() => {})
    return result
  }
}

function withPieces(dataSet: DataSet, transaction: Transaction, pieceCids: readonly string[]): DataSet {
  const first = dataSet.pieces.length
  const pieceIds = pieceCids.map((_, index) => first + index)
  return {
    ...dataSet,
    additions: [...dataSet.additions, { transaction, pieceIds }],
    pieces: [...dataSet.pieces, ...pieceCids.map((pieceCid) => ({ pieceCid, removal: null }))],
  }
}

function isSameData(one: Transaction, other: Transaction): boolean {
  return one.extraDataSha256 !== null && one.extraDataSha256 === other.extraDataSha256
}
