import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Files are the prover's alone, also in a folder that others may enter. */
export const FILE_MODE = 0o600

/** Creates a directory with its missing parents and makes their names durable. Nothing happens when it is there. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  // From the inside out: each name lies in the directory above it.
  for (let made = directory; ; made = dirname(made)) {
    await syncDirectory(dirname(made))
    if (made === first) return
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  await handle.sync()
}

/** Replaces a file as a whole: after a crash it has the old bytes or the new ones. Durable once this resolves. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const pending = `${path}.${randomUUID()}.pending`
  try {
    {
      await using handle = await open(pending, 'wx', FILE_MODE)
      await handle.writeFile(text)
      await handle.sync()
    }
    await rename(pending, path)
  } catch (error) {
    await rm(pending, { force: true })
    throw error
  }
  await syncDirectory(join(path, '..'))
}

/** True for an error of the system with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
