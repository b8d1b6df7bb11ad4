import type { BenchRun } from '../bench-run.ts'
import type { RunningServer } from '../running-processes.ts'
import { nodeFlagsOf } from './node-flags.ts'

/**
 * Starts Lade over `dataDir` as its command does, with limits that stay out of the way. Settings of this shell do not reach it, so that
 * a run can never touch the data of an installed service.
 *
 * @param script - started in place of the script that the run measures.
 * @param settings - `LADE_*` variables of this measurement.
 */
export function startLade(
  run: BenchRun,
  dataDir: string,
  script?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const { ladeScript, ladeEnv, sizeBytes } = run.options
  const served = script ?? ladeScript
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('LADE_'))
  const fileMb = Math.max(5120, Math.ceil(sizeBytes / 1024 / 1024))
  return run.processes.startServer({
    program: process.execPath,
    args: [...nodeFlagsOf(served), served, 'serve'],
    env: {
      ...Object.fromEntries(inherited),
      LADE_HOST: '127.0.0.1',
      LADE_PORT: '0',
      LADE_DATA_DIR: dataDir,
      LADE_LOG_LEVEL: 'warn',
      LADE_MIN_FREE_MB: '0',
      LADE_TOKEN_FILE_MB: String(fileMb),
      LADE_TOKEN_DAILY_MB: '1048576',
      LADE_TOKEN_DAILY_FILES: '1000000000',
      LADE_TOKEN_CONCURRENCY: '64',
      LADE_SIGNUPS_PER_HOUR: '1000',
      ...settings,
      ...ladeEnv,
    },
  })
}

/** Signs up and gives the token. Each `name` is a principal of its own. */
export async function signUp(server: RunningServer, name = 'bench'): Promise<string> {
  const response = await fetch(`${server.url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.org`, label: 'bench' }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`the signup was answered with ${response.status}: ${text}`)
  const { token }: { token?: unknown } = JSON.parse(text)
  if (typeof token !== 'string') throw new Error('the signup gave no token')
  return token
}

/** The port of a server, for load processes that speak to it over bare sockets. */
export function portOf(server: RunningServer): number {
  return Number(new URL(server.url).port)
}
