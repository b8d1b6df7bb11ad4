import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { EXIT, type ExitCode, endingOf } from './exit-code.ts'
import { problemOf } from './problem.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs one command line, and says what its end says to the shell. Never rejects.
 *
 * An error is one sentence on standard error; with `--json` also an object with `error` and `detail` on standard output,
 * and with `--debug` the error with all its causes.
 *
 * @param args - without the program's own name.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let asked: Command | undefined
  const program = await createProgram(terminal, args)
  program.hook('preAction', (_, command) => {
    asked = command
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    const ending = endingOf(error)
    if (ending?.sentence !== undefined) terminal.note(ending.sentence)
    if (LadeError.is(error) && asked?.opts().json) terminal.print(JSON.stringify(problemOf(error)))
    if (ending === undefined || (program.opts().debug && ending.sentence !== undefined)) {
      const { inspect } = await import('node:util')
      terminal.note(inspect(error))
    }
    return ending?.exitCode ?? EXIT.failed
  }
}
