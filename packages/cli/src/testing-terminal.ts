import { PassThrough } from 'node:stream'
import { Interrupted } from './exit-code.ts'
import type { InputStream, OutputStream, Terminal } from './terminal.ts'

export interface TestTerminalOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly homeDir?: string
  readonly platform?: NodeJS.Platform
  readonly now?: Date
  /** Columns of a terminal that somebody sits at. Absent: everything is piped. */
  readonly columns?: number
  /** What is piped in, or typed line by line. */
  readonly input?: string
}

/** A terminal that remembers what was written to it. */
export interface TestTerminal {
  readonly terminal: Terminal
  /** Everything written to standard output so far. */
  stdout(): string
  stderr(): string
  /** Types more, where somebody sits at the terminal. */
  type(text: string): void
  /** Presses Ctrl-C. */
  interrupt(): void
}

export function testTerminal(options: TestTerminalOptions = {}): TestTerminal {
  const { columns, input = '' } = options
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const facts = columns === undefined ? {} : { isTTY: true, columns }
  const outputTo = (chunks: Buffer[]): OutputStream => {
    const stream = new PassThrough()
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return Object.assign(stream, facts)
  }
  const stdin: InputStream = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true })
  if (columns === undefined) (stdin as PassThrough).end(input)
  else (stdin as PassThrough).write(input)
  const stdout = outputTo(written.stdout)
  const stderr = outputTo(written.stderr)
  const controller = new AbortController()
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8')
  return {
    terminal: {
      env: options.env ?? {},
      cwd: options.cwd ?? '/nowhere',
      homeDir: options.homeDir ?? '/nowhere/home',
      platform: options.platform ?? 'linux',
      stdin,
      stdout,
      stderr,
      now: () => options.now ?? new Date(),
      print: (line) => stdout.write(`${line}\n`),
      note: (line) => stderr.write(`${line}\n`),
      interruption: () => controller.signal,
    },
    stdout: () => text(written.stdout),
    stderr: () => text(written.stderr),
    type: (typed) => void (stdin as PassThrough).write(typed),
    interrupt: () => controller.abort(new Interrupted()),
  }
}
