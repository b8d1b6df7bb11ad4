import { normalizeEmail, userIdOf } from '@lade/server/keys'
import type { Command } from 'commander'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const SETTING_KEYS = ['dataDir', 'database'] as const
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface RevokeOptions {
  readonly jti?: string
  readonly email?: string
  readonly keepLinks?: boolean
  readonly json?: boolean
}

/** `lade keys revoke`: one token, or all tokens of a user, by the operator, also those that the service never saw. */
export function addKeysRevoke(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('revoke')
    .summary('Revoke one token, or all tokens of a user.')
    .description(
      'Revoke one token, or every token issued to a user so far. Running servers refuse revoked tokens within 2 seconds. The share links of the tokens end too. This cannot be undone.',
    )
    .option(
      '--jti <id>',
      'Revoke the token with this id (jti). Users see it in "lade token ls", operators in "lade admin caller CALLER --json".',
    )
    .option('--email <address>', 'Revoke all tokens of the user with this email address.')
    .option('--keep-links', 'Keep the share links of the tokens.')
    .option('--json', 'Print one JSON object.')
    .action((options: RevokeOptions) => revoke(command, options, terminal))
  addSettingOptions(command, SETTING_KEYS)
}

async function revoke(command: Command, options: RevokeOptions, terminal: Terminal): Promise<void> {
  const { jti, email, keepLinks: keepsLinks = false, json } = options
  if ((jti === undefined) === (email === undefined)) throw new UsageError('Give either --jti or --email.')
  if (jti !== undefined && !UUID.test(jti)) throw new UsageError(`--jti is "${jti}", but it must be a UUID.`)
  const config = configOf(command, SETTING_KEYS, terminal)
  const address = email === undefined ? undefined : normalizeEmail(email)
  const which = address === undefined ? { jti: jti ?? '' } : { sub: userIdOf(address) }
  const { revokeTokens } = await import('@lade/server/revoking')
  // As the service does.
  process.umask(0o077)
  const { revokedAt, tokens } = await revokeTokens(config, { which, keepsLinks, now: terminal.now().getTime() })
  const at = new Date(revokedAt).toISOString()
  if (json) {
    terminal.print(JSON.stringify({ jti: jti ?? null, email: address ?? null, revokedAt: at, tokens: tokens ?? null }))
    return
  }
  if (address === undefined) terminal.print(`The token ${jti} was revoked at ${at}.`)
  else
    terminal.print(`All tokens of ${address} issued before ${at} are revoked (${tokensText(tokens ?? 0)} on record).`)
  terminal.print('Running servers refuse revoked tokens within 2 seconds.')
}

function tokensText(count: number): string {
  return count === 1 ? '1 valid token' : `${count} valid tokens`
}
