import { deployContracts, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY } from '@lade/contracts/anvil'
import {
  type Address,
  createTestClient,
  getContractAddress,
  type Hex,
  http,
  isAddressEqual,
  parseEther,
  publicActions,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** One period of a devnet: short enough to see proofs come, long enough for a prover to keep up with hundreds of deals. */
export const PROVING_PERIOD_SECONDS = 60
const ACCEPTANCE_WINDOW_SECONDS = 600
const BLOCK_SECONDS = 1
const OPERATOR_USDC = 1_000_000
const WALLET_USDC = 100
const MICRO_USDC = 1_000_000n

/** An account that nobody had before. */
export interface NewAccount {
  readonly privateKey: Hex
  readonly address: Address
}

export function newAccount(): NewAccount {
  const privateKey = generatePrivateKey()
  return { privateKey, address: privateKeyToAccount(privateKey).address }
}

/** Where the contracts of a chain come to be that nobody has used before. @see {@link setUpChain} */
export function contractAddresses(): { readonly usdc: Address; readonly marketplace: Address } {
  const from = privateKeyToAccount(ANVIL_KEY).address
  return { usdc: getContractAddress({ from, nonce: 0n }), marketplace: getContractAddress({ from, nonce: 1n }) }
}

export interface SetUpChainOptions {
  readonly rpcUrl: string
  /** Pays for deals. */
  readonly operator: Address
  readonly provers: readonly Address[]
  /** Puts files. */
  readonly wallet: Address
}

/**
 * Deploys the contracts on a new anvil that makes a block for every transaction, gives everybody what they need, and has it make a block
 * every second from then on.
 *
 * @throws {Error} when the chain refuses anything of it.
 */
export async function setUpChain({ rpcUrl, operator, provers, wallet }: SetUpChainOptions): Promise<void> {
  const account = privateKeyToAccount(ANVIL_KEY)
  const client = createTestClient({ mode: 'anvil', account, transport: http(rpcUrl, { retryCount: 0 }) })
    .extend(publicActions)
    .extend(walletActions)
  const { usdc, marketplace } = await deployContracts({
    rpcUrl,
    privateKey: ANVIL_KEY,
    provingPeriodSeconds: PROVING_PERIOD_SECONDS,
    acceptanceWindowSeconds: ACCEPTANCE_WINDOW_SECONDS,
  })
  const expected = contractAddresses()
  if (!isAddressEqual(usdc, expected.usdc) || !isAddressEqual(marketplace, expected.marketplace)) {
    throw new Error('The chain is not empty.')
  }

  for (const address of [operator, ...provers, wallet]) await client.setBalance({ address, value: parseEther('100') })
  const mint = (to: Address, amountUsdc: number) => {
    const args = [to, BigInt(amountUsdc) * MICRO_USDC] as const
    return client.writeContract({ address: usdc, abi: testUsdcAbi, functionName: 'mint', args, chain: null })
  }
  await mint(operator, OPERATOR_USDC)
  await mint(wallet, WALLET_USDC)
  await client.setIntervalMining({ interval: BLOCK_SECONDS })
}
