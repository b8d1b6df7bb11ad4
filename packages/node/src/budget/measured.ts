/**
 * Runs `task` and hands on what it cost this thread, in milliseconds of processor time, however it ends. Of a task that answers a promise
 * that is what it does before it waits for the first time.
 *
 * @example
 * const digest = measured(() => sha256Hex(bytes), (processorMs) => bill.spend(processorMs))
 */
export function measured<Result>(task: () => Result, onProcessorMs: (processorMs: number) => void): Result {
  const before = process.threadCpuUsage()
  try {
    return task()
  } finally {
    const { user, system } = process.threadCpuUsage(before)
    onProcessorMs((user + system) / 1000)
  }
}

/**
 * The same for a task that takes some microseconds, which is less than asking for the processor time. It goes by the clock, so that a task
 * during which the thread had to wait seems to take longer, `mostMs` at most.
 */
export function measuredShortly<Result>(
  task: () => Result,
  mostMs: number,
  onProcessorMs: (processorMs: number) => void,
): Result {
  const startedAt = performance.now()
  try {
    return task()
  } finally {
    onProcessorMs(Math.min(mostMs, performance.now() - startedAt))
  }
}

/** What a task answered, and what it cost this thread, in milliseconds of processor time. One that fails is not measured. */
export function measuredResult<Result>(task: () => Result): { readonly result: Result; readonly processorMs: number } {
  let processorMs = 0
  const result = measured(task, (spentMs) => {
    processorMs = spentMs
  })
  return { result, processorMs }
}
