/** Counts calls that drivers repeat after a failure, for the metrics. */
export class RetryCounters {
  readonly #counts = new Map<string, number>()

  /** What a driver tells of each call that it repeats. */
  of(driver: 's3' | 'prover'): () => void {
    this.#counts.set(driver, this.#counts.get(driver) ?? 0)
    return () => void this.#counts.set(driver, (this.#counts.get(driver) ?? 0) + 1)
  }

  /** By driver; those that are not used are left out. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts
  }
}
