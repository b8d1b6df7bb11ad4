import type { TokenList } from '@lade/core/wire'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { formatBytes } from '../output/amounts.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

type TokenEntry = TokenList['tokens'][number]

const BYTES_PER_MB = 1_048_576

/** `lade token ls`: my tokens, never the tokens themselves. */
export function addTokenLs(tokens: Command, terminal: Terminal): void {
  const command = tokens
    .command('ls')
    .summary('List your tokens.')
    .description('List your tokens: their labels, scopes, quotas and states. The tokens themselves are not stored.')
    .option('--json', 'Print one JSON array.')
    .action(async () => {
      const { client } = await connect(command, terminal)
      const { tokens: found } = await client.tokens.list({ signal: terminal.interruption() })
      if (command.opts().json) return terminal.print(JSON.stringify(found))
      for (const line of tableOf(found, terminal)) terminal.print(line)
    })
  addAccountOptions(command)
}

const COLUMNS: readonly Column[] = [
  { title: 'label', minimum: 12 },
  { title: 'scopes', rank: 2 },
  { title: 'quota', align: 'right', rank: 4 },
  { title: 'state' },
  { title: 'last used', rank: 3 },
  // In full or not at all: it is what a token is revoked by.
  { title: 'jti', rank: 1 },
]

function tableOf(tokens: readonly TokenEntry[], { stdout, now }: Terminal): string[] {
  const at = now()
  const rows = tokens.map((token) => [
    token.label === '' ? '(none)' : token.label,
    token.scopes.join(','),
    token.quotaMb === null ? 'balance' : formatBytes(token.quotaMb * BYTES_PER_MB),
    stateOf(token, at),
    token.lastUsedAt === null ? 'never' : formatFromNow(token.lastUsedAt, at),
    token.jti,
  ])
  return formatTable(COLUMNS, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}

function stateOf({ revokedAt, expiresAt, current }: TokenEntry, now: Date): string {
  if (revokedAt !== null) return 'revoked'
  if (Date.parse(expiresAt) <= now.getTime()) return 'expired'
  return `expires ${formatFromNow(expiresAt, now)}${current ? ', in use here' : ''}`
}
