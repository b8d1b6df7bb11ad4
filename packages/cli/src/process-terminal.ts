import { homedir } from 'node:os'
import { EXIT, Interrupted } from './exit-code.ts'
import type { OutputStream, Terminal } from './terminal.ts'

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  for (const stream of [stdout, stderr]) stream.on('error', endQuietly)
  let interruption: AbortSignal | undefined
  return {
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    homeDir: homedir(),
    stdin,
    stdout,
    stderr,
    now: () => new Date(),
    print: (line) => writeLine(stdout, line),
    note: (line) => writeLine(stderr, line),
    interruption: () => {
      interruption ??= firstSignal()
      return interruption
    },
  }
}

function writeLine(stream: OutputStream, line: string): void {
  stream.write(`${line}\n`)
}

/** Whoever read the output has read enough (`lade ls | head -1`); that is nothing to speak of. */
function endQuietly(error: Error): void {
  if ('code' in error && error.code === 'EPIPE') process.exit(EXIT.unread)
  throw error
}

function firstSignal(): AbortSignal {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(new Interrupted())
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return controller.signal
}
