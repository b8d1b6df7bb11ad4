import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { processTree } from './process-usage.ts'

const STOP_TIMEOUT_MS = 20_000
const START_TIMEOUT_MS = 30_000
const KEPT_ERROR_CHARACTERS = 4000

/** What to start: a program with its arguments; `env` replaces the environment when given. */
export interface Command {
  program: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv
}

/** A server under test. */
export interface RunningServer {
  pid: number
  /** Without a slash at the end. */
  url: string
  /** Asks it to end (SIGTERM) and waits; after 20 seconds it is killed. */
  stop(): Promise<void>
}

/**
 * Every process that a run has started and that has not ended yet, so that none outlives the run.
 */
export class RunningProcesses {
  readonly #children = new Set<ChildProcess>()

  /**
   * Starts a server and waits for its address.
   *
   * @param url - where it will listen; when absent, the first `http://127.0.0.1:PORT` it prints on stdout is taken.
   * @throws Error with the end of its stderr when it ends, or says nothing for 30 seconds.
   */
  async startServer(command: Command, url?: string): Promise<RunningServer> {
    const { child, pid, errorText } = this.#spawn(command)
    const stop = () => this.#stop(child)
    try {
      return { pid, url: url ?? (await printedUrl(child)), stop }
    } catch (error) {
      await stop()
      throw new Error(`${describe(command)} did not start: ${errorText()}`, { cause: error })
    }
  }

  /**
   * Runs a program to its end and gives what it printed.
   *
   * @throws Error with the end of its stderr when it fails or is still running after `timeoutMs` (it is killed then).
   */
  async run(command: Command, timeoutMs: number): Promise<string> {
    const { child, errorText } = this.#spawn(command)
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const timer = setTimeout(() => killTree(child), timeoutMs)
    await once(child, 'close')
    clearTimeout(timer)
    if (child.exitCode !== 0) {
      const end = child.exitCode === null ? `was ended by ${child.signalCode}` : `ended with ${child.exitCode}`
      throw new Error(`${describe(command)} ${end}: ${errorText()}`)
    }
    return output
  }

  /** Runs a script of this folder with `input` as its argument and parses the JSON that it prints. */
  async runScript<Result>(script: URL, input: object, timeoutMs: number, env?: NodeJS.ProcessEnv): Promise<Result> {
    return JSON.parse(await this.run(nodeScript(script, input, env), timeoutMs))
  }

  /** Kills all of them at once, without waiting: for the end of the run. */
  killAll(): void {
    for (const child of this.#children) killTree(child)
  }

  #spawn(command: Command): { child: ChildProcess; pid: number; errorText: () => string } {
    const child = spawn(command.program, command.args, {
      env: command.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (child.pid === undefined) {
      child.once('error', () => {})
      throw new Error(`${command.program} cannot be started`)
    }
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    let errors = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-KEPT_ERROR_CHARACTERS)
    })
    return { child, pid: child.pid, errorText: () => errors.trim() || 'it said nothing on stderr' }
  }

  async #stop(child: ChildProcess): Promise<void> {
    if (!this.#children.has(child)) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const timer = setTimeout(() => killTree(child), STOP_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
  }
}

/** A command that runs a script of this folder with this Node.js and `input` as its one argument. */
export function nodeScript(script: URL, input: object, env?: NodeJS.ProcessEnv): Command {
  const args = [fileURLToPath(script), JSON.stringify(input)]
  return env === undefined ? { program: process.execPath, args } : { program: process.execPath, args, env }
}

async function printedUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new TypeError('the server needs a stdout pipe')
  const lines = createInterface({ input: child.stdout })
  const timer = setTimeout(() => lines.close(), START_TIMEOUT_MS)
  try {
    for await (const line of lines) {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (url !== undefined) return url
    }
  } finally {
    clearTimeout(timer)
    // Keep reading: a full pipe would stop the server at its next line.
    child.stdout.resume()
  }
  throw new Error('no address on stdout')
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return
  // Children last: a parent that lives on could start one more.
  for (const pid of processTree(child.pid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

function describe(command: Command): string {
  const script = command.args.find((arg) => arg.endsWith('.ts'))
  return `${command.program}${script === undefined ? '' : ` ${script}`}`
}
