import { percentile } from '../statistics.ts'
import type { Operation } from './operations.ts'

/** How long an operation took at one size of the data. */
export interface Timing {
  readonly files: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  readonly count: number
}

export interface Measured {
  readonly operation: string
  /** From the smallest to the biggest size. */
  readonly timings: readonly Timing[]
  /** Why there are none. */
  readonly failure?: string
}

/** The same operation on data of each size. */
export interface Sized {
  readonly files: number
  readonly operation: Operation
}

const TIMES = 1000
const WARM_UP = 100
const BLOCK = 20
/** An operation that takes this long is not run as often as it should be. */
const LONGEST_MS = 30_000

/**
 * Times one operation at every size by turns, a few runs each, so that whatever else the machine does falls on all alike. Runs before
 * that warm the caches.
 */
export async function measure(sizes: readonly Sized[]): Promise<Measured> {
  const operation = sizes[0]?.operation.name ?? ''
  const times = sizes[0]?.operation.times ?? TIMES
  const samples = sizes.map((): number[] => [])
  try {
    for (const one of sizes) {
      const startedAt = performance.now()
      for (
        let index = 0;
        index < Math.min(WARM_UP, times) && performance.now() - startedAt < LONGEST_MS / 10;
        index += 1
      ) {
        await one.operation.run(index)
      }
    }
    const startedAt = performance.now()
    for (let from = WARM_UP; from < WARM_UP + times; from += BLOCK) {
      for (const [which, one] of sizes.entries()) {
        for (let index = from; index < Math.min(from + BLOCK, WARM_UP + times); index += 1) {
          if (performance.now() - startedAt > LONGEST_MS && (samples[which]?.length ?? 0) > 0) break
          const begun = performance.now()
          await one.operation.run(index)
          samples[which]?.push(performance.now() - begun)
        }
      }
    }
  } catch (error) {
    return { operation, timings: [], failure: error instanceof Error ? error.message : String(error) }
  }
  const timings = sizes.map(({ files }, which): Timing => {
    const taken = samples[which] ?? []
    const [p50Ms, p99Ms, longestMs] = [percentile(taken, 0.5), percentile(taken, 0.99), percentile(taken, 1)]
    return { files, p50Ms, p99Ms, longestMs, count: taken.length }
  })
  return { operation, timings }
}
