/**
 * Tasks that succeed together: the first failure aborts all others, and nobody leaves before all have ended.
 *
 * @example
 * const group = new TaskGroup(signal)
 * group.run(() => send(first, group.signal))
 * group.run(() => send(second, group.signal))
 * await group.settle()
 * group.close()
 */
export class TaskGroup {
  readonly #controller = new AbortController()
  readonly #tasks: Promise<unknown>[] = []
  readonly #outer: AbortSignal | undefined
  readonly #onOuterAbort = () => this.fail(this.#outer?.reason)
  #failure: { readonly error: unknown } | undefined

  /** @param outer - aborts the tasks, too, which then fail by its reason. */
  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer
    if (outer?.aborted) this.fail(outer.reason)
    outer?.addEventListener('abort', this.#onOuterAbort, { once: true })
  }

  /** Aborted by the first failure, by the outer signal, and by `cancel`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Begins a task, which minds the signal. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const running = task()
    this.#tasks.push(running)
    running.catch((error: unknown) => this.fail(error))
    return running
  }

  /** What a task would have failed by; the first of several counts. */
  fail(error: unknown): void {
    if (this.signal.aborted) return
    this.#failure = { error }
    this.#controller.abort(error)
  }

  /** Ends all tasks without a failure: what they were for is there already. */
  cancel(): void {
    this.#controller.abort(new Error('this is not needed any more'))
  }

  /** Resolves when all tasks have ended. @throws the first failure. */
  async settle(): Promise<void> {
    // A task may begin others.
    for (let settled = 0; settled < this.#tasks.length; ) {
      const begun = this.#tasks.slice(settled)
      settled = this.#tasks.length
      await Promise.allSettled(begun)
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Lets go of the outer signal. */
  close(): void {
    this.#outer?.removeEventListener('abort', this.#onOuterAbort)
  }
}
