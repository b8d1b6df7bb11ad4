import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { configFolder } from './folders.ts'

/** What `lade login` remembers. */
export interface Logins {
  /** The service that is meant when none is named. */
  readonly url?: string
  /** Tokens by the address of their service: a token is never sent to another one. */
  readonly tokens: Readonly<Record<string, string>>
}

/** The logins, and what is wrong with the way they are kept. */
export interface OpenedLogins {
  readonly logins: Logins
  readonly file: string
  readonly exists: boolean
  readonly warnings: readonly string[]
}

/** The path of the file: `config.json` in the platform's folder for settings. */
export function loginFile(terminal: Pick<Terminal, 'platform' | 'env' | 'homeDir'>): string {
  return join(configFolder(terminal), 'config.json')
}

/**
 * Reads the logins; none when there is no file.
 *
 * A file that other users can read is used all the same, with a warning.
 *
 * @throws {UsageError} for a file that does not hold logins.
 */
export async function readLogins(terminal: Pick<Terminal, 'platform' | 'env' | 'homeDir'>): Promise<OpenedLogins> {
  const file = loginFile(terminal)
  let text: string
  let mode: number
  try {
    text = await readFile(file, 'utf8')
    mode = (await stat(file)).mode
  } catch (error) {
    if (isAbsence(error)) return { logins: { tokens: {} }, file, exists: false, warnings: [] }
    throw error
  }
  const othersMayRead = terminal.platform !== 'win32' && (mode & 0o077) !== 0
  const warnings = othersMayRead
    ? [
        `${file} is readable by other users of this machine (mode ${(mode & 0o777).toString(8)}). Run chmod 600 on it. If others may have read it, replace the token.`,
      ]
    : []
  return { logins: parseLogins(text, file), file, exists: true, warnings }
}

/**
 * Replaces the logins, atomically and durably, readable by their owner only. A file that is a link stays one.
 *
 * @returns the path of the file.
 */
export async function writeLogins(terminal: Pick<Terminal, 'platform' | 'env' | 'homeDir'>, logins: Logins) {
  const named = loginFile(terminal)
  await mkdir(dirname(named), { recursive: true, mode: 0o700 })
  const file = await realpath(named).catch((error: unknown) => {
    if (isAbsence(error)) return named
    throw error
  })
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(`${JSON.stringify(logins, null, 2)}\n`)
    await handle.sync()
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return named
}

function parseLogins(text: string, file: string): Logins {
  const refusal = new UsageError(`${file} is not a valid login file. Fix it, or remove it and log in again.`)
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal
    throw error
  }
  if (!isRecord(found)) throw refusal
  const { url, tokens = {} } = found
  if (url !== undefined && typeof url !== 'string') throw refusal
  if (!isRecord(tokens) || !Object.values(tokens).every((token) => typeof token === 'string')) throw refusal
  return { ...(url !== undefined && { url }), tokens: tokens as Record<string, string> }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
