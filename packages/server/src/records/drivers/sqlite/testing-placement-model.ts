import { expect } from 'vitest'
import type { CopyState, DealRecord, PlacedStatus } from '../../record-store.ts'
import { prepareCopyReads } from '../../sql/copy-reads.ts'
import { prepareDealReads } from '../../sql/deal-reads.ts'
import { preparePieceReads } from '../../sql/piece-reads.ts'
import { preparePlacementReads } from '../../sql/placement-reads.ts'
import type { Connection } from './connection.ts'
import { sqliteSql } from './sqlite-sql.ts'
import { atOnce } from './testing-at-once.ts'

/** Later than anything is due. */
export const FOREVER = Number.MAX_SAFE_INTEGER

interface CopyNow {
  readonly id: number
  readonly piece: number
  readonly state: CopyState
  readonly piece_id: string | null
}

/** What a piece needed and had when it was last reconciled. */
interface Reconciled {
  readonly wanted: number
  readonly live: readonly number[]
}

/** What has to be true of placements, told from what was done to them and not from what the driver keeps for itself. */
export class PlacementModel {
  /** Why no prover was left to ask, by piece, until one was asked again. */
  readonly #failures = new Map<number, string>()
  readonly #reconciled = new Map<number, Reconciled>()
  /** Ended copies that a data set has: not those that were stored without one. */
  readonly #toTakeOut = new Set<number>()
  #before = new Map<number, DealRecord>()
  readonly #db: Connection
  readonly #reads
  readonly #copies
  readonly #deals
  readonly #pieces

  constructor(db: Connection) {
    this.#db = db
    this.#reads = atOnce(preparePlacementReads(sqliteSql(db)))
    this.#copies = atOnce(prepareCopyReads(sqliteSql(db)))
    this.#deals = atOnce(prepareDealReads(sqliteSql(db)))
    this.#pieces = atOnce(preparePieceReads(sqliteSql(db)))
  }

