import type { Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { LocalError, UsageError } from './usage-error.ts'

/** What a path that was named on the command line leads to. @throws {LocalError} when that is nothing, or cannot be looked at. */
export async function statOf(path: string, shown: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new LocalError(`There is no file ${shown}.`)
    throw new LocalError(`Cannot read ${shown}.`, { cause: error })
  }
}

/**
 * The path of a file that was named on the command line and can be read.
 *
 * @param reader - the command that reads it, for the refusal of a folder.
 * @throws {UsageError} for a folder.
 * @throws {LocalError} for what is not there, is no file, or cannot be read.
 */
export async function readableFile(shown: string, cwd: string, reader: string): Promise<string> {
  const path = resolve(cwd, shown)
  const found = await statOf(path, shown)
  if (found.isDirectory()) throw new UsageError(`${shown} is a folder. "lade ${reader}" takes files.`)
  if (!found.isFile()) throw new LocalError(`${shown} is not a regular file. Save its content to a file first.`)
  try {
    await (await open(path, 'r')).close()
  } catch (error) {
    throw new LocalError(`Cannot read ${shown}.`, { cause: error })
  }
  return path
}
