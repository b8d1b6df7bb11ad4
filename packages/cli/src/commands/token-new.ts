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
    .summary('Get a token.')
    .description('Get a token. The token alone is printed on standard output; the facts about it on standard error.')
    .requiredOption('--email <address>', 'The user that the token is for.')
    .option('--label <text>', 'A name for it; without one it is called after this machine.')
    .option('--scopes <list>', 'Allow less: some of put, get, list and pin, with commas between.', parseScopes)
    .option(
      '--quota-mb <number>',
      'Lower the daily quota, in MB of 1,048,576 bytes.',
      wholeNumberIn(0, MAXIMUM_QUOTA_MB),
    )
    .option('--days <number>', 'Shorten its life.', wholeNumberIn(1, MAXIMUM_DAYS))
    .option('--save', 'Log in with it, in place of printing it.')
    .option('--json', 'Print one JSON object, the token in it, on standard output.')
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
  terminal.note(file === undefined ? 'The token is shown only here.' : `Saved for ${url} in ${file}.`)
}