  get toTakeOut(): readonly number[] {
    return [...this.#toTakeOut]
  }

  /** Runs a write that may give provers copies: then somebody has been asked again. */
  placing(write: () => void): void {
    const known = new Map(this.#allCopies().map(({ id, state }) => [id, state]))
    write()
    for (const { id, piece, state } of this.#allCopies()) {
      const wasPending = known.get(id) === 'pending'
      if (!known.has(id) || (wasPending && state === 'parked')) this.#failures.delete(piece)
    }
  }

  /** Runs a write that may release copies, or fail them. */
  ending(write: () => void): void {
    const isInDataSet = ({ state, piece_id }: CopyNow): boolean => state === 'stored' && piece_id !== null
    const stored = new Set(this.#allCopies().flatMap((copy) => (isInDataSet(copy) ? [copy.id] : [])))
    write()
    for (const { id, state } of this.#allCopies()) if (stored.has(id) && state !== 'stored') this.#toTakeOut.add(id)
  }

  /** A reconciliation of this piece was taken. */
  reconciled(piece: number, wanted: number, failure: string | null): void {
    if (failure !== null) this.#failures.set(piece, failure)
    this.#reconciled.set(piece, { wanted, live: this.#liveCopies(piece) })
  }

  dissolved(piece: number): void {
    this.#failures.delete(piece)
    this.#reconciled.set(piece, { wanted: 0, live: [] })
  }

  /** A data set has these copies now; those that ended meanwhile have to leave it. */
  added(copies: readonly { readonly id: number; readonly state: CopyState }[]): void {
    for (const { id, state } of copies) if (state === 'released' || state === 'failed') this.#toTakeOut.add(id)
  }

  takenOut(copy: number): void {
    this.#toTakeOut.delete(copy)
  }

  /** Compares the records with all that has to be true of them; `now` is when they last changed. */
  check(now: number): void {
    const open = this.#numbers('SELECT file FROM deals WHERE closed_at IS NULL ORDER BY file')
    const live = 'SELECT file FROM deals JOIN files ON sequence = file WHERE ended_at IS NULL ORDER BY file'
    expect(open).toEqual(this.#numbers(live))
    const deals = this.#deals.deals(open)
    for (const deal of deals) this.#checkStatus(deal, now)
    this.#before = new Map(deals.map((deal) => [deal.file, deal]))
    this.#checkReconciled(deals)
    const perProver = this.#numbers('SELECT COUNT(*) FROM copies WHERE ended_at IS NULL GROUP BY piece, prover')
    expect(perProver.filter((count) => count > 1)).toEqual([])
    this.#checkCounts(deals)
    const removable = this.#copies.removable({ now: FOREVER, limit: 1_000 }).map(({ copy }) => copy.id)
    expect(removable.toSorted()).toEqual(this.toTakeOut.toSorted())
    expect(this.#db.pragma('foreign_key_check')).toEqual([])
  }

  /** What is counted as it changes is what rows say. */
  #checkCounts(deals: readonly DealRecord[]): void {
    const copies = new Map<string, number>()
    const rows = this.#db.prepare<[], { prover: string; state: CopyState }>('SELECT prover, state FROM copies').all()
    for (const { prover, state } of rows) copies.set(`${prover} ${state}`, (copies.get(`${prover} ${state}`) ?? 0) + 1)
    const statuses = new Map<string, number>()
    for (const { status } of deals) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const counts = this.#deals.counts()
    expect(new Map(counts.copies.map(({ prover, state, count }) => [`${prover} ${state}`, count]))).toEqual(copies)
    expect(new Map(counts.deals.map(({ status, count }) => [status, count]))).toEqual(statuses)
    expect(counts.waiting).toBe(this.#reads.waiting({ limit: 1_000 }).length)
  }

  #checkStatus(deal: DealRecord, now: number): void {
    const { status, cause, statusAt } = deal
    expect({ status, cause }).toEqual(this.#statusOf(deal))
    const earlier = this.#before.get(deal.file)
    if (earlier !== undefined) expect(statusAt).toBe(earlier.status === status ? earlier.statusAt : now)
  }

  /** Where a deal stands by what its copies are. */
  #statusOf({ pieces }: DealRecord): { readonly status: PlacedStatus; readonly cause: string | null } {
    const live = pieces.map(({ copies }) => copies.filter(({ endedAt }) => endedAt === null))
    const isProved = live.map((copies) => copies.some(({ provedAt }) => provedAt !== null))
    if (pieces.length > 0 && isProved.every((is) => is)) return { status: 'active', cause: null }
    const causes = pieces.flatMap(({ id }, index) => (isProved[index] ? [] : (this.#failures.get(id) ?? [])))
    const [cause] = causes.toSorted()
    if (cause !== undefined) return { status: 'failed', cause }
    const isHeld = live.flat().some(({ state }) => state !== 'pending')
    return { status: isHeld ? 'proposed' : 'staged', cause: null }
  }

  /** What nobody is told to look at is as it was reconciled. */
  #checkReconciled(deals: readonly DealRecord[]): void {
    const looked = new Set(this.#reads.unreconciled({ now: FOREVER, limit: 1_000 }).map(({ piece }) => piece.id))
    for (const id of this.#numbers('SELECT id FROM pieces')) {
      if (looked.has(id)) continue
      const needing = deals.filter(({ pieces }) => pieces.some((piece) => piece.id === id))
      const wanted = Math.max(0, ...needing.map(({ copiesWanted }) => copiesWanted))
      const reconciled = this.#reconciled.get(id)
      expect({ id, wanted }).toEqual({ id, wanted: reconciled?.wanted })
      const live = new Set(this.#liveCopies(id))
      expect(reconciled?.live.filter((copy) => !live.has(copy))).toEqual([])
    }
  }

  #liveCopies(piece: number): number[] {
    const copies = this.#pieces.copiesOf(piece)
    return copies.filter(({ endedAt }) => endedAt === null).map(({ id }) => id)
  }

  #allCopies(): CopyNow[] {
    return this.#db.prepare<[], CopyNow>('SELECT id, piece, state, piece_id FROM copies').all()
  }

  #numbers(sql: string): number[] {
    return this.#db.prepare<[], number>(sql).pluck().all()
  }
}
