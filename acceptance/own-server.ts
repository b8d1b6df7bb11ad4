import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))
const START_TIMEOUT_MS = 20_000
const STOP_TIMEOUT_MS = 15_000

/** A server that this suite started, on loopback, with a data directory of its own. */
export interface OwnServer {
  readonly baseUrl: URL
  readonly dataDir: string
  /** Sends SIGTERM and answers the exit code; the data directory stays. */
  stop(): Promise<number | null>
  /** Stops it if it still runs, and deletes the data directory. */
  discard(): Promise<void>
}

/** A fresh directory for a server's data. */
export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'lade-acceptance-'))

/**
 * Starts `lade serve` with exactly the variables in `env`, and resolves once it has printed its address.
 *
 * Nothing of the caller's own `LADE_*` environment reaches it. It is ended by its pid.
 *
 * @throws Error with the server's output when it does not come up within 20 s.
 */
export async function startOwnServer(env: Record<string, string>, dataDir?: string): Promise<OwnServer> {
  const data = dataDir ?? (await newDataDir())
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, LADE_PORT: '0', LADE_DATA_DIR: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let printed = ''
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  exited.then(() => process.removeListener('exit', kill))

  const discard = async () => {
    if (child.exitCode === null && child.signalCode === null) await stop()
    await rm(data, { recursive: true, force: true })
  }
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(kill, STOP_TIMEOUT_MS)
    const code = await exited
    clearTimeout(timer)
    return code
  }

  const address = new Promise<URL>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server printed no address:\n${output}`)), START_TIMEOUT_MS)
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      printed += chunk.toString()
      // A whole line, so that a port is not read while half of it is still on its way.
      const found = /(http:\/\/127\.0\.0\.1:\d+).*\n/.exec(printed)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(new URL(found))
    })
    child.once('error', reject)
    exited.then((code) => {
      clearTimeout(timer)
      reject(new Error(`the server ended with ${code} before it was ready:\n${output}`))
    })
  })
  try {
    return { baseUrl: await address, dataDir: data, stop, discard }
  } catch (error) {
    await discard()
    throw error
  }
}
