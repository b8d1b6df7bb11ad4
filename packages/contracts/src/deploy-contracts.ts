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
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { marketplaceAbi, marketplaceBytecode } from '../artifacts/Marketplace.ts'
import { marketplaceV1Abi, marketplaceV1Bytecode } from '../artifacts/MarketplaceV1.ts'
import { testUsdcAbi, testUsdcBytecode } from '../artifacts/TestUsdc.ts'
import { type BlockReader, readChainRandomness } from './challenge/challenge.ts'

const DAY_SECONDS = 86_400

export interface DeployContractsOptions {
  readonly rpcUrl: string
  /** Pays for the deployment and has no rights afterwards: a key, or the account of one. */
  readonly privateKey: Hex | PrivateKeyAccount
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
  /**
   * Blocks from the opening of a challenge to the one whose randomness draws its leaves; `delayBlocks` of `readChainRandomness` is
   * what a public chain should have.
   *
   * @default the least that the chain needs: 1, or more on a rollup that repeats the randomness of its layer 1
   */
  readonly seedDelayBlocks?: number
  /** Answers the randomness of a block number. @default that of Filecoin, and elsewhere none: the headers of blocks are used */
  readonly beacon?: Address
}

/** The contracts of a chain, by their addresses. */
export interface DeployedContracts {
  readonly chainId: number
  readonly usdc: Address
  readonly marketplace: Address
  readonly version: 1 | 2
  readonly firstDealId: bigint
  /** The block that the marketplace was deployed in: no event of it is in an earlier one. */
  readonly deployedAtBlock: bigint
}

/**
 * Deploys the marketplace, and a USDC for tests unless a token is given.
 *
 * @throws {Error} when the chain cannot be reached, has no randomness that leaves can be drawn by, or a deployment fails.
 *
 * @example
 * const { usdc, marketplace } = await deployContracts({ rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY })
 */
export async function deployContracts(options: DeployContractsOptions): Promise<DeployedContracts> {
  const { privateKey } = options
  const account = typeof privateKey === 'string' ? privateKeyToAccount(privateKey) : privateKey
  const client = openClient(options.rpcUrl, account)
  const { version = 2, firstDealId = 1n } = options
  const deployed = async (hash: Hex): Promise<{ address: Address; blockNumber: bigint }> => {
    const { contractAddress, blockNumber, status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success' || contractAddress == null) throw new Error(`the deployment in ${hash} failed`)
    return { address: contractAddress, blockNumber }
  }

  const token = { abi: testUsdcAbi, bytecode: testUsdcBytecode, chain: null } as const
  const usdc = options.usdc ?? (await deployed(await client.deployContract(token))).address
  const periods = [
    usdc,
    BigInt(options.provingPeriodSeconds ?? DAY_SECONDS),
    BigInt(options.acceptanceWindowSeconds ?? DAY_SECONDS),
  ] as const
  const deploy = async () => {
    if (version === 1) {
      return client.deployContract({
        abi: marketplaceV1Abi,
        bytecode: marketplaceV1Bytecode,
        args: periods,
        chain: null,
      })
    }
    const seed = await seedSource(client, options)
    const args = [...periods, firstDealId, seed.delayBlocks, seed.beacon] as const
    return client.deployContract({ abi: marketplaceAbi, bytecode: marketplaceBytecode, args, chain: null })
  }
  const { address: marketplace, blockNumber: deployedAtBlock } = await deployed(await deploy())
  return { chainId: await client.getChainId(), usdc, marketplace, version, firstDealId, deployedAtBlock }
}

async function seedSource(chain: BlockReader, options: DeployContractsOptions) {
  const { seedDelayBlocks, beacon } = options
  if (beacon !== undefined) return { delayBlocks: seedDelayBlocks ?? 1, beacon }
  const randomness = await readChainRandomness(chain)
  if (randomness.kind === 'none') throw new Error(randomness.reason)
  const { leastDelayBlocks } = randomness
  if (seedDelayBlocks !== undefined && seedDelayBlocks < leastDelayBlocks) {
    throw new Error(
      `This chain repeats the randomness of its layer 1. The seed delay must be at least ${leastDelayBlocks} blocks.`,
    )
  }
  return {
    delayBlocks: seedDelayBlocks ?? leastDelayBlocks,
    beacon: randomness.kind === 'beacon' ? randomness.beacon : zeroAddress,
  }
}

function openClient(rpcUrl: string, account: Account) {
  const transport = http(rpcUrl, { retryCount: 0 })
  return createClient({ account, transport, pollingInterval: 50 }).extend(publicActions).extend(walletActions)
}
