import type { BenchRun } from '../bench-run.ts'
import type { SmallUploadInput, SmallUploadResult } from '../load/small-upload.ts'
import type { RunningServer } from '../running-processes.ts'
import { portOf } from '../servers/lade.ts'

const LOAD = new URL('../load/small-upload.ts', import.meta.url)
/** Far more than any server here stores, so that a load never runs out of bodies. */
const MAX_BODIES_PER_SECOND = 40_000
/** How long the load takes beside its timed part. */
const MOST_OTHER_MS = 170_000

export type SmallUploads = Omit<SmallUploadInput, 'port' | 'maxBodies'> & Partial<Pick<SmallUploadInput, 'maxBodies'>>

/** Uploads small bodies from a process of their own. */
export function sendSmallUploads(
  run: BenchRun,
  server: RunningServer,
  uploads: SmallUploads,
): Promise<SmallUploadResult> {
  const { seconds, maxBodies = seconds * MAX_BODIES_PER_SECOND } = uploads
  const input: SmallUploadInput = { ...uploads, port: portOf(server), maxBodies }
  return run.processes.runScript(LOAD, input, seconds * 1000 + MOST_OTHER_MS)
}
