import { deployContracts, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY, startAnvil } from '@lade/contracts/anvil'
import { SecretString } from '@lade/node/settings'
import { type Hex, maxUint256, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import type { ChainOptions } from '../prover-options.ts'
import { startChainRelay } from './chain-relay.ts'
import type { TestPiece } from './harness.ts'
import { openTestChain } from './test-chain.ts'
import { type ContractVersion, type DealEventName, openTestMarket, type Proposal } from './test-market.ts'

const BLOCK_SECONDS = 10
const ACCEPTED_IN_BLOCK = 150
export const PERIOD_SECONDS = 100
export const WINDOW_SECONDS = 400
export { PAY_OF_PERIOD } from './test-market.ts'

/** A chain with the real contracts whose time the test moves, and a client of a marketplace on it. */
export type ChainHarness = Awaited<ReturnType<typeof startChainHarness>>

export interface ChainHarnessOptions {
  /** Of the marketplace. @default 2 */
  readonly version?: ContractVersion
  /** @default {@link PERIOD_SECONDS} */
  readonly periodSeconds?: number
  /** @default {@link WINDOW_SECONDS} */
  readonly windowSeconds?: number
  /** Of the second version. @default 1 */
  readonly seedDelayBlocks?: number
  /** True for a second version that asks a beacon. @default false */
  readonly hasBeacon?: boolean
}

/** Answers the hash of what it is asked, which does not matter here. */
const BEACON = {
  address: '0x00000000000000000000000000000000be5c0000',
  bytecode: '0x365f5f3760205f205f5260205ff3',
} as const

/** Starts a chain that ends with the test. Blocks come by {@link ChainHarness.mine} only, each ten seconds after the one before. */
export async function startChainHarness(options: ChainHarnessOptions = {}) {
  const { version = 2, periodSeconds = PERIOD_SECONDS, windowSeconds = WINDOW_SECONDS } = options
  const { seedDelayBlocks = 1, hasBeacon = false } = options
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const { rpcUrl } = anvil
  const relay = await startChainRelay(rpcUrl)
  const client = privateKeyToAccount(ANVIL_KEY)
  const chain = openTestChain(rpcUrl)
  const terms = { provingPeriodSeconds: periodSeconds, acceptanceWindowSeconds: windowSeconds }
  await chain.setCode(BEACON)
  const { marketplace, usdc } = await deployContracts({
    rpcUrl,
    privateKey: ANVIL_KEY,
    version,
    ...terms,
    ...(version === 2 && { seedDelayBlocks, ...(hasBeacon && { beacon: BEACON.address }) }),
  })
  const token = { address: usdc, abi: testUsdcAbi, chain: null } as const
  const approve = { ...token, functionName: 'approve' } as const
  await chain.writeContract({ ...token, functionName: 'mint', args: [client.address, 10n ** 12n] })
  await chain.writeContract({ ...approve, args: [marketplace, maxUint256] })
  await chain.setAutomine(false)
  const market = openTestMarket({ chain, version, address: marketplace, periodSeconds, client })
  const mine = async () => {
    await chain.increaseTime({ seconds: BLOCK_SECONDS })
    await chain.mine({ blocks: 1 })
  }

  return {
    /** Where a prover finds the chain. */
    rpcUrl: relay.rpcUrl,
    marketplace,
    market,
    usdc,

    /** The settings of a new prover, with gas for its transactions. */
    async newProver(): Promise<ChainOptions & { readonly address: Hex }> {
      const privateKey = generatePrivateKey()
      const { address } = privateKeyToAccount(privateKey)
      await chain.setBalance({ address, value: parseEther('10') })
      const reached = { rpcUrl: new SecretString(relay.rpcUrl), marketplaces: [marketplace] }
      return { ...reached, privateKey: new SecretString(privateKey), address }
    },

    /** Deploys a further contract that the same client uses. */
    async addMarket(other: ContractVersion, firstDealId = 1n) {
      await chain.setAutomine(true)
      const deployment = { rpcUrl, privateKey: ANVIL_KEY, version: other, usdc, ...terms } as const
      const { marketplace: address } = await deployContracts({ ...deployment, ...(other === 2 && { firstDealId }) })
      await chain.writeContract({ ...approve, args: [address, maxUint256] })
      await chain.setAutomine(false)
      return openTestMarket({ chain, version: other, address, periodSeconds, client })
    },

    /** Makes a block. */
    mine,

    /** Makes blocks until something is so, each when the prover is done with the one before; 300 of them at most. */
    async mineUntil(isSo: () => Promise<boolean>): Promise<void> {
      for (let count = 0; count < 300; count += 1) {
        if (await isSo()) return
        await mine()
        await relay.settled()
      }
      throw new Error('It did not come to that in 300 blocks.')
    },

    async mineSeconds(seconds: number): Promise<void> {
      for (let passed = 0; passed < seconds; passed += BLOCK_SECONDS) {
        await mine()
        await relay.settled()
      }
    },

    /** Proposes a deal of some periods and answers its id. */
    async propose(prover: Hex, piece: TestPiece, periods: number, changes: Partial<Proposal> = {}): Promise<bigint> {
      return this.proposeMany([{ ...market.proposal(prover, piece, periods), ...changes }])
    },

    /** What {@link propose} proposes. */
    proposal: market.proposal,

    /** Proposes deals in one block and answers the id of the last. */
    async proposeMany(proposals: readonly Proposal[], at = market): Promise<bigint> {
      const hash = await at.propose(proposals)
      await mine()
      const { status } = await chain.getTransactionReceipt({ hash })
      if (status !== 'success') throw new Error('the deals were not proposed')
      return at.lastDealId()
    },

    /** Accepts deals from one on, many in a block, with the key of their prover. */
    async acceptAs({ privateKey }: ChainOptions, count: number, first = 1): Promise<void> {
      const account = privateKeyToAccount(privateKey.reveal() as Hex)
      const nonce = await chain.getTransactionCount({ address: account.address })
      for (let index = 0; index < count; index += 1) {
        await market.accept(BigInt(first + index), account, nonce + index)
        if ((index + 1) % ACCEPTED_IN_BLOCK === 0) await chain.mine({ blocks: 1 })
      }
      await mine()
    },

    deal: market.deal,

    /** As anybody may. */
    async slash(dealId: bigint): Promise<void> {
      await market.slash(dealId)
      await mine()
    },

    async mint(to: Hex, amount: bigint): Promise<void> {
      await chain.writeContract({ ...token, functionName: 'mint', args: [to, amount] })
      await mine()
    },

    balanceOf: (address: Hex) => chain.readContract({ ...token, functionName: 'balanceOf', args: [address] }),

    /** What the contract may still take. */
    allowanceOf: (owner: Hex) =>
      chain.readContract({ ...token, functionName: 'allowance', args: [owner, marketplace] }),

    transactionsOf: (address: Hex) => chain.getTransactionCount({ address }),

    /** How many periods of a deal were proven, by the events. */
    provenPeriods: (dealId: bigint) => market.countEvents('PeriodProven', dealId),

    /** How many events of a name there were, of all deals. */
    countEvents: (eventName: DealEventName) => market.countEvents(eventName),

    client: client.address,
    anvil,
    chain,
  }
}
