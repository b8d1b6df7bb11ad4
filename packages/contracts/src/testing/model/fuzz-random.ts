/** A generator of numbers from 0 to below `end`, the same for the same seed (mulberry32). */
export function randomOf(seed: number): (end: number) => number {
  let state = seed
  return (end) => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), 1 | state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return Math.floor((((word ^ (word >>> 14)) >>> 0) / 2 ** 32) * end)
  }
}
