import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { type Account, accountOf, addAccountOptions, checkedToken, clientOf } from '../account/connection.ts'
import { keepToken } from '../account/keep-token.ts'
import { isReadableOnTheWay, readServiceUrl } from '../account/service-url.ts'
import { addEmailCodeOptions, signUp } from '../account/sign-up.ts'
import { readTokenFacts } from '../account/token-facts.ts'
import { printable } from '../output/printable.ts'
import { formatFromNow } from '../output/times.ts'
import { ask, canAsk, readAll } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

interface LoginFlags {
  readonly url?: string
  readonly tokenFile?: string
  readonly email?: string
  readonly label?: string
  readonly challenge?: string
  readonly code?: string
  readonly json?: boolean
}

/** `lade login`: saves which service is meant and the token for it, once the service has taken the token. */
export function addLogin(program: Command, terminal: Terminal): void {
  const command = program
    .command('login')
    .summary('Log in to a service: save its URL and a token.')
    .description(
      'Save the URL of a service and a token for it. The token comes from --token-file, LADE_TOKEN, a prompt or standard input. Nothing is saved unless the service accepts the token.',
    )
    .option(
      '--email <address>',
      'Sign up for a new token with this email address, if the service allows signup. If the service verifies email addresses, it mails you a code.',
    )
    .option('--label <text>', 'With --email: the name of the token (default: the name of this machine).')
    .option('--json', 'Print one JSON object.')
    .action(() => login(command, terminal))
  addEmailCodeOptions(command)
  addAccountOptions(command)
}

async function login(command: Command, terminal: Terminal): Promise<void> {
  const flags: LoginFlags = command.opts()
  const { email } = flags
  if (email === undefined && (flags.challenge !== undefined || flags.code !== undefined)) {
    throw new UsageError('--challenge and --code need --email.')
  }
  const account = await accountOf(command, terminal)
  const url = await askForUrl(flags, account, terminal)
  if (isReadableOnTheWay(url)) {
    terminal.note(`Warning: ${url} is not encrypted. Others on the network can read the token. Use https.`)
  }
  const signal = terminal.interruption()
  const token =
    email === undefined
      ? await askForToken(account, url, terminal)
      : (await signUp({ url }, { ...flags, email }, terminal)).token
  await tryToken(await clientOf({ url, token }), signal)
  const file = await keepToken(terminal, account.saved, url, token)

  const facts = readTokenFacts(token)
  const expiresAt = facts?.expiresAt?.toISOString() ?? null
  if (flags.json) {
    const { email: owner = null, scopes = null } = facts ?? {}
    return terminal.print(JSON.stringify({ url, email: owner, scopes, expiresAt, savedTo: file }))
  }
  const ends = expiresAt === null ? '' : `; the token expires ${formatFromNow(expiresAt, terminal.now())}`
  terminal.print(`Logged in to ${url} as ${printable(facts?.email ?? 'somebody')}${ends}.`)
  terminal.note(`Saved to ${file}.`)
}

/** The service: asked for at a terminal, unless a flag or variable names it or `--email` makes this a sign-up. */
async function askForUrl(flags: LoginFlags, { url }: Account, terminal: Terminal): Promise<string> {
  const isNamed = flags.url !== undefined || Boolean(terminal.env.LADE_URL)
  // A sign-up asks nothing, so that lines pasted after it reach the shell.
  if (isNamed || flags.email !== undefined || !canAsk(terminal)) return url
  const answer = await ask(terminal, `Service [${url}]: `)
  return answer === '' ? url : readServiceUrl(answer, 'The service')
}

async function askForToken(account: Account, url: string, terminal: Terminal): Promise<string> {
  const { saved, token, tokenFrom } = account
  // What is saved already is what a login replaces.
  if (token !== undefined && tokenFrom !== saved.file) return token
  if (canAsk(terminal))
    return checkedToken(await ask(terminal, `Token for ${url} (not shown): `, { isHidden: true }), 'Your input')
  if (terminal.stdin.isTTY)
    throw new UsageError('Cannot ask for the token without a terminal. Pipe it in, or set LADE_TOKEN.')
  return checkedToken(await readAll(terminal), 'Standard input')
}

/** Asks the service for something that any live token may ask; one without the scope for it is live as well. */
async function tryToken(client: LadeClient, signal: AbortSignal): Promise<void> {
  try {
    await client.usage({ signal })
  } catch (error) {
    if (!LadeError.has(error, 'insufficient_scope')) throw error
  }
}
