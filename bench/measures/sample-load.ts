import { watchCores } from '../busy-cores.ts'
import type { LoadResult } from '../load/connections.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import type { RunningServer } from '../running-processes.ts'
import type { Sample } from '../sample.ts'

/** Takes one sample of a load on a server, which must be idle before: how much it did a second, and what the server used for that. */
export async function sampleLoad<Load extends LoadResult>(
  { pid }: RunningServer,
  runLoad: () => Promise<Load>,
): Promise<{ readonly sample: Sample; readonly load: Load }> {
  const { load, busyCores } = await watchCores(pid, runLoad)
  const { completed, seconds, latencyMs } = load
  const peakMemoryBytes = readPeakMemoryBytes(pid)
  return { sample: { value: completed / seconds, latencyMs, busyCores, peakMemoryBytes }, load }
}
