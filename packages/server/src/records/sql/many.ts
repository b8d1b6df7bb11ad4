import type { Sql, SqlValue, Statement, Steps } from './sql.ts'

/** Values that one statement asks for. */
export const AT_ONCE = 250

/** Placeholders of a statement that asks for many values at once, since an engine behind a network would be asked for each of them. */
export const manyTimes = (placeholder: string): string => Array.from({ length: AT_ONCE }, () => placeholder).join(', ')

/** One placeholder for each value. */
export const MANY = manyTimes('?')

/**
 * Values as {@link MANY} takes them: each once, 250 at a time.
 *
 * @param filler - a value that nothing has; it fills up the last batch.
 *
 * @example
 * for (const batch of batchesOf(objects, 0)) rows.push(...(yield* statement.all(principal, ...batch)))
 */
export function batchesOf<Value>(values: Iterable<Value>, filler: Value): Value[][] {
  const distinct = [...new Set(values)]
  const count = Math.ceil(distinct.length / AT_ONCE)
  return Array.from({ length: count }, (_, index) => {
    const batch = distinct.slice(index * AT_ONCE, (index + 1) * AT_ONCE)
    return [...batch, ...Array.from({ length: AT_ONCE - batch.length }, () => filler)]
  })
}

/** How many values the forms of a {@link StatementOfMany} take, so that a few are not asked about as if they were hundreds. */
const SIZES = [1, 16, 64, AT_ONCE]

/** Rows that the biggest form of an insertion adds. */
const MOST_ROWS = 128

/** A statement about any number of values. */
export interface StatementOfMany<Value, Row> {
  /** @param others - values of the placeholders before the list. */
  all(values: Iterable<Value>, ...others: readonly SqlValue[]): Steps<Row[]>
  /** Answers how many rows were changed. */
  run(values: Iterable<Value>, ...others: readonly SqlValue[]): Steps<number>
}

/**
 * Prepares a statement about many values, which is asked once for 250 of them.
 *
 * @param filler - a value that nothing has; it fills up the list.
 * @param textOf - the text around the list of placeholders, which is the last one in it.
 *
 * @example
 * const dropParts = prepareForMany<number>(db, 0, (wholes) => `DELETE FROM parts WHERE whole IN (${wholes})`)
 * yield* dropParts.run(objects)
 */
export function prepareForMany<Value extends SqlValue, Row = unknown>(
  db: Sql,
  filler: Value,
  textOf: (list: string) => string,
): StatementOfMany<Value, Row> {
  const forms = formsOf<Row>(db, SIZES, (size) => textOf(listOf('?', size)))
  return statementOver(function* (values) {
    const distinct = [...new Set(values)]
    for (let from = 0; from < distinct.length; from += AT_ONCE) {
      const batch = distinct.slice(from, from + AT_ONCE)
      const form = forms.find(({ size }) => size >= batch.length)
      const fillers = Array.from({ length: (form?.size ?? 0) - batch.length }, () => filler)
      if (form !== undefined) yield { statement: form.statement, values: [...batch, ...fillers] }
    }
  })
}

/**
 * Prepares a statement about many rows of values, which is asked once for 128 of them. It has no filler: its forms take 128, 64, 32 rows
 * and so on.
 *
 * @param row - the placeholders of one row, in parentheses.
 *
 * @example
 * const insert = prepareForRows(db, '(?, ?)', (rows) => `INSERT INTO claims (file, digest) VALUES ${rows}`)
 * yield* insert.run([[1, 'abc'], [2, 'def']])
 */
export function prepareForRows<Row = unknown>(
  db: Sql,
  row: string,
  textOf: (rows: string) => string,
): StatementOfMany<readonly SqlValue[], Row> {
  const sizes = Array.from({ length: Math.log2(MOST_ROWS) + 1 }, (_, power) => MOST_ROWS >> power)
  const forms = formsOf<Row>(db, sizes, (size) => textOf(listOf(row, size)))
  return statementOver(function* (rows) {
    const all = [...rows]
    for (let from = 0; from < all.length; ) {
      const form = forms.find(({ size }) => size <= all.length - from)
      if (form === undefined) break
      yield { statement: form.statement, values: all.slice(from, from + form.size).flat() }
      from += form.size
    }
  })
}

interface Form<Row> {
  readonly size: number
  readonly statement: Statement<SqlValue[], Row>
}

interface Batch<Row> {
  readonly statement: Statement<SqlValue[], Row>
  readonly values: readonly SqlValue[]
}

function formsOf<Row>(db: Sql, sizes: readonly number[], textFor: (size: number) => string): Form<Row>[] {
  return sizes.map((size) => ({ size, statement: db.prepare<SqlValue[], Row>(textFor(size)) }))
}

function listOf(place: string, count: number): string {
  return Array.from({ length: count }, () => place).join(', ')
}

function statementOver<Value, Row>(
  batches: (values: Iterable<Value>) => Iterable<Batch<Row>>,
): StatementOfMany<Value, Row> {
  return {
    *all(values, ...others) {
      const rows: Row[] = []
      for (const { statement, values: batch } of batches(values))
        rows.push(...(yield* statement.all(...others, ...batch)))
      return rows
    },
    *run(values, ...others) {
      let changes = 0
      for (const { statement, values: batch } of batches(values)) {
        changes += (yield* statement.run(...others, ...batch)).changes
      }
      return changes
    },
  }
}
