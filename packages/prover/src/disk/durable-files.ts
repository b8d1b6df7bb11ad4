import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@lade/node/disk/durable-directory'

/** Files are the prover's alone, also in a folder that others may enter. */
export const FILE_MODE = 0o600

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
  await syncDirectory(dirname(path))
}
