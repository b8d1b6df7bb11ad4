import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Terminal } from '../terminal.ts'
import { LocalError } from '../usage-error.ts'

/** No key and no keystore is larger. */
const MAXIMUM_BYTES = 64 * 1024

/** What a file with a secret holds. */
export interface SecretFile {
  readonly text: string
  /** Where other users of the machine can read it, its mode, such as `644`; never on Windows, whose files have none. */
  readonly openMode: string | undefined
}

/**
 * Reads a file that holds a secret, and looks at who else can.
 *
 * @param name - as the user gave it, relative to the working directory or not.
 * @param what - what named it, for the refusal.
 * @throws {LocalError} when it cannot be read, or is far too large to be one.
 */
export async function readSecretFile(
  name: string,
  what: string,
  { cwd, platform }: Pick<Terminal, 'cwd' | 'platform'>,
): Promise<SecretFile> {
  const path = resolve(cwd, name)
  try {
    await using file = await open(path, 'r')
    const { mode, size } = await file.stat()
    if (size > MAXIMUM_BYTES) throw new LocalError(`${path} (${what}) is too large for a secret.`)
    const isOpen = platform !== 'win32' && (mode & 0o077) !== 0
    const openMode = isOpen ? (mode & 0o777).toString(8) : undefined
    return { text: await file.readFile('utf8'), openMode }
  } catch (error) {
    if (error instanceof LocalError) throw error
    throw new LocalError(`Cannot read ${path} (${what}).`, { cause: error })
  }
}
