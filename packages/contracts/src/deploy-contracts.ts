import { type Account, type Address, createClient, type Hex, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { marketplaceAbi, marketplaceBytecode } from '../artifacts/Marketplace.ts'
import { testUsdcAbi, testUsdcBytecode } from '../artifacts/TestUsdc.ts'

const DAY_SECONDS = 86_400

export interface DeployContractsOptions {
  readonly rpcUrl: string
  /** Pays for the deployment and has no rights afterwards. */
  readonly privateKey: Hex
  /** A token that is there already. @default a `TestUsdc` is deployed */
  readonly usdc?: Address
  /** One proof is due in each. @default 86400 */
  readonly provingPeriodSeconds?: number
  /** How long a prover has to accept a deal. @default 86400 */
  readonly acceptanceWindowSeconds?: number
}

/** The contracts of a chain, by their addresses. */
export interface DeployedContracts {
  readonly chainId: number
  readonly usdc: Address
  readonly marketplace: Address
}

/**
 * Deploys the marketplace, and a USDC for tests unless a token is given.
 *
 * @throws {Error} when the chain cannot be reached or a deployment fails.
 *
 * @example
 * const { usdc, marketplace } = await deployContracts({ rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY })
 */
export async function deployContracts(options: DeployContractsOptions): Promise<DeployedContracts> {
  const account = privateKeyToAccount(options.privateKey)
  const client = openClient(options.rpcUrl, account)
  const addressOf = async (hash: Hex): Promise<Address> => {
    const { contractAddress, status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success' || contractAddress == null) throw new Error(`the deployment in ${hash} failed`)
    return contractAddress
  }

  const usdc =
    options.usdc ??
    (await addressOf(await client.deployContract({ abi: testUsdcAbi, bytecode: testUsdcBytecode, chain: null })))
  const args = [
    usdc,
    BigInt(options.provingPeriodSeconds ?? DAY_SECONDS),
    BigInt(options.acceptanceWindowSeconds ?? DAY_SECONDS),
  ] as const
  const marketplace = await addressOf(
    await client.deployContract({ abi: marketplaceAbi, bytecode: marketplaceBytecode, args, chain: null }),
  )
  return { chainId: await client.getChainId(), usdc, marketplace }
}

function openClient(rpcUrl: string, account: Account) {
  const transport = http(rpcUrl, { retryCount: 0 })
  return createClient({ account, transport, pollingInterval: 50 }).extend(publicActions).extend(walletActions)
}
