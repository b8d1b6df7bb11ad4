import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Creates `directory` (mode 0700) with its missing parents, and makes their names durable. Nothing happens when it is there.
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
    if (hasCode(error, 'EEXIST')) return
    if (!hasCode(error, 'ENOENT') || parent === directory) throw error
    await createDurableDirectory(parent)
    await createLastDirectory(directory)
  }
  await syncDirectory(parent)
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
