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
    .summary('Revoke a token of mine.')
    .description('Revoke a token of mine, by its jti or its label. It is refused from then on; there is no way back.')
    .argument('<token>', 'a jti, or the label of one live token')
    .option('--keep-links', 'Leave the share links that it made; without this they end with it.')
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
      if (wasKept) terminal.note(`It was the one saved for ${url}, so you are logged out there.`)
    })
  addAccountOptions(command)
}

/** The live token with this label, if there is exactly one. */
async function jtiOf(label: string, client: LadeClient, terminal: Terminal): Promise<string> {
  const { tokens } = await client.tokens.list({ signal: terminal.interruption() })
  const live = tokens.filter((token) => token.label === label && token.revokedAt === null)
  const [only, ...others] = live
  if (only === undefined) {
    terminal.note(`No live token is called ${printable(label)}; "lade token ls" lists them.`)
    throw new Ended(EXIT.notFound)
  }
  if (others.length > 0) {
    throw new UsageError(
      `${live.length} tokens are called ${printable(label)}; revoke one by its jti: ${live.map(({ jti }) => jti).join(', ')}.`,
    )
  }
  return only.jti
}
