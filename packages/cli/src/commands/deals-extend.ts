import { DAY_MS } from '@lade/core/time'
import { type Command, InvalidArgumentError } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { formatFromNow, formatTime } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const MAXIMUM_DAYS = 36_500

/** `lade deals extend ID --days N`: lets a deal end later. */
export function addDealsExtend(deals: Command, terminal: Terminal): void {
  const command = deals
    .command('extend')
    .summary('Extend the term of a deal.')
    .description(
      'Make the term of a deal longer, up to the longest term that the service allows. --days adds days on every run. --until extends the deal to a date; it changes nothing if the deal already lasts that long.',
    )
    .argument('<id>', 'the id of a deal')
    .option('--days <number>', 'Days to add.', wholeNumberIn(1, MAXIMUM_DAYS))
    .option('--until <date>', 'Last day of the term, such as 2027-06-30 (UTC).', utcDayOption)
    .option('--json', 'Print the updated deal as one JSON object.')
    .action(async (id: string) => {
      const { days, until, json }: { days?: number; until?: Date; json?: boolean } = command.opts()
      const term = termOf(days, until)
      const { client } = await connect(command, terminal)
      const deal = await client.deals.extend(id, { ...term, signal: terminal.interruption() })
      if (json) return terminal.print(JSON.stringify(deal))
      const { dealId, expiresAt } = deal
      const end = `${formatTime(expiresAt)}, ${formatFromNow(expiresAt, terminal.now())}`
      terminal.print(
        days === undefined
          ? `${printable(dealId)} lasts until ${end}.`
          : `${printable(dealId)} was extended by ${countOf(days, 'day')}, until ${end}.`,
      )
    })
  addAccountOptions(command)
  addWalletOptions(command)
}

/** @throws {UsageError} unless one of them is given. */
function termOf(days: number | undefined, until: Date | undefined): { days: number } | { until: Date } {
  if (days !== undefined && until === undefined) return { days }
  if (until !== undefined && days === undefined) return { until }
  throw new UsageError('Use either --days or --until.')
}

/** The end of a UTC day. */
function utcDayOption(text: string): Date {
  const startMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(startMs)) throw new InvalidArgumentError('Expected a date such as 2027-06-30.')
  return new Date(startMs + DAY_MS - 1)
}
