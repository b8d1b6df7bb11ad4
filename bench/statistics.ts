/**
 * Gives the value at `fraction` of the ascending order of `values` (nearest rank).
 *
 * @param fraction - 0 to 1; 0.99 for the 99th percentile.
 * @example
 * percentile([5, 1, 3], 0.5) // 3
 */
export function percentile(values: ArrayLike<number>, fraction: number): number {
  const ascending = Float64Array.from(values).sort()
  const value = ascending[Math.max(0, Math.ceil(fraction * ascending.length) - 1)]
  if (value === undefined) throw new TypeError('a percentile needs at least one value')
  return value
}

/**
 * Gives the median; of an even number of values, the mean of the middle two.
 *
 * @example
 * median([4, 1, 3, 2]) // 2.5
 */
export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b)
  const upper = ascending[Math.floor(ascending.length / 2)]
  const lower = ascending[Math.ceil(ascending.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new TypeError('a median needs at least one value')
  return (lower + upper) / 2
}
