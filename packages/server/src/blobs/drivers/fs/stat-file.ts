import { constants } from 'node:fs'
import type { Files, OpenFile } from './files.ts'
import { unlessMissing } from './fs-failure.ts'

/** What a file is now; undefined when it is not there. */
export async function statFile(files: Files, path: string): Promise<OpenFile | undefined> {
  const fd = await unlessMissing(() => files.open(path, constants.O_RDONLY))
  if (fd === undefined) return undefined
  try {
    return await files.statOpen(fd)
  } finally {
    await files.close(fd)
  }
}
