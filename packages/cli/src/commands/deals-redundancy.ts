import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import type { Terminal } from '../terminal.ts'

const MAXIMUM_COPIES = 16

/** `lade deals redundancy ID N`: how many provers are to hold a file. */
export function addDealsRedundancy(deals: Command, terminal: Terminal): void {
  const command = deals
    .command('redundancy')
    .summary('Say how many provers hold the file of a deal.')
    .description(
      'Say how many provers are to hold the file of a deal. Copies are made, and those too many given up, afterwards.',
    )
    .argument('<id>', 'the id of a deal')
    .argument('<copies>', `how many provers, 1 to ${MAXIMUM_COPIES}`, wholeNumberIn(1, MAXIMUM_COPIES))
    .option('--json', 'Print one JSON object: the deal as it is now.')
    .action(async (id: string, copies: number) => {
      const { client } = await connect(command, terminal)
      const deal = await client.deals.setRedundancy(id, copies, { signal: terminal.interruption() })
      if (command.opts().json) return terminal.print(JSON.stringify(deal))
      const { dealId, redundancy, provedCopies } = deal
      const wanted = `${countOf(redundancy, 'prover')} ${redundancy === 1 ? 'is' : 'are'} to hold it`
      const proved = provedCopies === 1 ? '1 has proved that it does' : `${provedCopies} have proved that they do`
      terminal.print(`${printable(dealId)}: ${wanted}; ${proved}.`)
      if (provedCopies < redundancy) terminal.note(`"lade deals ${printable(dealId)}" shows how it goes on.`)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}
