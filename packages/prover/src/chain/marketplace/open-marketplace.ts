import { parseAbi } from 'viem'
import { type ChainAccount, refusedOr } from '../chain-account.ts'
import type { Marketplace } from './marketplace.ts'
import { MarketplaceV1 } from './marketplace-v1.ts'
import { MarketplaceV2 } from './marketplace-v2.ts'

const VERSION_ABI = parseAbi(['function VERSION() view returns (uint256)'])

/** At a configured address there is no contract that the prover can follow. */
export class NoMarketplaceError extends Error {
  override readonly name = 'NoMarketplaceError'
}

/**
 * Opens a marketplace contract by its own version, which the contract says itself.
 *
 * @throws {NoMarketplaceError} when there is no contract, or one of another version. It may be deployed later.
 * @throws {BaseError} of viem, when the chain cannot be asked.
 */
export async function openMarketplace(chain: ChainAccount, address: `0x${string}`): Promise<Marketplace> {
  const code = await chain.client.getCode({ address })
  if (code === undefined) throw new NoMarketplaceError(`There is no contract at ${address}.`)
  const version = await versionOf(chain, address)
  if (version === 1n) return MarketplaceV1.open(chain, address)
  if (version === 2n) return MarketplaceV2.open(chain, address)
  throw new NoMarketplaceError(
    `The marketplace at ${address} is of version ${version}, which this prover does not know.`,
  )
}

/** The first version has no `VERSION()`, and refuses the call as it does every unknown one. */
async function versionOf({ client }: ChainAccount, address: `0x${string}`): Promise<bigint> {
  const call = { address, abi: VERSION_ABI, functionName: 'VERSION' } as const
  const version = await refusedOr(client.readContract(call), call)
  return typeof version === 'bigint' ? version : 1n
}
