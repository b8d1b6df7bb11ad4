import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { printable } from '../output/printable.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

/** `lade wallet new FILE`: a new private key, in a file of its own. */
export function addWalletNew(wallets: Command, terminal: Terminal): void {
  const command = wallets
    .command('new')
    .summary('Create a wallet.')
    .description(
      'Create a private key in a new file that only you can read, and print its address. Anyone with the file controls the wallet.',
    )
    .argument('<file>', 'new file for the key; an existing file is never replaced')
    .option('--json', 'Print one JSON object.')
    .action(async (name: string) => {
      const { generatePrivateKey, privateKeyToAddress } = await import('viem/accounts')
      const key = generatePrivateKey()
      await writeKey(resolve(terminal.cwd, name), `${key}\n`, name)
      const address = privateKeyToAddress(key)
      if (command.opts().json) return terminal.print(JSON.stringify({ address, file: name }))
      terminal.print(address)
      terminal.note(`The only copy of its key is in ${printable(name)}. Back it up where only you can read it.`)
    })
}

/** Writes a file that was not there, durably, readable by its owner only. */
async function writeKey(path: string, text: string, name: string): Promise<void> {
  try {
    await using file = await open(path, 'wx', 0o600)
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new UsageError(`${name} already exists and may contain a wallet. Choose another name.`)
    }
    throw error
  }
}
