import { encodeFunctionData, erc20Abi, getAddress } from 'viem'
import type { Address, Chain, Hash, Marketplace } from '../../chain.ts'
import { checkNode } from './check-node.ts'
import { callContract, readHex, readQuantity } from './contract-call.ts'
import { openEvmMarketplace } from './evm-marketplace.ts'
import { ask, askOnce, chainOffline, type JsonRpc, openJsonRpc } from './json-rpc.ts'
import { type LogRange, leastBalance } from './least-balance.ts'
import type { GasLimits } from './marketplace-call.ts'
import { ReadCache } from './read-cache.ts'
import { isSignedByContract } from './signed-by-contract.ts'
import { isSignedByKey } from './signed-by-key.ts'
import { WrongNode } from './wrong-node.ts'

/** Accounts whose balance is kept; about 2 MiB. */
const MAX_ACCOUNTS = 10_000
/** As far back as a node that keeps no archive has the states of the chain. */
const DEFAULT_WINDOW_BLOCKS = 128
/** The longest that the code of somebody else's contract is waited for. */
const CONTRACT_TIMEOUT_MS = 2_000
/**
 * Measured on Anvil 1.7.1 with version 2 of the marketplace and the token of packages/contracts: 220,630 gas for the first deal of an
 * account, 5,972,220 for forty at once; up to 105,156 for an extension, the most when it accounts for missed periods; 46,701 for an
 * approval. What is on top is for tokens behind a proxy, such as USDC itself. Version 1 takes less.
 */
const DEFAULT_GAS_LIMITS: GasLimits = {
  propose: 250_000n,
  proposeEach: 200_000n,
  extend: 300_000n,
  withdraw: 150_000n,
  end: 300_000n,
  settle: 300_000n,
  approve: 100_000n,
  empty: 21_000n,
}

/** The node, the contracts, and the account that signs. */
export interface EvmChainOptions {
  /** Where the node answers; may hold credentials, which no error and no log line repeats. */
  readonly rpcUrl: string
  /** The chain that the node has to be of. @default what the node says when this opens */
  readonly chainId?: number
  /** The contract of the token that quotas are read in and deals are paid in; it has six decimals. */
  readonly usdc: Address
  /** Deals are made with the first contract, and those of the others are kept, when `privateKey` is there as well. @default none */
  readonly marketplaces?: readonly Address[]
  /** Of the account that proposes deals and pays. @default none */
  readonly privateKey?: Hash
  /** How old a balance may be. 0 asks every time. @default 5000 */
  readonly balanceMaxAgeMs?: number
  /** Over how many blocks, the newest included, the least balance of an account is looked for. @default 128 */
  readonly balanceWindowBlocks?: number
  /** After so long without an answer the chain is offline. @default 5000 */
  readonly timeoutMs?: number
  /** The gas that transactions may use. @default what the marketplace of packages/contracts uses, and a margin */
  readonly gasLimits?: Partial<GasLimits>
}

/**
 * Opens an EVM chain by the JSON-RPC of one node.
 *
 * With a `chainId` it opens while the node is out of reach, and everything is `chain_offline` until it answers. Before anything else
 * the node has to say that it is of this chain, that the token has six decimals and that the marketplaces are paid in it; until it has,
 * nothing that it says is believed.
 *
 * @throws {WrongNode} when the node answers and is of another chain, or the contracts are not what they should be.
 * @throws {TypeError} when the URL is none of http or https.
 * @throws {LadeError} `chain_offline` when there is no `chainId` and the node does not answer.
 *
 * @example
 * const chain = await openEvmChain({ rpcUrl: 'http://127.0.0.1:8545', usdc: '0x5FbD…0aa3' })
 * await chain.usdcBalance('0xf39F…2266') // 1_000_000n (10⁻⁶ USDC)
 */
export async function openEvmChain(options: EvmChainOptions): Promise<Chain> {
  const { balanceMaxAgeMs = 5_000, balanceWindowBlocks = DEFAULT_WINDOW_BLOCKS, timeoutMs = 5_000 } = options
  const rpc = openJsonRpc({ url: options.rpcUrl, timeoutMs })
  const usdc = getAddress(options.usdc)
  const chainId = options.chainId ?? Number(readQuantity(await ask(rpc, 'eth_chainId', [])))
  const expected = { chainId, usdc, marketplaces: options.marketplaces ?? [] }

  const believe = askOnce(() => checkNode(rpc, expected))
  const trustedOf = (asked: JsonRpc): JsonRpc => ({
    async request(method, params) {
      await believe().catch(throwOffline)
      return asked.request(method, params)
    },
  })
  const trusted = trustedOf(rpc)
  const impatient = openJsonRpc({ url: options.rpcUrl, timeoutMs: Math.min(timeoutMs, CONTRACT_TIMEOUT_MS) })

  const cacheOptions = { maxAgeMs: balanceMaxAgeMs, maxEntries: MAX_ACCOUNTS, now: () => performance.now() }
  const balances = new ReadCache({ ...cacheOptions, read: (owner) => balanceOf(trusted, usdc, owner as Address) })
  const logRange: LogRange = { blocks: Math.max(1, balanceWindowBlocks) }
  const leastBalances = new ReadCache({
    ...cacheOptions,
    read: (owner) =>
      leastBalance(trusted, { usdc, owner: owner as Address, windowBlocks: balanceWindowBlocks }, logRange),
  })
  const codes = new ReadCache({
    ...cacheOptions,
    read: async (owner) => readHex(await ask(trusted, 'eth_getCode', [owner, 'latest'])) !== '0x',
  })
  const hasCode = (account: Address) => codes.get(account.toLowerCase())

  await believe().catch((error: unknown) => {
    if (error instanceof WrongNode || options.chainId === undefined) throw error
  })
  return {
    name: 'evm',
    chainId,
    marketplace: marketplaceOf(trusted, { ...options, chainId, usdc }),
    usdcBalance: (account) => balances.get(account.toLowerCase()),
    leastUsdcBalance: (account) => leastBalances.get(account.toLowerCase()),
    async isSignedBy(request, asking = (question) => question()) {
      if (await isSignedByKey(request)) return true
      return asking(() => isSignedByContract(request, { rpc: trustedOf(impatient), hasCode }))
    },
    check: () => checkNode(rpc, expected).catch(throwOffline),
    async close() {},
  }
}

/** Once the service runs, a node that changed is as one that does not answer. */
function throwOffline(error: unknown): never {
  throw error instanceof WrongNode ? chainOffline(error) : error
}

function marketplaceOf(rpc: JsonRpc, options: EvmChainOptions & { readonly chainId: number }): Marketplace | undefined {
  const { chainId, usdc, marketplaces = [], privateKey } = options
  const [first, ...others] = marketplaces.map((address) => getAddress(address))
  if (first === undefined || privateKey === undefined) return undefined
  const gasLimits = { ...DEFAULT_GAS_LIMITS, ...options.gasLimits }
  return openEvmMarketplace({ rpc, chainId, usdc, marketplaces: [first, ...others], privateKey, gasLimits })
}

async function balanceOf(rpc: JsonRpc, usdc: Address, owner: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  return readQuantity(await callContract(rpc, { to: usdc, data }))
}
