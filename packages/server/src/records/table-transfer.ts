import { createHash, type Hash } from 'node:crypto'
import { sha256Hex } from '@lade/node/hashing/sha256'

/** What a column holds. Both engines have these three and no other. */
export type CellKind = 'number' | 'text' | 'bytes'

/** One value. Numbers are safe integers; bytes are valid until the next batch is asked for. */
export type Cell = string | number | null | Uint8Array

/** The values of one row in the order of the table's columns. */
export type TableRow = readonly Cell[]

/** A column, with the kind of values that it has. */
export interface TableColumn {
  readonly name: string
  readonly kind: CellKind
}

/** A table of the records as the catalogue of an engine describes it. */
export interface Table {
  readonly name: string
  readonly columns: readonly TableColumn[]
  /** The names of the columns of the primary key, in its order. */
  readonly key: readonly string[]
}

/** What all rows of a table are, in the order of its key: the same for the same rows, whichever engine has them. */
export interface TableSum {
  readonly rows: number
  /** 64 hex digits. */
  readonly sha256: string
}

/** The records of an installation at one moment: what is committed later is not seen here. */
export interface TableSource {
  /** Every table of the records, in ascending order of name. */
  readonly tables: readonly Table[]
  /** All rows in the order of the key, in batches of some thousand rows or MiB. Two at a time are a `TypeError`. */
  batches(table: Table): Iterable<readonly TableRow[]> | AsyncIterable<readonly TableRow[]>
  countRows(table: Table): number | Promise<number>
  /** The last number that was ever handed out, by table, where that may be more than the greatest that is there. */
  lastNumbers(): ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>>
  close(): void | Promise<void>
}

/** A source that answers at once. */
export interface LocalTableSource extends TableSource {
  batches(table: Table): Iterable<readonly TableRow[]>
  countRows(table: Table): number
  lastNumbers(): ReadonlyMap<string, number>
  close(): void
}

/** What a database has already that records are to be brought into. `mark` is what the last finished copy left. */
export interface TargetState {
  /** Tables that hold somebody's data, as a service that has only been started has none. */
  readonly occupied: readonly string[]
  readonly mark: string | undefined
}

/** A secret or a mark that goes in with the rows. */
export interface NamedValue {
  readonly name: string
  readonly value: string
}

/**
 * The tables of a database, emptied and filled in one transaction that nobody else sees anything of: until `commit` resolves the database
 * is as it was, whatever ends.
 *
 * @throws {LadeError} by every method: `storage_failed`, `insufficient_storage`.
 */
export interface TableImport {
  insert(table: Table, rows: readonly TableRow[]): Promise<void>
  /** Brings back what guards and finds the rows, and has numbers go on behind the last ones. After the last `insert`. */
  complete(lastNumbers: ReadonlyMap<string, number>): Promise<void>
  /** Reads the table back. */
  sumOf(table: Table): Promise<TableSum>
  /** Writes what comes beside the rows, and makes all of it durable and seen. */
  commit(beside: { readonly secrets: readonly NamedValue[]; readonly mark: string }): Promise<void>
  /** Undoes everything; nothing happens after a commit. */
  discard(): Promise<void>
}

/** A database that records can be brought into. */
export interface TableTarget {
  /** Reads only, also a database that has no tables yet. */
  state(): Promise<TargetState>
  /**
   * Locks the tables and empties them.
   *
   * @throws {TypeError} when the database lacks one of these tables or columns, or has others in them.
   */
  begin(tables: readonly Table[]): Promise<TableImport>
  close(): Promise<void>
}

/** A row as it is summed: bytes by their sha2-256, so that big ones are compared where they are. */
export type SummedRow = readonly (string | number | null)[]

/** Sums the rows of a table, one after the other. */
export class RunningTableSum {
  readonly #hash: Hash = createHash('sha256')
  #rows = 0

  /** Takes rows with their bytes. */
  addRows(rows: readonly TableRow[]): void {
    this.addSummed(rows.map((row) => row.map((cell) => (cell instanceof Uint8Array ? sha256Hex(cell) : cell))))
  }

  addSummed(rows: readonly SummedRow[]): void {
    if (rows.length === 0) return
    this.#rows += rows.length
    // One text of one line a row: no value holds a line feed in JSON.
    this.#hash.update(`${rows.map((row) => JSON.stringify(row)).join('\n')}\n`)
  }

  /** What was taken so far; the last call. */
  sum(): TableSum {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') }
  }
}
