import { mkdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { forgetPeakMemory, type ResidentMemory, readResidentMemory } from '../process-usage.ts'
import { signUp, startLade } from '../servers/lade.ts'
import type { MemoryLoad } from './loads.ts'

/** When a start is over, and what it left has been collected. */
const START_SECONDS = 20
const SETTINGS = { LADE_TOKEN_CONCURRENCY: '256' }

/** What a load took, each as the operating system says. */
export interface MeasuredMemory {
  readonly load: MemoryLoad
  readonly atRest: ResidentMemory
  readonly later: ResidentMemory
}

/** Applies a load to a service of its own, which is at rest before, and reads its memory until `restSeconds` after it. */
export function measureMemory(run: BenchRun, load: MemoryLoad, restSeconds: number): Promise<MeasuredMemory> {
  return withScratchDir(run, 'memory', async (dir) => {
    const dataDir = `${dir}/data`
    await mkdir(dataDir)
    if (load.prepare !== undefined) {
      const preparing = await startLade(run, dataDir, undefined, SETTINGS)
      try {
        await load.prepare(preparing, await signUp(preparing, 'prepare'))
      } finally {
        await preparing.stop()
      }
    }
    const server = await startLade(run, dataDir, undefined, SETTINGS)
    try {
      const token = await signUp(server)
      await wait(START_SECONDS * 1000)
      const atRest = readResidentMemory(server.pid)
      forgetPeakMemory(server.pid)
      await load.apply(server, token)
      await wait(restSeconds * 1000)
      return { load, atRest, later: readResidentMemory(server.pid) }
    } finally {
      await server.stop()
    }
  })
}
