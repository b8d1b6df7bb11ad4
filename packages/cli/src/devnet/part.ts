import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { LocalError } from '../usage-error.ts'

const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url).href
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
const KEPT_COMPLAINT_CHARACTERS = 600

export interface PartOptions {
  /** For people: "The service". */
  readonly name: string
  /** The program, as a file of this package, and what it is told. */
  readonly program: URL
  readonly args: readonly string[]
  /** On top of what a program needs of the environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Where all that it prints goes, too. */
  readonly logFile: string
  /** Takes the lines that it writes to standard error. */
  readonly onLogLine?: (line: string) => void
  /** Stops the wait for its start. */
  readonly signal: AbortSignal
}

/** A process of the devnet. It ends with this process, however this one ends. */
export interface Part {
  readonly name: string
  readonly pid: number
  /** The first line that it printed. */
  readonly firstLine: string
  /** Resolves when it is gone, with a sentence about how it ended. */
  readonly ended: Promise<string>
  /** Asks it to end, and resolves when it is gone. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Starts a process and waits for its first line.
 *
 * @throws {LocalError} when it ends before that, or takes too long; it is gone then.
 */
export async function startPart(options: PartOptions): Promise<Part> {
  const { name, program, args, env, cwd, logFile, onLogLine, signal } = options
  signal.throwIfAborted()
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, fileURLToPath(program), ...args], {
    cwd,
    env: { ...environment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C at the terminal goes to this process alone, which then ends its parts one after the other.
    detached: true,
  })
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 }).on('error', () => undefined)
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })

  let complaint = ''
  onLine(child.stderr, (line) => {
    complaint = `${complaint}${line}\n`.slice(-KEPT_COMPLAINT_CHARACTERS)
    onLogLine?.(line)
  })
  const gone = once(child, 'close').then(
    () => log.end(),
    () => log.end(),
  )
  const ended = gone.then(() => endingOf(name, child, complaint))
  const stop = async (): Promise<void> => {
    // Its standard input stays open, since the end of that would be a second signal.
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await gone
    clearTimeout(timer)
  }
  try {
    const firstLine = await firstLineOf(child, ended, options)
    if (child.pid === undefined) throw new LocalError(`${name} has no process id.`)
    return { name, pid: child.pid, firstLine, ended, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function firstLineOf(
  child: ChildProcess,
  ended: Promise<string>,
  { name, signal }: PartOptions,
): Promise<string> {
  const found = Promise.withResolvers<string>()
  onLine(child.stdout, (line) => found.resolve(line))
  const onAbort = () => found.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const late = new LocalError(`${name} did not start within ${START_TIMEOUT_MS / 1000} seconds.`)
  const timer = setTimeout(() => found.reject(late), START_TIMEOUT_MS)
  void ended.then((sentence) => found.reject(new LocalError(sentence)))
  try {
    return await found.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function onLine(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  if (stream !== null) createInterface({ input: stream }).on('line', take)
}

function endingOf(name: string, { exitCode, signalCode }: ChildProcess, complaint: string): string {
  const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`
  const said = complaint.trim().split('\n').at(-1)
  return `${name} exited ${how}.${said ? ` It last said: ${said}` : ''}`
}

/** What a program needs, without the settings that this shell may have for other services. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LADE_')))
}
