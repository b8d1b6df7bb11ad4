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
    .summary('Create a link to a private file.')
    .description(
      'Create a link to one of your files. Anyone with the link can download the file, even a private one, until the link expires or the token that created it is revoked.',
    )
    .argument('<cid>', 'any id of the file')
    .option('--hours <number>', 'Lifetime of the link, in hours.', wholeNumberIn(1, MAXIMUM_HOURS), DEFAULT_HOURS)
    .option('--json', 'Print one JSON object.')
    .action(async (cid: string) => {
      const { hours, json }: { hours: number; json?: boolean } = command.opts()
      const { client } = await connect(command, terminal)
      const shared = await client.files.share(cid, { ttlSeconds: hours * 3600, signal: terminal.interruption() })
      if (json) return terminal.print(JSON.stringify({ cid, ...shared }))
      terminal.print(printable(shared.url))
      terminal.note(`Valid until ${formatTime(shared.expiresAt)}, ${formatFromNow(shared.expiresAt, terminal.now())}.`)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}
