import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { printable } from '../output/printable.ts'
import { formatFromNow, formatTime } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

const DEFAULT_HOURS = 24
/** 30 days, which is the longest that the service signs. */
const MAXIMUM_HOURS = 720

/** `lade share CID`: a link to a private file. */
export function addShare(program: Command, terminal: Terminal): void {
  const command = program
    .command('share')
    .summary('Make a link to a private file.')
    .description(
      'Make a link to a file of mine. Whoever has it can retrieve the file, also a private one, until it expires or the token that made it is revoked.',
    )
    .argument('<cid>', 'any id of the file')
    .option('--hours <number>', 'How long the link is good.', wholeNumberIn(1, MAXIMUM_HOURS), DEFAULT_HOURS)
    .option('--json', 'Print one JSON object.')
    .action(async (cid: string) => {
      const { hours, json }: { hours: number; json?: boolean } = command.opts()
      const { client } = await connect(command, terminal)
      const shared = await client.files.share(cid, { ttlSeconds: hours * 3600, signal: terminal.interruption() })
      if (json) return terminal.print(JSON.stringify({ cid, ...shared }))
      terminal.print(printable(shared.url))
      terminal.note(`Good until ${formatTime(shared.expiresAt)}, ${formatFromNow(shared.expiresAt, terminal.now())}.`)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}
