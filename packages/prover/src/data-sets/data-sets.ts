import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurableDirectory } from '@lade/node/disk/durable-directory'
import { replaceFile } from '../disk/durable-files.ts'
import { type DataSet, DataSetSchema, type Transaction } from './data-set.ts'

const FILE = /^(\d+)\.json$/

export interface DataSetsOptions {
  /** Absolute. */
  readonly dir: string
  readonly now: () => number
  /** How long a transaction stays pending. */
  readonly confirmDelayMs: number
  /** True for a transaction that has no effect. @default none */
  readonly isRejected?: (txHash: string) => boolean
}

/** Pieces for a data set. */
export interface AddedPieces {
  readonly extraData: string
  readonly pieceCids: readonly string[]
  /** Throws when the pieces cannot be added. Not called for what was asked before, which has happened whatever became of them. */
  readonly check?: () => void
}

/** What a change came to: the transaction's hash, or why there is none. */
export type Sent = { readonly txHash: string } | { readonly refused: 'reused' | 'unknown' | 'terminated' }

/**
 * Data sets, as a provider and the chain behind it keep them; a file each, replaced as a whole with every change.
 *
 * There is no chain. A transaction gets a random hash and is confirmed after a while; until then what it does is not seen.
 * As on the chain, signed data is good for one transaction: the same extraData a second time is refused. The request that made a data set
 * is answered again as it was answered first, since nobody else can say which data set that was.
 */
export class DataSets {
  readonly #dir: string
  readonly #now: () => number
  readonly #confirmDelayMs: number
  readonly #isRejected: (txHash: string) => boolean
  readonly #byId = new Map<number, DataSet>()
  /** Changes are made one after another: each is decided by what the one before wrote. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor({ dir, now, confirmDelayMs, isRejected = () => false }: DataSetsOptions) {
    this.#isRejected = isRejected
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
  isConfirmed({ sentAt, hash }: Transaction): boolean {
    return sentAt + this.#confirmDelayMs <= this.#now() && !this.#isRejected(hash)
  }

  /** True once it is known that the transaction never happens. */
  isRejected({ sentAt, hash }: Transaction): boolean {
    return sentAt + this.#confirmDelayMs <= this.#now() && this.#isRejected(hash)
  }

  /**
   * For every piece that was ever added: when it was last taken out of a data set, in milliseconds of the clock, or `undefined` while
   * one has it or is about to.
   */
  removalTimes(): Map<string, number | undefined> {
    const times = new Map<string, number | undefined>()
    const isGone = (pieceCid: string): boolean => !times.has(pieceCid) || times.get(pieceCid) !== undefined
    for (const { additions, pieces } of this.#byId.values()) {
      const lost = additions
        .filter(({ transaction }) => this.isRejected(transaction))
        .flatMap(({ pieceIds }) => pieceIds)
      for (const [pieceId, { pieceCid, removal }] of pieces.entries()) {
        if (lost.includes(pieceId) || !isGone(pieceCid)) continue
        const isRemoved = removal !== null && this.isConfirmed(removal)
        times.set(pieceCid, isRemoved ? Math.max(removal.sentAt, times.get(pieceCid) ?? 0) : undefined)
      }
    }
    return times
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
  create(request: AddedPieces & { recordKeeper: string }): Promise<Sent> {
    return this.#oneByOne(async () => {
      const creation = this.#transaction(request.extraData)
      const known = [...this.#byId.values()].find((known) => this.#isUsedBy(known.creation, creation))
      if (known !== undefined) {
        return isSameRequest(known, request) ? { txHash: known.creation.hash } : { refused: 'reused' }
      }
      request.check?.()
      const id = Math.max(0, ...this.#byId.keys()) + 1
      const { recordKeeper, pieceCids } = request
      const empty: DataSet = { id, recordKeeper, creation, additions: [], pieces: [], termination: null }
      return this.#save(pieceCids.length === 0 ? empty : withPieces(empty, creation, pieceCids), creation)
    })
  }

  addPieces(id: number, request: AddedPieces): Promise<Sent> {
    return this.#change(id, request.extraData, (dataSet, transaction) => {
      if (dataSet.additions.some((known) => this.#isUsedBy(known.transaction, transaction))) return 'reused'
      request.check?.()
      return withPieces(dataSet, transaction, request.pieceCids)
    })
  }

  removePieces(id: number, request: { extraData: string; pieceIds: readonly number[] }): Promise<Sent> {
    return this.#change(id, request.extraData, (dataSet, removal) => {
      const pieces = dataSet.pieces.map((piece, pieceId) =>
        request.pieceIds.includes(pieceId) && !this.#isLeaving(piece) ? { ...piece, removal } : piece,
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

  /** True for a piece whose removal was asked for, and not rejected. */
  #isLeaving({ removal }: DataSet['pieces'][number]): boolean {
    return removal !== null && !this.isRejected(removal)
  }

  /** True when the one transaction carries the data of the other and was not rejected. */
  #isUsedBy(known: Transaction, { extraDataSha256 }: Transaction): boolean {
    return extraDataSha256 !== null && known.extraDataSha256 === extraDataSha256 && !this.isRejected(known)
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

function isSameRequest(
  { recordKeeper, creation, additions, pieces }: DataSet,
  request: { readonly recordKeeper: string; readonly pieceCids: readonly string[] },
): boolean {
  const first = additions.find(({ transaction }) => transaction.hash === creation.hash)
  const pieceCids = (first?.pieceIds ?? []).map((pieceId) => pieces[pieceId]?.pieceCid)
  const isSame = request.pieceCids.every((pieceCid, index) => pieceCids[index] === pieceCid)
  return isSame && pieceCids.length === request.pieceCids.length && recordKeeper === request.recordKeeper
}
