import {
  type Account,
  type Address,
  createClient,
  type Hex,
  http,
  publicActions,
  walletActions,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { marketplaceAbi, marketplaceBytecode } from '../artifacts/Marketplace.ts'
import { marketplaceV1Abi, marketplaceV1Bytecode } from '../artifacts/MarketplaceV1.ts'
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
  /** Of the marketplace. The first one has none of the options below. @default 2 */
  readonly version?: 1 | 2
  /** The number of the first deal: above the last one of an earlier contract. @default 1 */
  readonly firstDealId?: bigint
  /** Blocks from the opening of a challenge to the one whose randomness draws its leaves. @default 1 */
  readonly seedDelayBlocks?: number
  /** Answers the randomness of a block number. @default none: the headers of blocks are used */
  readonly beacon?: Address
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
  const periods = [
    usdc,
    BigInt(options.provingPeriodSeconds ?? DAY_SECONDS),
    BigInt(options.acceptanceWindowSeconds ?? DAY_SECONDS),
  ] as const
  const ofVersion2 = [options.firstDealId ?? 1n, options.seedDelayBlocks ?? 1, options.beacon ?? zeroAddress] as const
  const first = { abi: marketplaceV1Abi, bytecode: marketplaceV1Bytecode, args: periods, chain: null } as const
  const second = { abi: marketplaceAbi, bytecode: marketplaceBytecode, args: [...periods, ...ofVersion2] } as const
  const marketplace = await addressOf(
    options.version === 1
      ? await client.deployContract(first)
      : await client.deployContract({ ...second, chain: null }),
  )
  return { chainId: await client.getChainId(), usdc, marketplace }
}

function openClient(rpcUrl: string, account: Account) {
  const transport = http(rpcUrl, { retryCount: 0 })
  return createClient({ account, transport, pollingInterval: 50 }).extend(publicActions).extend(walletActions)
}
