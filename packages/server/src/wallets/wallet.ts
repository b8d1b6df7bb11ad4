import { type AccountAddress, checksumAddress } from '@lade/core/wire'
import { accountIdOf } from '../chain/account-id.ts'

/** An account on the chain of this service, which has proved that it asks. */
export interface Wallet {
  readonly chainId: number
  /** In the mixed case of EIP-55. */
  readonly address: AccountAddress
}

/**
 * How a wallet is named where users have their id (CAIP-10).
 *
 * @example
 * walletUserId({ chainId: 8453, address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
 * // 'eip155:8453:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
 */
export function walletUserId(wallet: Wallet): string {
  return accountIdOf(wallet)
}

/** The wallet of a user id; undefined for one that is of no wallet. */
export function walletOfUserId(userId: string): Wallet | undefined {
  const [namespace, chainId = '', address = ''] = userId.split(':')
  return namespace === 'eip155' ? { chainId: Number(chainId), address: checksumAddress(address) } : undefined
}
