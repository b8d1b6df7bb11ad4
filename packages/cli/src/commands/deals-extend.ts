import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { formatFromNow, formatTime } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

const MAXIMUM_DAYS = 36_500

/** `lade deals extend ID --days N`: lets a deal end later. */
export function addDealsExtend(deals: Command, terminal: Terminal): void {
  const command = deals
    .command('extend')
    .summary('Extend the term of a deal.')
    .description(
      'Add days to the term of a deal, up to the longest term that the service allows. Each run adds the days again.',
    )
    .argument('<id>', 'the id of a deal')
    .requiredOption('--days <number>', 'Days to add.', wholeNumberIn(1, MAXIMUM_DAYS))
    .option('--json', 'Print the updated deal as one JSON object.')
    .action(async (id: string) => {
      const { days, json }: { days: number; json?: boolean } = command.opts()
      const { client } = await connect(command, terminal)
      const deal = await client.deals.extend(id, { days, signal: terminal.interruption() })
      if (json) return terminal.print(JSON.stringify(deal))
      const { dealId, expiresAt } = deal
      const end = `${formatTime(expiresAt)}, ${formatFromNow(expiresAt, terminal.now())}`
      terminal.print(`${printable(dealId)} was extended by ${countOf(days, 'day')}, until ${end}.`)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}
