import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** A token of an operator, minted on the command line as operators do. @param env - the key that the service signs with. */
export async function adminToken(env: Readonly<Record<string, string>>): Promise<string> {
  const args = [MAIN, 'keys', 'mint', '--email', 'ops@example.org', '--scopes', 'admin']
  const { PATH, HOME } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME, ...env } })
  return stdout.trim()
}
