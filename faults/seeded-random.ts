/** Numbers that look random and can be had again from their seed. */
export interface SeededRandom {
  readonly seed: number
  /** At least 0, less than 1. */
  next(): number
  /** A whole number from `low` to `high`, both possible. */
  between(low: number, high: number): number
  /** As `between`, with every order of magnitude equally likely. */
  betweenMagnitudes(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
}

/** The seed of this run: `LADE_TEST_SEED`, else the time. Every test that uses it shows it when it fails. */
export const runSeed = Number(process.env.LADE_TEST_SEED ?? Date.now() % 2 ** 32)

/** Mulberry32: 32 bits of state, good enough to choose sizes and moments. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  return {
    seed,
    next,
    between,
    betweenMagnitudes: (low, high) =>
      Math.floor(Math.exp(Math.log(low) + next() * (Math.log(high + 1) - Math.log(low)))),
    pick(items) {
      const item = items[between(0, items.length - 1)]
      if (item === undefined) throw new TypeError('nothing to pick from')
      return item
    },
  }
}
