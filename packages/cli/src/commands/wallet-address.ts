import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'

/** `lade wallet address FILE`: which account a file is the wallet of. */
export function addWalletAddress(wallets: Command, terminal: Terminal): void {
  const command = wallets
    .command('address')
    .summary('Show the address of a wallet.')
    .description(
      'Show the address of the wallet in a file. For a keystore, lade needs the password, because the address is computed from the key.',
    )
    .argument('<file>', 'private key file or keystore')
    .option('--json', 'Print one JSON object.')
    .action(async (name: string) => {
      const { openWallet } = await import('../wallet/open-wallet.ts')
      const { address } = await openWallet({ name, from: 'the command line' }, terminal)
      terminal.print(command.opts().json ? JSON.stringify({ address }) : address)
    })
}
