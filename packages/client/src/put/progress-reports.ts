const MIN_INTERVAL_MS = 50

/** Reports how far something has come: each phase once, in their order, and numbers between them at most every 50 ms. */
export class ProgressReports<Phase extends string, Progress> {
  readonly #phases: readonly Phase[]
  readonly #report: ((progress: Progress) => void) | undefined
  readonly #onError: (error: unknown) => void
  readonly #progress: (phase: Phase) => Progress
  #phase: Phase
  #reportedAt = Number.NEGATIVE_INFINITY

  /**
   * @param phases - in their order; the first is where it begins.
   * @param progress - what is reported, made only when it is.
   * @param onError - what `report` throws, since nobody else could catch it.
   */
  constructor(
    phases: readonly [Phase, ...Phase[]],
    progress: (phase: Phase) => Progress,
    report: ((progress: Progress) => void) | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#phases = phases
    this.#phase = phases[0]
    this.#progress = progress
    this.#report = report
    this.#onError = onError
  }

  /** Reports a phase at once; one that is past is not entered again. */
  enter(phase: Phase): void {
    if (this.#phases.indexOf(phase) <= this.#phases.indexOf(this.#phase)) return
    this.#phase = phase
    this.tellNow()
  }

  tell(): void {
    if (this.#report === undefined) return
    const now = performance.now()
    if (now - this.#reportedAt < MIN_INTERVAL_MS) return
    this.#reportedAt = now
    try {
      this.#report(this.#progress(this.#phase))
    } catch (error) {
      this.#onError(error)
    }
  }

  tellNow(): void {
    this.#reportedAt = Number.NEGATIVE_INFINITY
    this.tell()
  }
}
