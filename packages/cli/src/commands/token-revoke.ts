import type { LadeClient } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { forgetToken } from '../account/keep-token.ts'
import { readTokenFacts } from '../account/token-facts.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { printable } from '../output/printable.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const JTI = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** `lade token revoke JTI|LABEL`: ends a token of mine for good. */
export function addTokenRevoke(tokens: Command, terminal: Terminal): void {
  const command = tokens
    .command('revoke')
    .summary('Revoke one of your tokens.')
    .description(
      'Revoke one of your tokens, by its jti or label. The service rejects the token from now on. This cannot be undone.',
    )
    .argument('<token>', 'jti or label of a live token')
    .option('--keep-links', 'Keep the share links that the token created. By default, the links end with the token.')
    .option('--json', 'Print one JSON object.')
    .action(async (which: string) => {
      const { client, url, saved } = await connect(command, terminal)
      const signal = terminal.interruption()
      const jti = JTI.test(which) ? which : await jtiOf(which, client, terminal)
      const { keepLinks, json }: { keepLinks?: boolean; json?: boolean } = command.opts()
      const revoked = await client.tokens.revoke(jti, { keepLinks, signal })
      const kept = saved.logins.tokens[url]
      const wasKept = kept !== undefined && readTokenFacts(kept)?.jti === revoked.jti
      if (wasKept) await forgetToken(terminal, saved, url)
      if (json) return terminal.print(JSON.stringify(revoked))
      terminal.print(`Revoked ${printable(which)}.`)
      if (wasKept) terminal.note(`This was your saved token for ${url}. You are now logged out.`)
    })
  addAccountOptions(command)
}

/** The live token with this label, if there is exactly one. */
async function jtiOf(label: string, client: LadeClient, terminal: Terminal): Promise<string> {
  const { tokens } = await client.tokens.list({ signal: terminal.interruption() })
  const live = tokens.filter((token) => token.label === label && token.revokedAt === null)
  const [only, ...others] = live
  if (only === undefined) {
    throw new Ended(
      EXIT.notFound,
      `No live token has the label ${printable(label)}. "lade token ls" lists your tokens.`,
    )
  }
  if (others.length > 0) {
    throw new UsageError(
      `${live.length} tokens have the label ${printable(label)}. Revoke one by its jti: ${live.map(({ jti }) => jti).join(', ')}.`,
    )
  }
  return only.jti
}
