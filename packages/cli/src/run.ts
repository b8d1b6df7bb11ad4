import type { Command } from 'commander'
import { type Ending, EXIT, type ExitCode, endingOf } from './exit-code.ts'
import { failureOf } from './problem.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs one command line, and says what its end says to the shell. Never rejects.
 *
 * An error is one sentence on standard error; with `--json` every error is also an object with `error` and `detail` on standard output.
 * With `--debug`, standard error has the error with all its causes.
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
    if (ending?.sentence !== undefined && ending.isPrinted !== true) terminal.note(ending.sentence)
    // A command line that is wrong is refused before it is known which command reads the flag.
    const isForPrograms = asked === undefined ? args.includes('--json') : asked.opts().json === true
    if (isForPrograms && hasNotEnded(ending)) terminal.print(JSON.stringify(failureOf(error, ending)))
    if (ending === undefined || (program.opts().debug && ending.sentence !== undefined)) {
      const { inspect } = await import('node:util')
      terminal.note(inspect(error))
    }
    return ending?.exitCode ?? EXIT.failed
  }
}

/** True for an error that no command has told yet. */
function hasNotEnded(ending: Ending | undefined): boolean {
  return ending === undefined || ending.sentence !== undefined
}
