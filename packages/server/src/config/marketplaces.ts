import { resolve } from 'node:path'
import { type AddressFile, readAddressFile } from '@lade/contracts/address-file'
import { checksumAddress } from '@lade/core/wire'
import { ConfigError } from '@lade/node/settings'
import type { ReadSettings } from './read-settings.ts'

/** The marketplace contracts that the settings name, and the chain that address files say they are on. */
export interface NamedMarketplaces {
  /** The first is for new deals. */
  readonly contracts: readonly `0x${string}`[]
  /** Undefined when nothing says it. */
  readonly chainId: number | undefined
}

/**
 * Reads the address files among the marketplaces.
 *
 * @throws {ConfigError} for a file that cannot be read, a contract that is named twice, and for files of another chain or token than the other
 * settings say.
 */
export function readMarketplaces({ values, givenAs }: ReadSettings, cwd: string): NamedMarketplaces {
  const { marketplace = [], chainId: configured, usdc } = values
  const setting = givenAs('marketplace')
  const contracts: `0x${string}`[] = []
  let chainId = configured
  for (const named of marketplace) {
    const file = named.path === undefined ? undefined : addressFileAt(named.path, cwd, setting)
    const address = file === undefined ? named.address : checksumAddress(file.marketplace)
    if (address === undefined || contracts.includes(address)) {
      throw new ConfigError(`${setting} names the contract ${address} twice.`)
    }
    contracts.push(address)
    if (file === undefined) continue
    if (chainId !== undefined && file.chainId !== chainId) {
      throw new ConfigError(
        `${setting} names ${named.path}, which is of chain ${file.chainId}, not of chain ${chainId}.`,
      )
    }
    chainId = file.chainId
    if (usdc !== undefined && file.usdc !== undefined && checksumAddress(file.usdc) !== usdc) {
      throw new ConfigError(`${setting} names ${named.path}, whose contract is paid in ${file.usdc}, not in ${usdc}.`)
    }
  }
  return { contracts, chainId }
}

function addressFileAt(path: string, cwd: string, setting: string): AddressFile {
  try {
    return readAddressFile(resolve(cwd, path))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ConfigError(`${setting} names ${path}, which ${error.message}.`)
  }
}
