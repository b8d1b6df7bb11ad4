import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary directory of one server. */
export interface TempHome {
  readonly path: string
  /** Removes it with everything in it. */
  discard(): void
}

/** Makes a directory that is removed at the latest when this process exits. @param name - begins its name. */
export function openTempHome(name: string): TempHome {
  const path = mkdtempSync(join(tmpdir(), `lade-${name}-`))
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  return {
    path,
    discard() {
      process.off('exit', remove)
      remove()
    },
  }
}
