import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchRun } from './bench-run.ts'
import { readMachineFacts } from './machine-facts.ts'
import type { BenchOptions } from './options.ts'
import { RunningProcesses } from './running-processes.ts'

/** Opens a run. Its processes and its folder do not outlive this process, also after Ctrl-C. */
export function openRun(options: BenchOptions): BenchRun {
  const processes = new RunningProcesses()
  const scratchDir = mkdtempSync(join(options.dir, 'lade-bench-'))
  // 'exit' comes after success, failure and the signals below alike; only synchronous work is possible in it.
  process.once('exit', () => {
    processes.killAll()
    // Killed processes may write a little longer.
    rmSync(scratchDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  const progress = (line: string) => console.error(line)
  return { options, machine: readMachineFacts(scratchDir), processes, scratchDir, progress }
}
