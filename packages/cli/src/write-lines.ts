import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { LocalError } from './usage-error.ts'

/**
 * Writes lines to a new file that only its owner can read, and syncs it.
 *
 * @returns how many lines there are.
 * @throws {LocalError} when the file is there, or cannot be written.
 */
export async function writeLines(shown: string, cwd: string, lines: AsyncIterable<string>): Promise<number> {
  const handle = await open(resolve(cwd, shown), 'wx', 0o600).catch((error: unknown) => {
    throw new LocalError(`Cannot write ${shown}.`, { cause: error })
  })
  await using _ = handle
  let count = 0
  for await (const line of lines) {
    await handle.write(`${line}\n`)
    count += 1
  }
  await handle.sync()
  return count
}
