import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Creates `directory` (mode 0700) with its missing parents, and makes their names durable; also the name of one that is there, since
 * whoever made it may not have come to the fsync.
 *
 * One level at a time: the recursive `mkdir` of Node.js never ends where a parent exists and takes no entries (`/proc`).
 *
 * @param directory - absolute.
 */
export async function createDurableDirectory(directory: string): Promise<void> {
  const parent = dirname(directory)
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return syncForeignDirectory(parent)
    if (!hasCode(error, 'ENOENT') || parent === directory) throw error
    await createDurableDirectory(parent)
    await createLastDirectory(directory)
  }
  await syncDirectory(parent)
}

/**
 * A directory that may be passed but not read belongs to the operator, and so do the names in it. In one that takes no writes no name waits
 * to become durable.
 */
async function syncForeignDirectory(directory: string): Promise<void> {
  try {
    await syncDirectory(directory)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code))) throw error
  }
}

/** Makes the names in `directory` durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(join(directory, '.'), constants.O_RDONLY | constants.O_DIRECTORY)
  await handle.sync()
}

/** Another process may have been first. */
async function createLastDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** True for an error of the system with this code, such as `EEXIST`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
