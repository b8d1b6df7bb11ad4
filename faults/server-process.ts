import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { tempDirectory } from './temp-directory.ts'

/** The program of the command line. */
export const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))
/** What `npm start` gives Node.js. */
const { scripts } = createRequire(import.meta.url)('../package.json')
const NODE_FLAGS: readonly string[] = scripts.start.match(/ --\S+/g).map((flag: string) => flag.trim())
/** As `npm start` has it: a process that compiles the sources itself takes more memory. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 60_000

/** How a process ended: an exit code, or the signal that ended it. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** One running `lade serve`. */
export interface ServerProcess {
  readonly url: URL
  readonly pid: number
  readonly dataDir: string
  readonly exited: Promise<Exit>
  /** Waits for its end. @throws {Error} with its log when it still runs after `withinMs`. */
  ended(withinMs: number): Promise<Exit>
  /** What it wrote to its error stream so far. */
  log(): string
  /** What it wrote to its output stream so far. */
  printed(): string
  signal(signal: NodeJS.Signals): void
  /** SIGTERM, then waits for the end. @throws {Error} when it does not end within a minute. */
  stop(): Promise<Exit>
  /** SIGKILL, then waits for the end. */
  kill(): Promise<Exit>
}

export interface ServerOptions {
  /** Where its data is. @default a new directory of the running test */
  readonly dataDir?: string
  /** Variables besides those of {@link BASE_ENV}. */
  readonly env?: Readonly<Record<string, string>>
  /** Called with the process id as soon as there is one, long before it listens. */
  readonly onSpawned?: (pid: number) => void
}

/** Callers choose their own address by `X-Forwarded-For`, and nothing but what a test sets stands in the way of uploads. */
export const BASE_ENV = {
  LADE_MIN_FREE_MB: '0',
  LADE_LOG_LEVEL: 'warn',
  LADE_TRUSTED_PROXIES: '127.0.0.1',
  LADE_SIGNUPS_PER_HOUR: '1000000',
  LADE_SPONSORED_CONCURRENCY: '10000',
  LADE_TOKEN_CONCURRENCY: '10000',
}

/**
 * Starts `lade serve` on loopback and resolves when it has printed its address. It is ended, by its pid, with the test.
 *
 * @throws {Error} with its log when it ends or says nothing within a minute.
 */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? tempDirectory()
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'serve'], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...BASE_ENV, LADE_PORT: '0', LADE_DATA_DIR: dataDir, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) options.onSpawned?.(child.pid)
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const kill = (): Promise<Exit> => {
    child.kill('SIGKILL')
    return exited
  }
  const killWithThisProcess = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithThisProcess)
  exited.then(() => process.off('exit', killWithThisProcess))
  onTestFinished(async () => void (await kill()))

  const url = await printedAddress(child, exited, () => log)
  const { pid } = child
  if (pid === undefined) throw new Error('a running process has no pid')
  return {
    url,
    pid,
    dataDir,
    exited,
    kill,
    async ended(withinMs) {
      const end = await Promise.race([exited, sleep(withinMs, undefined, { ref: false })])
      if (end === undefined) throw new Error(`The server still runs after ${withinMs} ms:\n${log}`)
      return end
    },
    log: () => log,
    printed: () => printed,
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      const exit = await exited
      clearTimeout(late)
      if (exit.signal === 'SIGKILL') throw new Error(`The server did not end after SIGTERM:\n${log}`)
      return exit
    },
  }
}

function printedAddress(child: ChildProcess, exited: Promise<Exit>, log: () => string): Promise<URL> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`The server printed no address:\n${log()}`)), START_TIMEOUT_MS)
    let printed = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      // A whole line, so that no half of a port is taken for a port.
      const address = /(http:\/\/127\.0\.0\.1:\d+)[^\n]*\n/.exec(printed)?.[1]
      if (address === undefined) return
      clearTimeout(late)
      resolve(new URL(address))
    })
    exited.then(({ code, signal }) => {
      clearTimeout(late)
      reject(new Error(`The server ended with ${code ?? signal} before it was ready:\n${log()}`))
    })
  })
}
