import { readLogins } from '../account/login-file.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { broken, type Finding, ok, warning } from './finding.ts'

const LEAST_NODE = 24

/** The version of Node.js that runs this program. */
export function checkNode(version: string): Finding {
  const major = Number.parseInt(version, 10)
  return major >= LEAST_NODE
    ? ok('node', `Node.js ${version} runs this program.`)
    : broken('node', `Node.js ${version} is too old. Lade needs ${LEAST_NODE} or newer.`)
}

/** The file of logins, and who can read it. */
export async function checkLogins(terminal: Terminal): Promise<Finding> {
  try {
    const { file, exists, warnings, logins } = await readLogins(terminal)
    if (!exists) return ok('logins', `There is no login in ${file}. "lade login" saves one.`)
    const [first] = warnings
    if (first !== undefined) return warning('logins', first)
    const services = Object.keys(logins.tokens)
    return ok('logins', `${file} is readable only by you. It has tokens for ${services.join(', ') || 'no service'}.`)
  } catch (error) {
    if (error instanceof UsageError) return broken('logins', error.message)
    if (error instanceof Error && 'syscall' in error) return broken('logins', `${error.message}.`)
    throw error
  }
}
