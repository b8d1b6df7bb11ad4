import { Command } from 'commander'
import about from '../package.json' with { type: 'json' }
import { addAdminAudit } from './commands/admin-audit.ts'
import { addAdminBlockedCallers, addAdminBlocks } from './commands/admin-blocks.ts'
import { addAdminFiles } from './commands/admin-files.ts'
import { addAdminForget } from './commands/admin-forget.ts'
import { addAdminPrincipals } from './commands/admin-principals.ts'
import { addAdminStatus } from './commands/admin-status.ts'
import { addChallenge } from './commands/challenge.ts'
import { addCompletion } from './commands/completion.ts'
import { addDeals } from './commands/deals.ts'
import { addDeploy } from './commands/deploy.ts'
import { addEdit } from './commands/edit.ts'
import { addGet } from './commands/get.ts'
import { addLogin } from './commands/login.ts'
import { addLogout } from './commands/logout.ts'
import { addLs } from './commands/ls.ts'
import { addPut } from './commands/put.ts'
import { addRm } from './commands/rm.ts'
import { addShare } from './commands/share.ts'
import { addTokenLs } from './commands/token-ls.ts'
import { addTokenNew } from './commands/token-new.ts'
import { addTokenRevoke } from './commands/token-revoke.ts'
import { addUsage } from './commands/usage.ts'
import { addWalletAddress } from './commands/wallet-address.ts'
import { addWalletNew } from './commands/wallet-new.ts'
import { addExamples, HELP_COMMAND } from './help-examples.ts'
import type { Terminal } from './terminal.ts'

const ENDINGS = `
Exit codes:
  0  success                 4  not found, or no longer stored
  1  failure                 5  quota or limit reached
  2  wrong command line      6  service unreachable
  3  content does not match  7  missing token, or missing scope
     (lade verify: 1)

The checks "lade verify", "lade challenge" and "lade doctor" exit with 1 if the
check fails.

Start with "lade login", or upload small files without a token.
Run "lade help COMMAND" for flags and examples.`

/**
 * The whole command line as one tree.
 *
 * The commands of the operator load settings and hashing of the server, which takes a while; they are left out when
 * `args` asks for another command.
 */
export async function createProgram(terminal: Terminal, args: readonly string[]): Promise<Command> {
  const { stdout, stderr } = terminal
  // Before the commands, which inherit it: a wrong command line ends like any other error.
  const program = new Command('lade').exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => stdout.columns ?? 80,
    getErrHelpWidth: () => stderr.columns ?? 80,
    outputError: (text, write) => write(withKnownCommand(text)),
  })
  program
    .helpOption('-h, --help', 'Show help.')
    .description('Upload, download and verify files for content-addressed storage networks.')
    .version(about.version, '-V, --version', 'Print the version.')
    .option('--debug', 'On failure, print the full error with its causes.')
    .showHelpAfterError('(run with --help for usage)')
    .addHelpText('after', ENDINGS)

  program.commandsGroup('Files:')
  addPut(program, terminal)
  addDeploy(program, terminal)
  addGet(program, terminal)
  addLs(program, terminal)
  addEdit(program, terminal)
  addRm(program, terminal)
  addShare(program, terminal)
  addDeals(program, terminal)
  addChallenge(program, terminal)
  program.commandsGroup('Account:')
  addLogin(program, terminal)
  addLogout(program, terminal)
  addUsage(program, terminal)
  const tokens = program.command('token').description('Create, list and revoke tokens.')
  tokens.helpCommand(...HELP_COMMAND)
  addTokenNew(tokens, terminal)
  addTokenLs(tokens, terminal)
  addTokenRevoke(tokens, terminal)
  const wallets = program.command('wallet').description('Create a wallet and show its address.')
  wallets.helpCommand(...HELP_COMMAND)
  addWalletNew(wallets, terminal)
  addWalletAddress(wallets, terminal)

  program.commandsGroup('Administration:')
  const admin = program
    .command('admin')
    .description(
      'See who uses the service and how, set limits, and block content and callers. Needs a token with the scope admin.',
    )
  admin.helpCommand(...HELP_COMMAND)
  addAdminStatus(admin, terminal)
  addAdminPrincipals(admin, terminal)
  addAdminFiles(admin, terminal)
  addAdminAudit(admin, terminal)
  addAdminBlocks(admin, terminal)
  addAdminBlockedCallers(admin, terminal)
  addAdminForget(admin, terminal)

  const asked = commandAskedFor(args)
  const isVersion = args[0] === '--version' || args[0] === '-V'
  if (!isVersion && !program.commands.some((command) => command.name() === asked)) {
    const { addOperatorCommands } = await import('./operator-commands.ts')
    addOperatorCommands(program, terminal)
  }
  program.commandsGroup('More:')
  addCompletion(program, terminal)
  addExamples(program)
  program.helpCommand(...HELP_COMMAND)
  return program
}

/** What other programs call the commands. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  add: 'put',
  cat: 'get CID -o -',
  delete: 'rm',
  download: 'get',
  fetch: 'get',
  info: 'doctor',
  list: 'ls',
  remove: 'rm',
  run: 'serve',
  server: 'serve',
  signup: 'login',
  start: 'serve',
  status: 'doctor',
  upload: 'put',
  whoami: 'usage',
}

/** What commander guesses from the spelling is another command for most of these. */
function withKnownCommand(text: string): string {
  const [said = '', name = ''] = /^error: unknown command '([a-z]+)'(?:\n\(Did you mean .*\?\))?/.exec(text) ?? []
  const meant = OTHER_NAMES[name]
  return meant === undefined ? text : text.replace(said, `error: unknown command '${name}'\n(Did you mean ${meant}?)`)
}

/** The name of the command that `args` are about; undefined where they name none. */
function commandAskedFor(args: readonly string[]): string | undefined {
  // A shell asks about a command once its name is followed by another word.
  if (args[0] === 'complete' && args.length > 3) return args[2]
  // Flags of the program itself take no values, so the first word is the command.
  return args.find((arg) => !arg.startsWith('-'))
}
