import type { Command } from 'commander'
import { wholeNumberIn } from '../number-option.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import type { ChosenWallet } from '../wallet/signing-wallet.ts'

interface WalletFlags {
  readonly tokenFile?: string
  readonly wallet?: string
  readonly chainId?: number
}

/** Gives `command` the flags that choose a wallet in place of a token, on top of those that choose a token. */
export function addWalletOptions(command: Command): void {
  command
    .option(
      '--wallet <file>',
      'Authenticate with a wallet instead of a token: a private key file or a keystore (LADE_WALLET).',
    )
    .option(
      '--chain-id <number>',
      'Chain id to sign with (default: the chain of the service). Needs a wallet.',
      wholeNumberIn(1, Number.MAX_SAFE_INTEGER),
    )
}

/**
 * The wallet that stands in the place of a token: by its flag, else by its variable where no token is given by a flag.
 *
 * @returns undefined where there is none, and for a command that takes none.
 * @throws {UsageError} where a token was chosen as well.
 */
export function chosenWallet(command: Command, { env }: Pick<Terminal, 'env'>): ChosenWallet | undefined {
  if (!command.options.some(({ long }) => long === '--wallet')) return undefined
  const { wallet, tokenFile, chainId }: WalletFlags = command.opts()
  if (wallet !== undefined && tokenFile !== undefined) {
    throw new UsageError('Use --wallet or --token-file, not both.')
  }
  if (wallet !== undefined) return { name: wallet, from: '--wallet', chainId }
  if (tokenFile === undefined && env.LADE_WALLET) {
    if (env.LADE_TOKEN) throw new UsageError('LADE_WALLET and LADE_TOKEN are both set. Unset one of them.')
    return { name: env.LADE_WALLET, from: 'LADE_WALLET', chainId }
  }
  if (chainId !== undefined) throw new UsageError('--chain-id needs a wallet. Add --wallet.')
  return undefined
}
