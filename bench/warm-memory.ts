import { freemem } from 'node:os'
import type { BenchRun } from './bench-run.ts'

/**
 * Touches memory, so that the page cache of the next sample is less likely to meet what the host has taken back.
 *
 * A virtual machine may return freed memory to its host after a second or two, and pays for it again at the first
 * touch: up to two processor seconds a GiB, for one sample and not for the next. Call it right before the timed part.
 * A precaution: which pages the next sample gets is up to the kernel. At most half of the free memory is touched.
 *
 * @param sizeBytes - how much the sample is going to write.
 */
export async function warmMemory(run: BenchRun, sizeBytes: number): Promise<void> {
  // Half as much again: the kernel does not take the pages in the order in which they were given back.
  const touchedBytes = Math.min(1.5 * sizeBytes, freemem() / 2)
  await run.processes.runScript(new URL('load/touch-memory.ts', import.meta.url), { sizeBytes: touchedBytes }, 120_000)
}
