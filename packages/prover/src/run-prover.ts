import { stopSignal } from '@lade/node/process/stop-signal'
import { pino } from 'pino'
import { readProverSettings } from './settings.ts'
import { startProver } from './start-prover.ts'

/** What a process has that runs a prover. */
export interface ProverSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Takes the one line that says where the prover is reached. */
  readonly print: (line: string) => void
}

/**
 * Runs a prover until SIGTERM or SIGINT, lets what is under way end, and resolves. A second signal ends the process at once
 * with 1. Failures are logged to stderr, as JSON.
 *
 * @throws {ConfigError} for a setting that is wrong.
 * @throws {Error} when the prover cannot start.
 */
export async function runProver({ env, cwd, print }: ProverSurroundings): Promise<void> {
  const settings = readProverSettings(env, cwd)
  // Before the start, so that a signal during it is not lost.
  const stopAsked = stopSignal()
  const log = pino({ level: 'warn' }, pino.destination({ fd: 2, sync: true }))
  const prover = await startProver({ ...settings, log })
  print(`The prover is ready at ${prover.url} (data in ${settings.dir})`)
  await stopAsked
  await prover.close()
}
