/** Work of one kind: a few tasks at once, the others in their turn, and none of them twice at a time. */
export class TaskQueue {
  readonly #size: number
  readonly #onDone: (error: unknown) => void
  readonly #keys = new Set<unknown>()
  #waiting: { readonly key: unknown; readonly task: () => Promise<void> }[] = []
  #running = 0
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  /**
   * @param size - how many tasks run at once.
   * @param onDone - called after each task, with what it threw or undefined.
   */
  constructor(size: number, onDone: (error: unknown) => void) {
    this.#size = size
    this.#onDone = onDone
  }

  /** True when nothing waits for its turn, so that more can be offered. */
  get isOpen(): boolean {
    return this.#waiting.length === 0
  }

  get isIdle(): boolean {
    return this.#keys.size === 0
  }

  /** Tasks that run or wait. */
  get count(): number {
    return this.#keys.size
  }

  /** Takes a task, unless one with this key runs or waits. */
  offer(key: unknown, task: () => Promise<void>): void {
    if (this.#keys.has(key)) return
    this.#keys.add(key)
    this.#waiting.push({ key, task })
    this.#startNext()
  }

  /** Forgets what waits. What runs ends by itself. */
  dismiss(): void {
    for (const { key } of this.#waiting) this.#keys.delete(key)
    this.#waiting = []
  }

  /** Resolves when nothing runs or waits. */
  async whenIdle(): Promise<void> {
    if (this.isIdle) return
    this.#idle ??= Promise.withResolvers<void>()
    await this.#idle.promise
  }

  #startNext(): void {
    while (this.#running < this.#size) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#running += 1
      void this.#run(next.key, next.task)
    }
  }

  async #run(key: unknown, task: () => Promise<void>): Promise<void> {
    let failure: unknown
    try {
      await task()
    } catch (error) {
      // Whatever it is, it is for the owner of the queue to judge.
      failure = error ?? new Error('a task failed without a reason')
    }
    this.#running -= 1
    this.#keys.delete(key)
    this.#startNext()
    this.#onDone(failure)
    if (!this.isIdle) return
    this.#idle?.resolve()
    this.#idle = undefined
  }
}
