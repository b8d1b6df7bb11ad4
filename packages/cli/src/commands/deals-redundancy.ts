import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { printable } from '../output/printable.ts'
import type { Terminal } from '../terminal.ts'

const MAXIMUM_COPIES = 16

/** `lade deals redundancy ID N`: how many provers are to hold a file. */
export function addDealsRedundancy(deals: Command, terminal: Terminal): void {
  const command = deals
    .command('redundancy')
    .summary('Set the number of copies of a deal.')
    .description('Set how many provers store the file of a deal. Lade adds or drops copies in the background.')
    .argument('<id>', 'the id of a deal')
    .argument('<copies>', `number of provers, 1 to ${MAXIMUM_COPIES}`, wholeNumberIn(1, MAXIMUM_COPIES))
    .option('--json', 'Print the updated deal as one JSON object.')
    .action(async (id: string, copies: number) => {
      const { client } = await connect(command, terminal)
      const deal = await client.deals.setRedundancy(id, copies, { signal: terminal.interruption() })
      if (command.opts().json) return terminal.print(JSON.stringify(deal))
      const { dealId, redundancy, provedCopies } = deal
      terminal.print(
        `${printable(dealId)}: ${redundancy} ${redundancy === 1 ? 'copy' : 'copies'} requested, ${provedCopies} proved.`,
      )
      if (provedCopies < redundancy) terminal.note(`"lade deals ${printable(dealId)}" shows the progress.`)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}
