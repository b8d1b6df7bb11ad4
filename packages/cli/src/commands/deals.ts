import { DEAL_STATUSES, type DealEntry, MAX_DEALS_PER_PAGE } from '@lade/core/wire'
import { type Command, Option } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { formatBytes } from '../output/amounts.ts'
import { describeDeal } from '../output/deal.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatBriefly } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED, takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { addDealsExtend } from './deals-extend.ts'
import { addDealsProofs } from './deals-proofs.ts'
import { addDealsRedundancy } from './deals-redundancy.ts'

interface DealFlags {
  readonly limit: number
  readonly status?: DealEntry['status']
  readonly json?: boolean
}

/** `lade deals [ID]`: the deals of the caller's files, and the actions on one deal. */
export function addDeals(program: Command, terminal: Terminal): void {
  const command = program.command('deals')
  command
    .summary('List storage deals and their status.')
    .description('List your storage deals, newest first, or show one deal with its copies.')
    .argument('[id]', 'the id of a deal')
    .option('--limit <number>', 'Maximum number of deals.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .addOption(new Option('--status <status>', 'Only deals with this status.').choices(DEAL_STATUSES))
    .option('--json', 'Print one JSON array, or one object for a single deal.')
    .action((id: string | undefined) =>
      id === undefined ? listDeals(command, terminal) : showDeal(id, command, terminal),
    )
    .hook('preSubcommand', handOnFlags)
  addAccountOptions(command)
  addWalletOptions(command)
  addDealsExtend(command, terminal)
  addDealsRedundancy(command, terminal)
  addDealsProofs(command, terminal)
}

/**
 * Gives the command below what was read of its flags, wherever they stood: commander gives a flag that both have to the one above, and a
 * service that was named would be passed over in silence.
 */
function handOnFlags(deals: Command, below: Command): void {
  for (const option of deals.options) {
    const name = option.attributeName()
    if (deals.getOptionValueSource(name) !== 'cli') continue
    if (!below.options.some(({ long }) => long === option.long)) {
      throw new UsageError(`"lade deals ${below.name()}" does not accept ${option.long}.`)
    }
    below.setOptionValueWithSource(name, deals.getOptionValue(name), 'cli')
  }
}

async function listDeals(command: Command, terminal: Terminal): Promise<void> {
  const { limit, status, json }: DealFlags = command.opts()
  const { client } = await connect(command, terminal)
  const pages = client.deals.list({
    limit: Math.min(limit + 1, MAX_DEALS_PER_PAGE),
    status,
    signal: terminal.interruption(),
  })
  const { items, hasMore } = await takeFirst(pages, limit)
  if (json) terminal.print(JSON.stringify(items))
  else if (items.length === 0) terminal.note(status === undefined ? 'No deals yet.' : `No deal is ${status}.`)
  else for (const line of tableOf(items, terminal)) terminal.print(line)
  if (hasMore) terminal.note('There are more deals. Raise --limit to see them.')
}

const COLUMNS: readonly Column[] = [
  { title: 'deal', minimum: 12 },
  { title: 'status' },
  { title: 'copies', rank: 1 },
  { title: 'size', align: 'right', rank: 2 },
  { title: 'left', align: 'right', rank: 3 },
  { title: 'cid', minimum: 15, rank: 4 },
]

function tableOf(deals: readonly DealEntry[], { stdout, now }: Terminal): string[] {
  const atMs = now().getTime()
  const rows = deals.map(({ dealId, status, provedCopies, redundancy, size, expiresAt, cid }) => [
    dealId,
    status,
    `${provedCopies} of ${redundancy}`,
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
  for (const line of describeDeal(deal, terminal)) terminal.print(line)
}
