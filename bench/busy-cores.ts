import { cpuBetween, readCpu } from './process-usage.ts'
import type { BusyCores } from './sample.ts'

/** What a load tells of its timed part. */
export interface TimedLoad {
  seconds: number
  machineBusySeconds: number
}

/**
 * Runs a load against the server `pid` and says which part of the machine it kept busy. The server must be idle
 * outside the timed part of the load, since its processor time is read around the whole call.
 */
export async function watchCores<Load extends TimedLoad>(
  pid: number,
  runLoad: () => Promise<Load>,
): Promise<{ load: Load; busyCores: BusyCores }> {
  const before = readCpu(pid)
  const load = await runLoad()
  const { totalSeconds, busiestSeconds } = cpuBetween(before, readCpu(pid))
  const busyCores = {
    server: totalSeconds / load.seconds,
    busiestServerThread: busiestSeconds / load.seconds,
    machine: load.machineBusySeconds / load.seconds,
  }
  return { load, busyCores }
}
