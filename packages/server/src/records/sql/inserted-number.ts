import type { Steps } from './sql.ts'

/**
 * The number of the row that an insertion adds, whose statement ends in `RETURNING` that number and has no conflict to ignore.
 *
 * @throws {TypeError} for a statement that added none.
 *
 * @example
 * const id = yield* insertedNumber(insert.get(name))
 */
export function* insertedNumber(insertion: Steps<number | undefined>): Steps<number> {
  const number = yield* insertion
  if (number === undefined) throw new TypeError('an insertion answers the number of its row')
  return number
}
