import type { DealEntry } from '@lade/core/wire'
import { type Command, Option } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { wholeNumberIn } from '../number-option.ts'
import { formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatFacts, formatTable } from '../output/table.ts'
import { formatBriefly, formatTime } from '../output/times.ts'
import { takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'

const DEFAULT_LIMIT = 100
const MAXIMUM_LIMIT = 1_000_000
const MAXIMUM_PAGE = 1000

interface DealFlags {
  readonly limit: number
  readonly status?: DealEntry['status']
  readonly json?: boolean
}

/** `lade deals [ID]`: where the storage of my files stands. */
export function addDeals(program: Command, terminal: Terminal): void {
  const command = program
    .command('deals')
    .summary('Show where the storage of my files stands.')
    .description('List the storage deals of my files, newest first, or show one.')
    .argument('[id]', 'the id of a deal')
    .option('--limit <number>', 'How many at most.', wholeNumberIn(1, MAXIMUM_LIMIT), DEFAULT_LIMIT)
    .addOption(
      new Option('--status <status>', 'Only deals that stand there.').choices(['staged', 'expired', 'removed']),
    )
    .option('--json', 'Print one JSON array, or one object for one deal.')
    .action((id: string | undefined) =>
      id === undefined ? listDeals(command, terminal) : showDeal(id, command, terminal),
    )
  addAccountOptions(command)
}

async function listDeals(command: Command, terminal: Terminal): Promise<void> {
  const { limit, status, json }: DealFlags = command.opts()
  const { client } = await connect(command, terminal)
  const pages = client.deals.list({ limit: Math.min(limit + 1, MAXIMUM_PAGE), status, signal: terminal.interruption() })
  const { items, hasMore } = await takeFirst(pages, limit)
  if (json) terminal.print(JSON.stringify(items))
  else if (items.length === 0) terminal.note('There are no deals.')
  else for (const line of tableOf(items, terminal)) terminal.print(line)
  if (hasMore) terminal.note('There are more; --limit shows more of them.')
}

const COLUMNS: readonly Column[] = [
  { title: 'deal', minimum: 12 },
  { title: 'status' },
  { title: 'size', align: 'right', rank: 1 },
  { title: 'left', align: 'right', rank: 2 },
  { title: 'cid', minimum: 15, rank: 3 },
]

function tableOf(deals: readonly DealEntry[], { stdout, now }: Terminal): string[] {
  const atMs = now().getTime()
  const rows = deals.map(({ dealId, status, size, expiresAt, cid }) => [
    dealId,
    status,
    formatBytes(size),
    formatBriefly((Date.parse(expiresAt) - atMs) / 1000),
    cid,
  ])
  return formatTable(COLUMNS, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}

async function showDeal(id: string, command: Command, terminal: Terminal): Promise<void> {
  const { client } = await connect(command, terminal)
  const deal = await client.deals.get(id, { signal: terminal.interruption() })
  if (command.opts().json) return terminal.print(JSON.stringify(deal))
  const style = styleFor(terminal.stdout)
  terminal.print(style.bold(printable(deal.dealId)))
  const facts = formatFacts(
    [
      ['status', deal.status],
      ['cid', deal.cid],
      ['piece', deal.pieceCid ?? '-'],
      ['size', formatBytes(deal.size)],
      ['term', `${deal.term}, from ${formatTime(deal.createdAt)} until ${formatTime(deal.expiresAt)}`],
      ['ended', deal.endedAt === null ? '-' : formatTime(deal.endedAt)],
      ['url', deal.retrievalUrl],
    ],
    style,
  )
  for (const line of facts) terminal.print(line)
}
