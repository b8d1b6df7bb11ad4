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
