import type { PreparedQuery, Query, QueryAnswer } from '../../sql/sql.ts'
import type { Ask } from './postgres-sql.ts'

/** As many queries are one statement at most; sets have a power of two, so that few are prepared. */
const MAX_SET = 16
/** Holds for each query what comes from it, whatever the order of the rows is. */
const PLACE = 'of_place'
const FIRST = 'of_first'

interface Gathered {
  readonly query: Query
  readonly resolve: (answer: QueryAnswer) => void
  readonly reject: (error: unknown) => void
}

/** How a statement is asked several times at once. */
interface SetForm {
  readonly kind: 'read' | 'insert'
  readonly textFor: (count: number) => string
  /** Of an insertion that answers a number: which value its row is known by. */
  readonly firstValue: number | undefined
}

/**
 * Asks what is asked at the same time in as few statements as there are kinds of them: the same question about several things is one
 * statement, with the answers told apart. For queries that may be asked in any order.
 */
export function askInSets(ask: Ask): Ask {
  let gathered: Gathered[] = []
  const send = (): void => {
    const kinds = Map.groupBy(gathered, ({ query }) => query.statement)
    gathered = []
    for (const [statement, queries] of kinds) {
      const { form } = formOf(statement)
      for (const set of form === undefined ? queries.map((query) => [query]) : setsOf(queries)) {
        void answer(ask, set, form)
      }
    }
  }
  return (query) =>
    new Promise((resolve, reject) => {
      if (gathered.length === 0) setImmediate(send)
      gathered.push({ query, resolve, reject })
    })
}

function setsOf(queries: readonly Gathered[]): Gathered[][] {
  const sets: Gathered[][] = []
  for (let from = 0; from < queries.length; from += sets.at(-1)?.length ?? 1) {
    const size = Math.min(MAX_SET, 2 ** Math.floor(Math.log2(queries.length - from)))
    sets.push(queries.slice(from, from + size))
  }
  return sets
}

async function answer(ask: Ask, set: readonly Gathered[], form: SetForm | undefined): Promise<void> {
  try {
    const [one] = set
    if (one === undefined) return
    if (form === undefined || set.length === 1) {
      one.resolve(await ask(one.query))
      return
    }
    const statement = setOf(one.query.statement, form, set.length)
    const { rows } = await ask({ statement, values: set.flatMap(({ query }) => query.values) })
    const answers = form.kind === 'read' ? readAnswers(rows, set.length) : insertAnswers(rows, set, form)
    for (const [index, { resolve }] of set.entries()) resolve(answers[index] ?? { rows: [], changes: 0 })
  } catch (error) {
    for (const { reject } of set) reject(error)
  }
}

function readAnswers(rows: readonly unknown[], count: number): QueryAnswer[] {
  const answers = Array.from({ length: count }, (): unknown[] => [])
  for (const row of rows) {
    const { [PLACE]: place, ...own } = row as { readonly [PLACE]: number }
    answers[place]?.push(own)
  }
  return answers.map((rows) => ({ rows, changes: rows.length }))
}

/** @throws {TypeError} when the rows are not those that were to be inserted, in their order. */
function insertAnswers(rows: readonly unknown[], set: readonly Gathered[], { firstValue }: SetForm): QueryAnswer[] {
  if (firstValue === undefined) return set.map(() => ({ rows: [], changes: 1 }))
  return set.map(({ query }, index) => {
    const { [FIRST]: first, ...own } = rows[index] as { readonly [FIRST]: unknown }
    if (first !== query.values[firstValue]) throw new TypeError('inserted rows are answered in another order')
    return { rows: [own], changes: 1 }
  })
}

interface KnownForm {
  readonly form: SetForm | undefined
  /** By how many queries they are. */
  readonly sets: Map<number, PreparedQuery>
}

const forms = new WeakMap<PreparedQuery, KnownForm>()

function formOf(statement: PreparedQuery): KnownForm {
  const known = forms.get(statement) ?? { form: setFormOf(statement.text), sets: new Map() }
  forms.set(statement, known)
  return known
}

/** The statement of so many queries. */
function setOf(one: PreparedQuery, form: SetForm, count: number): PreparedQuery {
  const { sets } = formOf(one)
  const statement = sets.get(count) ?? { name: `${one.name}x${count}`, text: form.textFor(count) }
  sets.set(count, statement)
  return statement
}

const READ = /^\s*SELECT\s/
/** Without a conflict that leaves a row as it is: every row is written, and answered where it has a number. */
const INSERT =
  /^\s*(?<into>INSERT INTO \w+ \((?<first>\w+)[^()]*\)\s+VALUES )(?<row>\([^()]*\))(?<conflict>\s+ON CONFLICT \([^()]*\) DO UPDATE SET (?:(?!WHERE|\$)[\s\S])*?)?(?:\s+RETURNING (?<number>\w+))?\s*$/

/** Undefined for a statement that is asked by itself. */
export function setFormOf(text: string): SetForm | undefined {
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
  const width = Math.max(0, ...places)
  if (width === 0 || /'[^']*\$/.test(text)) return undefined
  const from = (part: string, index: number): string =>
    part.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + index * width}`)
  if (READ.test(text)) {
    const one = (_: unknown, index: number): string =>
      `SELECT ${index} AS ${PLACE}, one.* FROM (${from(text, index)}) AS one`
    return {
      kind: 'read',
      textFor: (count) => Array.from({ length: count }, one).join(' UNION ALL '),
      firstValue: undefined,
    }
  }
  const parts = INSERT.exec(text)?.groups
  if (parts === undefined) return undefined
  const { into = '', first = '', row = '', conflict = '', number } = parts
  const place = /^\(\s*\$(\d+)\s*,/.exec(row)?.[1]
  if (number !== undefined && place === undefined) return undefined
  const returning = number === undefined ? '' : ` RETURNING ${number}, ${first} AS ${FIRST}`
  const rowOf = (_: unknown, index: number): string => from(row, index)
  return {
    kind: 'insert',
    textFor: (count) => `${into}${Array.from({ length: count }, rowOf).join(', ')}${conflict}${returning}`,
    firstValue: number === undefined ? undefined : Number(place) - 1,
  }
}
