import type {
  Answered,
  Asked,
  Bound,
  Changed,
  Dialect,
  PreparedQuery,
  Query,
  QueryAnswer,
  Sql,
  SqlValue,
  Statement,
  Steps,
} from '../../sql/sql.ts'
import { allOf } from './all-of.ts'
import { placeholdersOf } from './placeholders.ts'

const DIALECT: Dialect = {
  indexedBy: () => '',
  least: (one, other) => `least(${one}, ${other})`,
  greatest: (one, other) => `greatest(${one}, ${other})`,
  // Not part of any transaction, so that those who read it do not wait for those who move it.
  nextSequence: '(SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM files_sequence)',
  includesFolded: (text, part) => `strpos(lower(${text}), lower(CAST(${part} AS TEXT) COLLATE "C")) > 0`,
  before: (text, part) => `split_part(${text}, ${part}, 1)`,
  // With an equal principal the primary key has the order as well, and is walked past the files of all others.
  ownFiles: {
    condition: '(principal, sequence) < (:principal, :before) AND (principal, sequence) >= (:principal, :from)',
    newestFirst: 'principal DESC, sequence DESC',
  },
  countServingChange: undefined,
  whole: (placeholder) => `CAST(${placeholder} AS BIGINT)`,
}

/** Prepares the statements of the records as queries that somebody else sends: see {@link runOn}. */
export function postgresSql(): Sql {
  let count = 0
  function statement<Values extends readonly unknown[], Row>(text: string): PostgresStatement<Values, Row> {
    count += 1
    const { text: numbered, names } = placeholdersOf(text)
    return new PostgresStatement({ text: numbered, name: `lade-${count}` }, names)
  }
  return {
    dialect: DIALECT,
    prepare: <Values extends readonly unknown[] | object, Row>(text: string) => statement<Bound<Values>, Row>(text),
    prepareInsertion: <Values extends readonly SqlValue[]>(key: string, text: string) => {
      const insert = statement<Values, number>(`${text} RETURNING ${key}`).pluck()
      return (...values: Values) => insertedNumber(insert.get(...values))
    },
  }
}

function* insertedNumber(insertion: Steps<number | undefined>): Steps<number> {
  const number = yield* insertion
  if (number === undefined) throw new TypeError('an insertion answers the number of its row')
  return number
}

/** Sends a query to one connection. */
export type Ask = (query: Query) => Promise<QueryAnswer>

/**
 * Runs steps.
 *
 * @param ask - is asked what steps ask together at the same time, where it can be: see {@link oneByOne}.
 */
export async function runOn<Value>(ask: Ask, steps: Steps<Value>): Promise<Value> {
  const iterator = steps[Symbol.iterator]()
  let turn = iterator.next()
  while (turn.done !== true) turn = iterator.next(await answersTo(ask, turn.value))
  return turn.value
}

async function answersTo(ask: Ask, asked: Asked): Promise<Answered> {
  if ('statement' in asked) return ask(asked)
  // Nothing is asked after the end of these steps.
  return (await allOf(asked.map((one) => answersTo(ask, one)))) as Answered[]
}

/** For a connection that takes a query when it has answered the one before. */
export function oneByOne(ask: Ask): Ask {
  let last: Promise<unknown> = Promise.resolve()
  return (query) => {
    const answer = last.then(() => ask(query))
    last = answer.catch(() => {})
    return answer
  }
}

class PostgresStatement<Values extends readonly unknown[], Row> implements Statement<Values, Row> {
  readonly #query: PreparedQuery
  readonly #names: readonly string[] | undefined
  #isPlucked = false

  constructor(query: PreparedQuery, names: readonly string[] | undefined) {
    this.#query = query
    this.#names = names
  }

  *get(...values: Values): Steps<Row | undefined> {
    const { rows } = (yield this.#ask(values)) as QueryAnswer
    return rows.length === 0 ? undefined : this.#rowFrom(rows[0])
  }

  *all(...values: Values): Steps<Row[]> {
    const { rows } = (yield this.#ask(values)) as QueryAnswer
    return rows.map((row) => this.#rowFrom(row))
  }

  *run(...values: Values): Steps<Changed> {
    const { changes } = (yield this.#ask(values)) as QueryAnswer
    return { changes }
  }

  pluck(): Statement<Values, Row> {
    this.#isPlucked = true
    return this
  }

  #ask(values: Values): Query {
    if (this.#names === undefined) return { statement: this.#query, values: values as readonly unknown[] as SqlValue[] }
    const named = values[0] as Readonly<Record<string, SqlValue>>
    return { statement: this.#query, values: this.#names.map((name) => named[name] ?? null) }
  }

  #rowFrom(row: unknown): Row {
    return (this.#isPlucked ? Object.values(row as object)[0] : row) as Row
  }
}
