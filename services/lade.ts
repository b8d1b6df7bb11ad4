import { fileURLToPath } from 'node:url'
import { type Child, type Exit, startChild } from './child.ts'

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))
const START_TIMEOUT_MS = 60_000

/** One running `lade serve`. */
export interface Lade {
  readonly url: URL
  readonly pid: number
  readonly exited: Promise<Exit>
  readonly isRunning: boolean
  log(): string
  signal(signal: NodeJS.Signals): void
  /** SIGTERM, then waits. @throws {Error} with its log when it still runs after `withinMs`. */
  stop(withinMs?: number): Promise<Exit>
  /** SIGKILL, then waits for the end. */
  kill(): Promise<Exit>
}

/**
 * Starts `lade serve` with exactly the variables in `env`, and resolves when it has printed its address. Nothing of the
 * caller's own settings reaches it.
 *
 * @param program - the command line: that of the sources, or of an installed package.
 * @throws {Error} with its log when it ends, or prints no address within a minute.
 */
export async function startLade(env: Readonly<Record<string, string>>, program: string = MAIN): Promise<Lade> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const child = startChild(process.execPath, [program, 'serve'], { env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } })
  const url = await addressOf(child)
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    get isRunning() {
      return child.isRunning
    },
    log: child.errors,
    signal: child.signal,
    stop: (withinMs = 60_000) => child.end('SIGTERM', withinMs),
    kill: () => child.end('SIGKILL', 60_000),
  }
}

async function addressOf(child: Child): Promise<URL> {
  try {
    // A whole line, so that no half of a port is taken for a port.
    const [, address = ''] = await child.says(/(http:\/\/\S+) [^\n]*\n/, START_TIMEOUT_MS)
    return new URL(address)
  } catch (error) {
    if (child.isRunning) await child.end('SIGKILL', START_TIMEOUT_MS)
    throw error
  }
}
