import { closeSync, existsSync, openSync, rmSync } from 'node:fs'

/**
 * A file beside the database, `<file>-failed`, that is there from the moment at which the disk failed a process until the records were
 * made durable again. Processes that share the records end when they see it, since only a process that is alone can do that.
 *
 * It need not survive a power cut, after which nothing is left of what the mark warns of.
 */
export interface FailureMark {
  /** Where the file is. */
  readonly file: string
  isSet(): boolean
  /** Does nothing where the disk takes no new file, on which no process can go on writing either. */
  set(): void
  clear(): void
}

export function failureMark(databaseFile: string): FailureMark {
  const file = `${databaseFile}-failed`
  return {
    file,
    isSet: () => existsSync(file),
    set() {
      try {
        closeSync(openSync(file, 'a', 0o600))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error
      }
    },
    clear: () => rmSync(file, { force: true }),
  }
}
