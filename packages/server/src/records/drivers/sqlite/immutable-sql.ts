import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Bound, Changed, Sql, Statement, Steps } from '../../sql/sql.ts'
import { AtOnce, DIALECT } from './sqlite-sql.ts'

/** Prepares the statements of the records on Node's own SQLite, which alone opens a file that it must not write beside. */
export function immutableSql(database: DatabaseSync): Sql {
  return {
    dialect: DIALECT,
    prepare<Values extends readonly unknown[] | object, Row>(text: string): Statement<Bound<Values>, Row> {
      const native = database.prepare(text)
      // As better-sqlite3 does: reads share one record of values, not all of which each statement names.
      native.setAllowUnknownNamedParameters(true)
      return new ImmutableStatement<Bound<Values>, Row>(native)
    },
    prepareInsertion: () => takesNoChanges,
  }
}

function takesNoChanges(): never {
  throw new TypeError('A database that must not be written beside takes no changes.')
}

class ImmutableStatement<Values extends readonly unknown[], Row> implements Statement<Values, Row> {
  readonly #native: StatementSync
  #isPlucked = false

  constructor(native: StatementSync) {
    this.#native = native
  }

  get(...values: Values): Steps<Row | undefined> {
    return new AtOnce(() => {
      const row = this.#native.get(...bound(values))
      return row === undefined ? undefined : this.#rowOf(row)
    })
  }

  all(...values: Values): Steps<Row[]> {
    return new AtOnce(() => this.#native.all(...bound(values)).map((row) => this.#rowOf(row)))
  }

  run(): Steps<Changed> {
    return takesNoChanges()
  }

  pluck(): Statement<Values, Row> {
    this.#isPlucked = true
    return this
  }

  #rowOf(row: Record<string, unknown>): Row {
    const cells = Object.entries(row).map(([name, cell]) => [name, cellOf(cell)] as const)
    return (this.#isPlucked ? cells[0]?.[1] : Object.fromEntries(cells)) as Row
  }
}

function bound(values: readonly unknown[]): Parameters<StatementSync['get']> {
  return values as Parameters<StatementSync['get']>
}

/** better-sqlite3 gives bytes as a Buffer. */
function cellOf(cell: unknown): unknown {
  return cell instanceof Uint8Array ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength) : cell
}
