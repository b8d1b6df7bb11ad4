/** What a statement says about rows: read them, or count those that it changed. */
export interface Query {
  readonly statement: PreparedQuery
  readonly values: readonly SqlValue[]
}

/** A statement as an engine keeps it that is asked over a network. */
export interface PreparedQuery {
  /** Its text with the placeholders of that engine. */
  readonly text: string
  /** Under which it is known there. */
  readonly name: string
}

/** What an engine answers to a query. */
export interface QueryAnswer {
  readonly rows: readonly unknown[]
  readonly changes: number
}

/** What steps wait for: the answer to a query, or those to several that are asked at the same time. */
export type Asked = Query | readonly Asked[]

/** The answers in the places of what was asked. */
export type Answered = QueryAnswer | readonly Answered[]

/** A value that crosses to the engine or comes from it. Whole numbers are safe integers, bytes any view of them. */
export type SqlValue = string | number | null | Uint8Array

/**
 * A decision in steps: it runs one statement after the other, and may read the answer of each before it goes on.
 *
 * Written once and run by every engine: SQLite, whose statements answer at once, never stops at a step; an engine behind a network is
 * asked at each of them. Whoever runs the steps has opened the transaction that all of them are in.
 *
 * A function of steps does nothing until it is run: its call is always behind `yield*`.
 */
export interface Steps<Value> {
  [Symbol.iterator](): Iterator<Asked, Value, Answered>
}

/** How many rows a statement changed. */
export interface Changed {
  readonly changes: number
}

/**
 * One prepared statement. `Values` are its placeholders: one for each `?` in their order, or one record for names such as `:limit`.
 */
export interface Statement<Values extends readonly unknown[], Row> {
  /** The first row, if there is one. */
  get(...values: Values): Steps<Row | undefined>
  all(...values: Values): Steps<Row[]>
  run(...values: Values): Steps<Changed>
  /** The same statement, whose rows are the values of their first column. */
  pluck(): Statement<Values, Row>
}

/** Placeholders as a list: a record stands for the one argument that names them. */
export type Bound<Values> = Values extends readonly unknown[] ? Values : [Values]

/** What statements are prepared on: one engine, and how it says what the engines say differently. */
export interface Sql {
  /**
   * Statements hold to what all engines read alike: columns with a capital letter in their alias are quoted, every name that is a word
   * of SQL is too (`"end"`), and truth is compared (`waits = 1`).
   */
  prepare<Values extends readonly unknown[] | object = [], Row = unknown>(text: string): Statement<Bound<Values>, Row>
  /**
   * Prepares the insertion of one row that gets a number, which each run answers.
   *
   * @param key - the column of the number, which is the primary key.
   * @param text - without `RETURNING`, and without a conflict to ignore.
   *
   * @example
   * const insert = db.prepareInsertion<[string]>('id', 'INSERT INTO notes (text) VALUES (?)')
   * yield* insert('the first one') // 1
   */
  prepareInsertion<Values extends readonly SqlValue[]>(key: string, text: string): (...values: Values) => Steps<number>
  readonly dialect: Dialect
}

/** What the engines say differently. */
export interface Dialect {
  /** Behind the name of a table: the index to use, where the engine is told. */
  indexedBy(index: string): string
  /** The smaller of two expressions, neither of them NULL. */
  least(one: string, other: string): string
  greatest(one: string, other: string): string
  /** The sequence that the next file gets, at the earliest. */
  readonly nextSequence: string
  /** Whether the second text is in the first, by ASCII folded to lower case. */
  includesFolded(text: string, part: string): string
  /** The first text up to the second, or all of it where that is not in it. */
  before(text: string, part: string): string
  /**
   * The files of `:principal` staged before `:before` and from `:from` on, and their order, newest first: said so that they are found by
   * the index alone that begins with the principal. Not for a statement that also filters, whose plan depends on what is known of both.
   */
  readonly ownFiles: { readonly condition: string; readonly newestFirst: string }
  /** The statement that counts a change of what is found under a key; undefined where nobody asks for the count. */
  readonly countServingChange: string | undefined
  /** A placeholder of which nothing else says that it is a whole number. */
  whole(placeholder: string): string
}

/** Runs the body for each item, in order. */
export function* forEach<Item>(
  items: Iterable<Item>,
  body: (item: Item, index: number) => Steps<unknown>,
): Steps<void> {
  let index = 0
  for (const item of items) {
    yield* body(item, index)
    index += 1
  }
}

/**
 * Runs steps of which none reads what another one writes, and answers what each does. An engine behind a network is asked by all of them at
 * the same time; one that answers at once runs them in their order.
 *
 * @example
 * const [usage, limits] = yield* together(usageOf(principal), limitsOf(principal))
 */
export function* together<Values extends readonly unknown[]>(
  ...steps: { readonly [Place in keyof Values]: Steps<Values[Place]> }
): Steps<Values> {
  const iterators = steps.map((one) => one[Symbol.iterator]())
  const turns = iterators.map((iterator) => iterator.next())
  for (;;) {
    const asked: Asked[] = []
    for (const turn of turns) if (turn.done !== true) asked.push(turn.value)
    if (asked.length === 0) return turns.map(({ value }) => value) as readonly unknown[] as Values
    const answered = (yield asked) as readonly Answered[]
    let next = 0
    for (const [place, iterator] of iterators.entries()) {
      const answer = turns[place]?.done === true ? undefined : answered[next++]
      if (answer !== undefined) turns[place] = iterator.next(answer)
    }
  }
}

/** Steps of which there are none. */
export function* nothing(): Steps<undefined> {}

/** What the body answers for each item, in order. */
export function* mapEach<Item, Value>(items: Iterable<Item>, body: (item: Item) => Steps<Value>): Steps<Value[]> {
  const values: Value[] = []
  for (const item of items) values.push(yield* body(item))
  return values
}
