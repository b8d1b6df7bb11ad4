import { LadeError } from '@lade/core/errors'
import { ConfigError } from '@lade/server/config'
import { CommanderError } from 'commander'

/** What the program's end says to the shell. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** How to end: the exit code, and the sentence to print when it has not been printed. */
export interface Ending {
  readonly exitCode: number
  readonly sentence?: string
}

/**
 * How `error` ends the program, or `undefined` for an error that nobody foresaw, which deserves its stack.
 *
 * @example
 * endingOf(new ConfigError('LADE_PORT is "x", but it must be …')) // { exitCode: 2, sentence: 'LADE_PORT is …' }
 */
export function endingOf(error: unknown): Ending | undefined {
  // Commander has printed its own sentence, and gives 0 for --help and --version.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage }
  if (error instanceof ConfigError) return { exitCode: EXIT.usage, sentence: error.message }
  if (LadeError.has(error, 'invalid_email')) return { exitCode: EXIT.usage, sentence: error.message }
  if (LadeError.is(error)) return { exitCode: EXIT.failed, sentence: withCause(error) }
  if (isSystemError(error)) return { exitCode: EXIT.failed, sentence: `${error.message}.` }
  return undefined
}

function withCause(error: LadeError): string {
  return error.cause instanceof Error ? `${error.message} ${error.cause.message}` : error.message
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
