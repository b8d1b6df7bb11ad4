import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a program that runs for hours may say before the beginning of it is forgotten, in characters. */
const KEPT_OUTPUT = 1024 * 1024

/** How a process ended: an exit code, or the signal that ended it. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** One running program. It is killed with the process that started it. */
export interface Child {
  readonly pid: number
  readonly exited: Promise<Exit>
  /** False as soon as its end has been seen. */
  readonly isRunning: boolean
  /** What it wrote to its error stream so far. */
  errors(): string
  /** What it wrote to its output stream so far. */
  printed(): string
  signal(signal: NodeJS.Signals): void
  /** Sends `signal` and waits. @throws {Error} with what it said when it had to be killed after `withinMs`. */
  end(signal: NodeJS.Signals, withinMs: number): Promise<Exit>
  /** Waits for a line of either stream. @throws {Error} with what it said when it ends or is late. */
  says(line: RegExp, withinMs: number): Promise<RegExpExecArray>
}

export interface ChildOptions {
  /** Its whole environment. @default that of this process */
  readonly env?: NodeJS.ProcessEnv
  /** The account that it runs under. @default that of this process */
  readonly uid?: number
  readonly gid?: number
  readonly cwd?: string
}

/**
 * Starts a program.
 *
 * @throws {Error} when it cannot be started at all.
 *
 * @example
 * const nginx = startChild('nginx', ['-g', 'daemon off;'])
 * await nginx.end('SIGQUIT', 5000) // { code: 0, signal: null }
 */
export function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Child {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const { pid } = child
  // Without a pid there is an error event on the way, which says the same.
  child.on('error', () => {})
  if (pid === undefined) throw new Error(`${command} cannot be started`)
  let errors = ''
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-KEPT_OUTPUT)
  })
  child.stdout.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-KEPT_OUTPUT)
  })
  let exit: Exit | undefined
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal }
      resolve(exit)
    })
  })
  const killWithThisProcess = (): void => void child.kill('SIGKILL')
  // First of all: what else is done at the exit may be the removal of its files.
  process.prependOnceListener('exit', killWithThisProcess)
  exited.then(() => process.off('exit', killWithThisProcess))
  const told = (): string => `${printed}${errors}`

  return {
    pid,
    exited,
    get isRunning() {
      return exit === undefined
    },
    errors: () => errors,
    printed: () => printed,
    signal: (signal) => void child.kill(signal),
    async end(signal, withinMs) {
      child.kill(signal)
      const end = await Promise.race([exited, sleep(withinMs, undefined, { ref: false })])
      if (end !== undefined) return end
      child.kill('SIGKILL')
      await exited
      throw new Error(`${command} did not end within ${withinMs} ms after ${signal}:\n${told()}`)
    },
    async says(line, withinMs) {
      const late = Date.now() + withinMs
      for (;;) {
        const found = line.exec(printed) ?? line.exec(errors)
        if (found !== null) return found
        if (exit !== undefined) throw new Error(`${command} ended with ${exit.code ?? exit.signal}:\n${told()}`)
        if (Date.now() > late) throw new Error(`${command} did not say ${line} within ${withinMs} ms:\n${told()}`)
        await sleep(10)
      }
    },
  }
}
