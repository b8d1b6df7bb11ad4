/** The exit code of a process that is told to stop a second time. */
const EXIT_WITHOUT_STOPPING = 1

/**
 * Resolves at the first SIGTERM or SIGINT. The second one ends the process at once, with code 1.
 *
 * @example
 * const stopAsked = stopSignal()
 * const prover = await startProver(settings)
 * await stopAsked
 * await prover.close()
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (): void => {
      if (isStopping) process.exit(EXIT_WITHOUT_STOPPING)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
