import { deployContracts, marketplaceAbi, marketplaceV1Abi, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY, startAnvil } from '@lade/contracts/anvil'
import { createClient, erc20Abi, type Hex, hexToBytes, http, publicActions, testActions, walletActions } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Address, Chain, Hash, Marketplace, MarketplaceVersion } from '../../../chain.ts'
import type { ChainFixture } from '../../../conformance.ts'
import { type EvmChainOptions, openEvmChain } from '../evm-chain.ts'
import { openRelay, type Relay } from './relay.ts'
import { compileWallet, type WalletContracts } from './wallet-contract.ts'

const ETHER = 10n ** 18n

export type AnvilClient = ReturnType<typeof openClient>

export interface EvmFixture extends ChainFixture {
  readonly relay: Relay
  readonly privateKey: Hash
}

/** A chain of one's own with the contracts on it, for all tests of a file. No block comes by itself. */
export interface AnvilNetwork {
  readonly rpcUrl: string
  readonly usdc: Address
  readonly marketplace: Address
  readonly version: MarketplaceVersion
  readonly client: AnvilClient
  /** Compiled when they are first asked for. */
  wallets(): WalletContracts
  /** Sends a transaction of the first account, mines it, and answers the address of the contract if it made one. */
  deploy(contract: { abi: readonly unknown[]; bytecode: Hex; args: readonly unknown[] }): Promise<Address>
  mint(account: Address, microUsdc: bigint): Promise<void>
  /** An account of its own on this chain, behind a relay of its own. */
  openFixture(options?: Partial<EvmChainOptions>): Promise<EvmFixture>
  stop(): Promise<void>
}

export interface AnvilNetworkOptions {
  /** Of the marketplace. @default 2 */
  readonly version?: MarketplaceVersion
}

export async function startAnvilNetwork(options: AnvilNetworkOptions = {}): Promise<AnvilNetwork> {
  const { version = 2 } = options
  // Blocks come by themselves while the contracts are deployed, and only on demand from then on.
  const anvil = await startAnvil()
  const client = openClient(anvil.rpcUrl)
  const contracts = await deployContracts({ rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY, version })
  await client.setAutomine(false)
  let wallets: WalletContracts | undefined

  const mined = async (hash: Hex) => {
    await client.mine({ blocks: 1 })
    return client.getTransactionReceipt({ hash })
  }
  const network: AnvilNetwork = {
    rpcUrl: anvil.rpcUrl,
    ...contracts,
    version,
    client,
    wallets() {
      wallets ??= compileWallet()
      return wallets
    },
    async deploy({ abi, bytecode, args }) {
      const receipt = await mined(await client.deployContract({ abi, bytecode, args, chain: null }))
      if (receipt.contractAddress == null) throw new Error('the deployment failed')
      return receipt.contractAddress
    },
    async mint(account, microUsdc) {
      const args = [account, microUsdc] as const
      const call = { address: contracts.usdc, abi: testUsdcAbi, functionName: 'mint', args, chain: null } as const
      const { status } = await mined(await client.writeContract(call))
      if (status !== 'success') throw new Error('nothing was minted')
    },
    openFixture: (options) => openFixture(network, options),
    stop: () => anvil.stop(),
  }
  return network
}

async function openFixture(network: AnvilNetwork, options: Partial<EvmChainOptions> = {}): Promise<EvmFixture> {
  const { client } = network
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await client.setBalance({ address, value: ETHER })
  await network.mint(address, 10n ** 12n)
  const prover = privateKeyToAccount(generatePrivateKey())
  const relay = await openRelay(network.rpcUrl)
  const { usdc, marketplace } = network
  const chain = await openEvmChain({
    ...{ rpcUrl: relay.url, usdc, marketplaces: [marketplace], privateKey, balanceMaxAgeMs: 0 },
    ...options,
  })
  return {
    chain: withMarketplace(chain),
    relay,
    privateKey,
    async fundedAccount(microUsdc) {
      const account = privateKeyToAccount(generatePrivateKey()).address
      await network.mint(account, microUsdc)
      return account
    },
    async moveUsdc(from, to, microUsdc) {
      await client.setBalance({ address: from, value: ETHER })
      await client.impersonateAccount({ address: from })
      const args = [to, microUsdc] as const
      const call = { address: network.usdc, abi: erc20Abi, functionName: 'transfer', args, chain: null } as const
      const hash = await client.writeContract({ ...call, account: from })
      await client.stopImpersonatingAccount({ address: from })
      await client.mine({ blocks: 1 })
      const { status } = await client.getTransactionReceipt({ hash })
      if (status !== 'success') throw new Error('nothing was moved')
    },
    async contractWallet(message) {
      const owner = privateKeyToAccount(generatePrivateKey())
      const account = await network.deploy({ ...network.wallets().wallet, args: [owner.address] })
      return { account, signature: hexToBytes(await owner.signMessage({ message: { raw: message } })) }
    },
    prover: prover.address,
    accept: (dealId) => acceptDeal(network, prover, dealId),
    setOnline: async (isOnline) => relay.setOnline(isOnline),
    mine: (blocks = 1) => client.mine({ blocks }),
    async reorganise(depth) {
      await client.request<{ Method: 'anvil_reorg'; Parameters: [number, []]; ReturnType: null }>({
        method: 'anvil_reorg',
        params: [depth, []],
      })
    },
    drop: async (hash) => void (await client.dropTransaction({ hash })),
    async close() {
      await chain.close()
      await relay.close()
    },
  }
}

/** A prover with what it needs accepts a deal of whichever version. */
export async function acceptDeal(
  { client, usdc, marketplace, version, mint }: AnvilNetwork,
  prover: PrivateKeyAccount,
  dealId: bigint,
): Promise<void> {
  await client.setBalance({ address: prover.address, value: ETHER })
  await mint(prover.address, 10n ** 9n)
  const from = { account: prover, chain: null } as const
  const args = [marketplace, 10n ** 12n] as const
  await client.writeContract({ address: usdc, abi: erc20Abi, functionName: 'approve', args, ...from })
  await client.mine({ blocks: 1 })
  const address = marketplace
  if (version === 1) {
    const call = { address, abi: marketplaceV1Abi, functionName: 'acceptDeal', args: [dealId] } as const
    await client.writeContract({ ...call, ...from })
  } else {
    const read = { address, abi: marketplaceAbi, functionName: 'termsHashOf', args: [dealId] } as const
    const termsHash = await client.readContract(read)
    const call = { address, abi: marketplaceAbi, functionName: 'acceptDeal', args: [dealId, termsHash] } as const
    await client.writeContract({ ...call, ...from })
  }
  await client.mine({ blocks: 1 })
}

function openClient(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0 })
  return createClient({ account: privateKeyToAccount(ANVIL_KEY), transport })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'anvil' }))
}

function withMarketplace(chain: Chain): Chain & { readonly marketplace: Marketplace } {
  const { marketplace } = chain
  if (marketplace === undefined) throw new Error('the chain was opened without a marketplace')
  return { ...chain, marketplace }
}
