import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * True when nothing has this name, in a folder that exists. Neither question needs a file descriptor.
 *
 * A failure to look is never absence: a file that cannot be opened may exist all the same.
 *
 * @param path - absolute.
 * @throws {Error} the system's own, when the file or its folder cannot be looked up, and `ENOENT` when the folder is missing, as it is
 *   when its disk is not mounted.
 *
 * @example
 * isAbsent('/srv/lade/instances/2f1d.lock') // false while the instance lives
 */
export function isAbsent(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  statSync(dirname(path))
  return true
}
