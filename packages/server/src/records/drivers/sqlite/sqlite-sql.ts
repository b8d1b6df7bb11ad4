import { COUNT_SERVING_CHANGE } from '../../migrations/sqlite.ts'
import type { Answered, Asked, Bound, Changed, Dialect, Sql, SqlValue, Statement, Steps } from '../../sql/sql.ts'
import type { Connection } from './connection.ts'

export const DIALECT: Dialect = {
  indexedBy: (index) => `INDEXED BY ${index}`,
  least: (one, other) => `min(${one}, ${other})`,
  greatest: (one, other) => `max(${one}, ${other})`,
  nextSequence: '(SELECT coalesce(MAX(sequence), 0) + 1 FROM files)',
  includesFolded: (text, part) => `instr(lower(${text}), lower(${part})) > 0`,
  before: (text, part) => `substr(${text}, 1, instr(${text} || ${part}, ${part}) - 1)`,
  ownFiles: {
    condition: 'principal = :principal AND sequence < :before AND sequence >= :from',
    newestFirst: 'sequence DESC',
  },
  countServingChange: COUNT_SERVING_CHANGE,
  whole: (placeholder) => placeholder,
}

/**
 * The statements of the records on a connection, which answers them at once. Each is prepared when it is first run: all of them take longer
 * than the rest of an opening, and most processes run a part of them.
 */
export function sqliteSql(connection: Connection): Sql {
  return {
    dialect: DIALECT,
    prepare: <Values extends readonly unknown[] | object, Row>(text: string): Statement<Bound<Values>, Row> =>
      new SqliteStatement<Bound<Values>, Row>(() => prepareOn<Row>(connection, text)),
    // Without RETURNING, for whose rows SQLite makes a table at each run.
    prepareInsertion: <Values extends readonly SqlValue[]>(_key: string, text: string) => {
      const statement = new SqliteStatement<Values, never>(() => prepareOn<never>(connection, text))
      return (...values: Values): Steps<number> => statement.insert(...values)
    },
  }
}

/**
 * Runs steps on the connection that their statements were prepared on.
 *
 * @throws {TypeError} for steps of another engine.
 */
export function runNow<Value>(steps: Steps<Value>): Value {
  const turn = steps[Symbol.iterator]().next()
  if (turn.done !== true) throw new TypeError('These steps wait for an engine that is not SQLite.')
  return turn.value
}

function prepareOn<Row>(connection: Connection, text: string) {
  return connection.prepare<unknown[], Row>(withLastingPlan(text))
}

/**
 * The same statement with a plus sign before parameters that are compared and before limits. The sign changes no value.
 *
 * Where a plan may depend on the value of a parameter, SQLite prepares the statement anew when the parameter changes. better-sqlite3 clears
 * all parameters after each run, so that would be every run, and takes most of the time of a short statement. SQLite never does so for an
 * expression, which `+?` is.
 */
export function withLastingPlan(text: string): string {
  return text.replace(/(?<=(?:=|\bLIMIT|\bOFFSET) )(?=\?|:[a-z])/gi, '+')
}

type NativeStatement<Row> = ReturnType<typeof prepareOn<Row>>

class SqliteStatement<Values extends readonly unknown[], Row> implements Statement<Values, Row> {
  readonly #prepare: () => NativeStatement<Row>
  #prepared: NativeStatement<Row> | undefined
  #isPlucked = false

  constructor(prepare: () => NativeStatement<Row>) {
    this.#prepare = prepare
  }

  get #native(): NativeStatement<Row> {
    if (this.#prepared === undefined) {
      this.#prepared = this.#prepare()
      if (this.#isPlucked) this.#prepared.pluck()
    }
    return this.#prepared
  }

  get(...values: Values): Steps<Row | undefined> {
    return new AtOnce(() => this.#native.get(...values))
  }

  all(...values: Values): Steps<Row[]> {
    return new AtOnce(() => this.#native.all(...values))
  }

  run(...values: Values): Steps<Changed> {
    return new AtOnce(() => this.#native.run(...values))
  }

  /** Answers the number of the row that it adds. */
  insert(...values: Values): Steps<number> {
    return new AtOnce(() => Number(this.#native.run(...values).lastInsertRowid))
  }

  pluck(): Statement<Values, Row> {
    this.#isPlucked = true
    return this
  }
}

/** Steps of which the first is the last. */
export class AtOnce<Value> implements Steps<Value> {
  readonly #run: () => Value

  constructor(run: () => Value) {
    this.#run = run
  }

  [Symbol.iterator](): Iterator<Asked, Value, Answered> {
    return { next: () => ({ done: true, value: this.#run() }) }
  }
}
