import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { accountOf, addAccountOptions, clientOf } from '../account/connection.ts'
import { forgetToken } from '../account/keep-token.ts'
import { readTokenFacts } from '../account/token-facts.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError } from '../usage-error.ts'

/** `lade logout`: forgets the saved token. */
export function addLogout(program: Command, terminal: Terminal): void {
  const command = program
    .command('logout')
    .summary('Delete the saved token.')
    .description(
      'Delete the saved token of a service from this machine. The token stays valid until it is revoked or expires.',
    )
    .option('--revoke', 'Also revoke the token, so that nobody can use it.')
    .option('--json', 'Print one JSON object.')
    .action(() => logout(command, terminal))
  addAccountOptions(command)
}

async function logout(command: Command, terminal: Terminal): Promise<void> {
  const { revoke = false, json = false }: { revoke?: boolean; json?: boolean } = command.opts()
  const { url, saved } = await accountOf(command, terminal)
  const token = saved.logins.tokens[url]
  if (token !== undefined) {
    if (revoke) await revokeItself(url, token, terminal.interruption())
    await forgetToken(terminal, saved, url)
  }
  const wasLoggedIn = token !== undefined
  if (json) return terminal.print(JSON.stringify({ url, wasLoggedIn, revoked: wasLoggedIn && revoke }))
  if (!wasLoggedIn) terminal.note(`No token is saved for ${url}.`)
  else terminal.print(`Logged out of ${url}${revoke ? ', and revoked the token' : ''}.`)
  if (terminal.env.LADE_TOKEN) terminal.note('LADE_TOKEN is still set and will be used.')
}

async function revokeItself(url: string, token: string, signal: AbortSignal): Promise<void> {
  const jti = readTokenFacts(token)?.jti
  if (jti === undefined) throw new LocalError('The saved token has no id, so it cannot be revoked. Leave out --revoke.')
  const client = await clientOf({ url, token })
  try {
    await client.tokens.revoke(jti, { signal })
  } catch (error) {
    // It is dead already, which is what was asked for.
    if (!LadeError.has(error, 'revoked_token') && !LadeError.has(error, 'invalid_token')) throw error
  }
}
