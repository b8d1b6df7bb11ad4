import type { AccountWallet, LadeClient } from '@lade/client'
import { Ended, EXIT } from '../exit-code.ts'
import type { Terminal } from '../terminal.ts'
import { openWallet } from './open-wallet.ts'

/** A wallet that was chosen, and not opened yet. */
export interface ChosenWallet {
  /** The file, as it was given. */
  readonly name: string
  /** What named it: `--wallet` or `LADE_WALLET`. */
  readonly from: string
  /** Undefined: the one that the service names. */
  readonly chainId: number | undefined
}

/**
 * Opens a wallet for a service, once it is known that the service takes wallets.
 *
 * @param client - of the service, as nobody.
 * @throws {Ended} where the service takes none, which has been said.
 * @throws what {@link openWallet} throws, and what asking the service can.
 */
export async function signingWallet(
  { chainId, ...file }: ChosenWallet,
  client: LadeClient,
  url: string,
  terminal: Terminal,
): Promise<AccountWallet> {
  if (chainId !== undefined) return { account: await openWallet(file, terminal), chainId }
  const { wallets } = await client.info({ signal: terminal.interruption() })
  if (!wallets) {
    throw new Ended(
      EXIT.refused,
      `Wallets are not enabled at ${url}. Leave out ${file.from}, or choose another service. (The operator enables wallets with LADE_CHAIN_RPC.)`,
    )
  }
  return { account: await openWallet(file, terminal), chainId: wallets.chainId }
}
