#!/usr/bin/env node
import { Command } from 'commander'
import about from '../package.json' with { type: 'json' }
import { addHash } from './commands/hash.ts'
import { addKeysMint } from './commands/keys-mint.ts'
import { addKeysRotate } from './commands/keys-rotate.ts'
import { addKeysShow } from './commands/keys-show.ts'
import { addServe } from './commands/serve.ts'
import { addVerify } from './commands/verify.ts'
import { EXIT, endingOf } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

const terminal: Terminal = {
  env: process.env,
  cwd: process.cwd(),
  now: () => new Date(),
  print: (line) => process.stdout.write(`${line}\n`),
  note: (line) => process.stderr.write(`${line}\n`),
}

// Before the commands, which inherit it: a wrong command line ends like any other error, below.
const program = new Command('lade').exitOverride()
program
  .description('Object staging for content-addressed storage networks.')
  .version(about.version)
  .showHelpAfterError('(add --help for what there is)')
addServe(program, terminal)
addHash(program, terminal)
addVerify(program, terminal)
const keys = program.command('keys').description('The key that signs tokens, and tokens minted by the operator.')
addKeysShow(keys, terminal)
addKeysRotate(keys, terminal)
addKeysMint(keys, terminal)

try {
  await program.parseAsync()
} catch (error) {
  const ending = endingOf(error)
  if (ending?.sentence !== undefined) terminal.note(ending.sentence)
  else if (ending === undefined) console.error(error)
  process.exitCode = ending?.exitCode ?? EXIT.failed
}
