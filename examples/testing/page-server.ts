import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SERVE = fileURLToPath(new URL('../browser/serve.ts', import.meta.url))
const START_TIMEOUT_MS = 60_000

/** `examples/browser/serve.ts`, running. */
export interface PageServer {
  readonly url: string
  /** What it wrote so far: its address, and a line for every file that was asked for and is not there. */
  printed(): string
  /** Ends it by its pid. */
  stop(): Promise<void>
}

/** Starts it on a free port, as its README says. @throws {Error} with what it wrote when it does not come up. */
export async function servePage(): Promise<PageServer> {
  const child = spawn(process.execPath, [SERVE], { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    process.off('exit', kill)
  }
  let printed = ''
  const url = new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it printed no address:\n${printed}`)), START_TIMEOUT_MS)
    const onPrinted = (text: Buffer) => {
      printed += text.toString()
      const found = /^The page is at (http:\S+)\n/m.exec(printed)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', onPrinted)
    child.stderr.on('data', onPrinted)
    ended.then(() => reject(new Error(`it ended:\n${printed}`)))
    child.once('spawn', () => child.once('close', () => clearTimeout(late)))
    child.once('error', reject)
  })
  try {
    return { url: await url, printed: () => printed, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
