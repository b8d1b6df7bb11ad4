import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MachineFacts } from './machine-facts.ts'
import type { BenchOptions } from './options.ts'
import type { RunningProcesses } from './running-processes.ts'

/** What every measurement is given. */
export interface BenchRun {
  options: BenchOptions
  machine: MachineFacts
  processes: RunningProcesses
  /** Parent of every folder that the run makes. */
  scratchDir: string
  /** Tells how far the run is. */
  progress: (line: string) => void
}

/** Gives `use` an empty folder and removes it with all that is in it, also when `use` fails. */
export async function withScratchDir<T>(run: BenchRun, name: string, use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(run.scratchDir, `${name}-`))
  try {
    return await use(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
