/** A task that is run again and again. */
export interface Repetition {
  /** Resolves when no run is under way and none will come. */
  stop(): Promise<void>
}

/**
 * Runs `task` again and again, one run at a time, `everyMs` after the last one has ended. The first run is `everyMs` from now. Waiting
 * keeps no process alive.
 *
 * @param task - must deal with its own failures; one that it does not is an unhandled rejection.
 *
 * @example
 * const repetition = repeat(() => sample().catch(report), 2000)
 * await repetition.stop()
 */
export function repeat(task: () => Promise<void>, everyMs: number): Repetition {
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> = Promise.resolve()
  let isStopped = false

  function schedule(): void {
    if (isStopped) return
    timer = setTimeout(() => {
      underWay = task().finally(schedule)
    }, everyMs)
    timer.unref()
  }

  schedule()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
