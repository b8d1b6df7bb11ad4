import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** A prover in a process of its own. */
export interface ProverProcess {
  readonly url: string
  /** What it printed when it was ready. */
  readonly line: string
  /** The most memory that it has had. */
  peakBytes(): number
  /** Sends the signal and waits for the end; answers its exit code, null after SIGKILL. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}

export async function startProverProcess(dir: string): Promise<ProverProcess> {
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, LADE_PROVER_DIR: dir, LADE_PROVER_PORT: '0', LADE_PROVER_FIND_DELAY_MS: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  if (child.stdout === null) throw new Error('the process has no output')
  const [line]: string[] = await once(createInterface(child.stdout), 'line')
  const url = /http:\S+/.exec(line ?? '')?.[0]
  if (line === undefined || url === undefined) throw new Error(`the prover said ${line}`)
  return {
    url,
    line,
    peakBytes() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return 1024 * Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1])
    },
    async end(signal) {
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}
