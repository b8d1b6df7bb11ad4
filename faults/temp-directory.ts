import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of the running test; it is removed when the test ends, after the processes that the test started. */
export function tempDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'lade-faults-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
