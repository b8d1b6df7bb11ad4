import type { Command } from 'commander'
import { addBackup } from './commands/backup.ts'
import { addChainDeploy } from './commands/chain-deploy.ts'
import { addDevnet } from './commands/devnet.ts'
import { addDoctor } from './commands/doctor.ts'
import { addHash } from './commands/hash.ts'
import { addKeysMint } from './commands/keys-mint.ts'
import { addKeysRevoke } from './commands/keys-revoke.ts'
import { addKeysRotate } from './commands/keys-rotate.ts'
import { addKeysShow } from './commands/keys-show.ts'
import { addMigrateStorage } from './commands/migrate-storage.ts'
import { addProver } from './commands/prover.ts'
import { addRestore } from './commands/restore.ts'
import { addServe } from './commands/serve.ts'
import { addVerify } from './commands/verify.ts'
import { HELP_COMMAND } from './help-examples.ts'
import type { Terminal } from './terminal.ts'

/** Adds the commands that work on this machine with parts of the server, which take a while to load. */
export function addOperatorCommands(program: Command, terminal: Terminal): void {
  program.commandsGroup('Content ids:')
  addHash(program, terminal)
  addVerify(program, terminal)
  program.commandsGroup('The service:')
  addServe(program, terminal)
  const keys = program.command('keys').description('Manage the signing key, and mint and revoke tokens.')
  keys.helpCommand(...HELP_COMMAND)
  addKeysShow(keys, terminal)
  addKeysRotate(keys, terminal)
  addKeysMint(keys, terminal)
  addKeysRevoke(keys, terminal)
  addBackup(program, terminal)
  addRestore(program, terminal)
  addMigrateStorage(program, terminal)
  const chain = program.command('chain').description('Deploy the marketplace contract.')
  chain.helpCommand(...HELP_COMMAND)
  addChainDeploy(chain, terminal)
  addProver(program, terminal)
  addDevnet(program, terminal)
  addDoctor(program, terminal)
}
