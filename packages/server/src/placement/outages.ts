/** Failures in a row after which a prover counts as away. */
const AWAY_AFTER = 3

/**
 * Which provers do not answer at the moment, as far as this process has seen. It decides who is asked first, and nothing else, so that
 * it is kept in memory.
 */
export class Outages {
  readonly #silences = new Map<string, number>()

  answered(prover: string): void {
    this.#silences.delete(prover)
  }

  wasSilent(prover: string): void {
    this.#silences.set(prover, (this.#silences.get(prover) ?? 0) + 1)
  }

  /** False after three failures in a row. */
  isHere(prover: string): boolean {
    return (this.#silences.get(prover) ?? 0) < AWAY_AFTER
  }
}
