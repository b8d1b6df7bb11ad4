/** What the job did since it was created, for the metrics. */
export interface PlacementCounts {
  readonly audits: readonly { readonly prover: string; readonly passed: number; readonly failed: number }[]
  /** Copies that were chosen in the place of one that failed. */
  readonly copiesMoved: number
  readonly copiesFailed: number
  readonly aggregatesMade: number
  readonly aggregatesDissolved: number
}

/** Counts for {@link PlacementCounts}. */
export class PlacementCounters {
  readonly #audits = new Map<string, { passed: number; failed: number }>()
  copiesMoved = 0
  copiesFailed = 0
  aggregatesMade = 0
  aggregatesDissolved = 0

  audited(prover: string, passed: boolean): void {
    const counts = this.#audits.get(prover) ?? { passed: 0, failed: 0 }
    counts[passed ? 'passed' : 'failed'] += 1
    this.#audits.set(prover, counts)
  }

  snapshot(): PlacementCounts {
    return {
      audits: [...this.#audits].map(([prover, counts]) => ({ prover, ...counts })),
      copiesMoved: this.copiesMoved,
      copiesFailed: this.copiesFailed,
      aggregatesMade: this.aggregatesMade,
      aggregatesDissolved: this.aggregatesDissolved,
    }
  }
}
