import { deployContracts } from '@lade/contracts'
import { addressFileOf } from '@lade/contracts/address-file'
import { readChainRandomness } from '@lade/contracts/challenge'
import { BaseError, createClient, erc20Abi, getAddress, http, type PrivateKeyAccount, publicActions } from 'viem'
import { LocalError, UsageError } from '../usage-error.ts'

/** Chains that run on one machine, whose tokens are worth nothing. */
const LOCAL_CHAINS = [31_337, 1_337]
const USDC_DECIMALS = 6

type Address = `0x${string}`

export interface DeployMarketplaceOptions {
  readonly rpc: string
  /** Pays for the deployment. */
  readonly account: PrivateKeyAccount
  /** `test` deploys a token that anyone can mint. @default `test` on a local chain, and none elsewhere */
  readonly usdc?: Address | 'test' | undefined
  readonly firstDeal: number
  readonly period: number
  readonly acceptance: number
  /** @default what the chain should have; 1 on a local one */
  readonly seedDelay?: number | undefined
}

/** A marketplace that was deployed, and what its address file says. */
export interface DeployedMarketplace {
  readonly chainId: number
  readonly usdc: Address
  readonly marketplace: Address
  readonly addressFile: string
}

/**
 * Deploys a marketplace of the newest version, and waits until it is in a block.
 *
 * @throws {UsageError} for a chain that needs another option, or on which leaves cannot be drawn.
 * @throws {LocalError} when the node does not answer or the deployment fails. No error holds the URL of the node, which may have a key.
 */
export async function deployMarketplace(options: DeployMarketplaceOptions): Promise<DeployedMarketplace> {
  try {
    return await deploy(options)
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const details = error.details && error.details !== error.shortMessage ? ` ${error.details}` : ''
    throw new LocalError(`The chain refused or did not answer: ${error.shortMessage.split('\n')[0]}${details}`)
  }
}

async function deploy(options: DeployMarketplaceOptions): Promise<DeployedMarketplace> {
  const { rpc, account, usdc, firstDeal, period, acceptance, seedDelay } = options
  const client = createClient({ transport: http(rpc, { retryCount: 1 }) }).extend(publicActions)
  const chainId = await client.getChainId()
  const isLocal = LOCAL_CHAINS.includes(chainId)
  if (usdc === undefined && !isLocal) {
    throw new UsageError(`Chain ${chainId} is not a local one. Pass --usdc with the token that deals are paid in.`)
  }
  const token = usdc === 'test' ? undefined : usdc
  if (token !== undefined && (await decimalsOf(client, token)) !== USDC_DECIMALS) {
    throw new UsageError(`There is no token of ${USDC_DECIMALS} decimals at ${token} on chain ${chainId}.`)
  }
  // A local chain that is new has no block to look at before the token is deployed.
  const isNew = isLocal && (await client.getBlockNumber({ cacheTime: 0 })) === 0n
  const seedDelayBlocks = isNew ? seedDelay : await seedDelayOf(client, options, isLocal)
  const deployed = await deployContracts({
    rpcUrl: rpc,
    privateKey: account,
    ...(token !== undefined && { usdc: token }),
    provingPeriodSeconds: period,
    acceptanceWindowSeconds: acceptance,
    firstDealId: BigInt(firstDeal),
    ...(seedDelayBlocks !== undefined && { seedDelayBlocks }),
  })
  const facts = { ...deployed, usdc: getAddress(deployed.usdc), marketplace: getAddress(deployed.marketplace) }
  return { ...facts, addressFile: addressFileOf(facts) }
}

/** Blocks from the opening of a challenge to the one that draws its leaves. */
async function seedDelayOf(
  client: Parameters<typeof readChainRandomness>[0],
  { seedDelay }: Pick<DeployMarketplaceOptions, 'seedDelay'>,
  isLocal: boolean,
): Promise<number> {
  const randomness = await readChainRandomness(client)
  if (randomness.kind === 'none') {
    throw new UsageError(`${randomness.reason} Provers could choose what they prove, so nothing is deployed.`)
  }
  const { leastDelayBlocks, delayBlocks } = randomness
  if (seedDelay !== undefined && seedDelay < leastDelayBlocks) {
    throw new UsageError(`This chain needs a --seed-delay of at least ${leastDelayBlocks} blocks.`)
  }
  return seedDelay ?? (isLocal ? leastDelayBlocks : delayBlocks)
}

async function decimalsOf(
  client: { readContract: ReturnType<typeof publicActions>['readContract'] },
  token: Address,
): Promise<number | undefined> {
  try {
    return await client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })
  } catch (error) {
    // Nothing at the address that answers as a token.
    if (error instanceof BaseError && error.name === 'ContractFunctionExecutionError') return undefined
    throw error
  }
}
