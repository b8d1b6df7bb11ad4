import type { Command } from 'commander'
import { accountOf, addAccountOptions } from '../account/connection.ts'
import { keepToken } from '../account/keep-token.ts'
import { addEmailCodeOptions, type SignUpFlags, signUp } from '../account/sign-up.ts'
import { wholeNumberIn } from '../number-option.ts'
import { formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { formatTime } from '../output/times.ts'
import { parseScopes } from '../scopes-option.ts'
import type { Terminal } from '../terminal.ts'

const MAXIMUM_DAYS = 365
const MAXIMUM_QUOTA_MB = 1_000_000_000
const BYTES_PER_MB = 1_048_576

interface NewFlags extends SignUpFlags {
  readonly save?: boolean
}

/** `lade token new`: asks the service for a token, where signup is not closed. */
export function addTokenNew(tokens: Command, terminal: Terminal): void {
  const command = tokens
    .command('new')
    .summary('Create a token.')
    .description('Create a token. Standard output gets only the token; standard error gets its details.')
    .requiredOption('--email <address>', 'Email address of the user.')
    .option('--label <text>', 'Name of the token (default: the name of this machine).')
    .option('--scopes <list>', 'Comma-separated scopes: put, get, list, pin (default: all).', parseScopes)
    .option(
      '--quota-mb <number>',
      'Daily quota, in MB of 1,048,576 bytes. Can only lower the default.',
      wholeNumberIn(0, MAXIMUM_QUOTA_MB),
    )
    .option('--days <number>', 'Lifetime in days. Can only shorten the default.', wholeNumberIn(1, MAXIMUM_DAYS))
    .option('--save', 'Log in with the token instead of printing it.')
    .option('--json', 'Print one JSON object with the token.')
    .action(() => makeToken(command, terminal))
  addEmailCodeOptions(command)
  addAccountOptions(command)
}

async function makeToken(command: Command, terminal: Terminal): Promise<void> {
  const flags: NewFlags = command.opts()
  const account = await accountOf(command, terminal)
  const { url, saved } = account
  const made = await signUp(account, flags, terminal)
  const file = flags.save ? await keepToken(terminal, saved, url, made.token) : undefined
  if (flags.json) return terminal.print(JSON.stringify({ ...made, url, savedTo: file ?? null }))
  if (file === undefined) terminal.print(printable(made.token))
  terminal.note(`user: ${printable(made.email)} (${printable(made.userId)})`)
  terminal.note(`scopes: ${made.scopes.join(', ')}`)
  terminal.note(`daily quota: ${formatBytes(made.quotaMb * BYTES_PER_MB)}`)
  terminal.note(`expires: ${formatTime(made.expiresAt)}`)
  terminal.note(file === undefined ? 'This is the only time the token is shown.' : `Saved for ${url} to ${file}.`)
}
