import { deployContracts, marketplaceV1Abi, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY, startAnvil } from '@lade/contracts/anvil'
import { paddedSizeBytes } from '@lade/core/piece'
import { SecretString } from '@lade/node/settings'
import { createTestClient, type Hex, http, maxUint256, parseEther, publicActions, walletActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import { parsePieceName } from '../pieces/piece-name.ts'
import type { ChainOptions } from '../prover-options.ts'
import { startChainRelay } from './chain-relay.ts'
import type { TestPiece } from './harness.ts'

const BLOCK_SECONDS = 10
export const PERIOD_SECONDS = 100
export const WINDOW_SECONDS = 400
export const PAY_OF_PERIOD = 1000n

/** A chain with the real contracts whose time the test moves, and a client of the marketplace on it. */
export type ChainHarness = Awaited<ReturnType<typeof startChainHarness>>

/** As the contract takes it. */
export interface Proposal {
  readonly prover: Hex
  readonly commp: Hex
  readonly pieceSize: bigint
  readonly duration: bigint
  readonly totalPayment: bigint
}

export interface ChainHarnessOptions {
  /** @default {@link PERIOD_SECONDS} */
  readonly periodSeconds?: number
  /** @default {@link WINDOW_SECONDS} */
  readonly windowSeconds?: number
}

/** Starts a chain that ends with the test. Blocks come by {@link ChainHarness.mine} only, each ten seconds after the one before. */
export async function startChainHarness(options: ChainHarnessOptions = {}) {
  const { periodSeconds = PERIOD_SECONDS, windowSeconds = WINDOW_SECONDS } = options
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const { rpcUrl } = anvil
  const relay = await startChainRelay(rpcUrl)
  const client = privateKeyToAccount(ANVIL_KEY)
  const chain = createTestClient({ mode: 'anvil', account: client, transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  const terms = { provingPeriodSeconds: periodSeconds, acceptanceWindowSeconds: windowSeconds }
  const { marketplace, usdc } = await deployContracts({ rpcUrl, privateKey: ANVIL_KEY, version: 1, ...terms })
  const token = { address: usdc, abi: testUsdcAbi, chain: null } as const
  const market = { address: marketplace, abi: marketplaceV1Abi, chain: null } as const
  await chain.writeContract({ ...token, functionName: 'mint', args: [client.address, 10n ** 12n] })
  await chain.writeContract({ ...token, functionName: 'approve', args: [marketplace, maxUint256] })
  await chain.setAutomine(false)

  const proposalOf = (prover: Hex, piece: TestPiece, periods: number): Proposal => {
    const name = parsePieceName(piece.pieceCid)
    if (name === undefined) throw new TypeError('the piece has no name')
    return {
      prover,
      commp: `0x${Buffer.from(name.root).toString('hex')}`,
      pieceSize: BigInt(paddedSizeBytes(name.rawSizeBytes)),
      duration: BigInt(periodSeconds * periods),
      totalPayment: PAY_OF_PERIOD * BigInt(periods),
    }
  }

  return {
    /** Where a prover finds the chain. */
    rpcUrl: relay.rpcUrl,
    marketplace,

    /** The settings of a new prover, with gas for its transactions. */
    async newProver(): Promise<ChainOptions & { readonly address: Hex }> {
      const privateKey = generatePrivateKey()
      const { address } = privateKeyToAccount(privateKey)
      await chain.setBalance({ address, value: parseEther('10') })
      return { rpcUrl: new SecretString(relay.rpcUrl), marketplace, privateKey: new SecretString(privateKey), address }
    },

    /** Makes a block. */
    async mine(): Promise<void> {
      await chain.increaseTime({ seconds: BLOCK_SECONDS })
      await chain.mine({ blocks: 1 })
    },

    /** Makes blocks until something is so, each when the prover is done with the one before; 300 of them at most. */
    async mineUntil(isSo: () => Promise<boolean>): Promise<void> {
      for (let count = 0; count < 300; count += 1) {
        if (await isSo()) return
        await this.mine()
        await relay.settled()
      }
      throw new Error('It did not come to that in 300 blocks.')
    },

    async mineSeconds(seconds: number): Promise<void> {
      for (let passed = 0; passed < seconds; passed += BLOCK_SECONDS) {
        await this.mine()
        await relay.settled()
      }
    },

    /** Proposes a deal of some periods and answers its id. */
    async propose(prover: Hex, piece: TestPiece, periods: number, size?: bigint): Promise<bigint> {
      const paddedSize = size === undefined ? {} : { pieceSize: size }
      return this.proposeMany([{ ...proposalOf(prover, piece, periods), ...paddedSize }])
    },

    /** What {@link propose} proposes. */
    proposal: proposalOf,

    /** Proposes deals in one block and answers the id of the last. */
    async proposeMany(proposals: readonly Proposal[]): Promise<bigint> {
      // The default is that of a block, and many deals take more than what a node estimates for a transaction.
      const request = { ...market, functionName: 'proposeDeals', args: [proposals], gas: 25_000_000n } as const
      const hash = await chain.writeContract(request)
      await this.mine()
      const { status } = await chain.getTransactionReceipt({ hash })
      if (status !== 'success') throw new Error('the deals were not proposed')
      return chain.readContract({ ...market, functionName: 'lastDealId' })
    },

    /** Accepts the first deals in one block, with the key of their prover. */
    async acceptAs({ privateKey }: ChainOptions, count: number): Promise<void> {
      const account = privateKeyToAccount(privateKey.reveal() as Hex)
      for (let nonce = 0; nonce < count; nonce += 1) {
        const call = { functionName: 'acceptDeal', args: [BigInt(nonce + 1)] } as const
        await chain.writeContract({ ...market, ...call, account, nonce, gas: 100_000n })
      }
      await this.mine()
    },

    deal: (dealId: bigint) => chain.readContract({ ...market, functionName: 'deals', args: [dealId] }),

    /** As anybody may. */
    async slash(dealId: bigint): Promise<void> {
      await chain.writeContract({ ...market, functionName: 'slash', args: [dealId] })
      await this.mine()
    },

    balanceOf: (address: Hex) => chain.readContract({ ...token, functionName: 'balanceOf', args: [address] }),

    transactionsOf: (address: Hex) => chain.getTransactionCount({ address }),

    /** How many periods of a deal were proven, by the events. */
    async provenPeriods(dealId: bigint): Promise<number> {
      const request = { ...market, eventName: 'PeriodProven', args: { dealId }, fromBlock: 0n } as const
      return (await chain.getContractEvents(request)).length
    },

    /** How many events of a name there were, of all deals. */
    async countEvents(
      eventName: 'DealAccepted' | 'ChallengeOpened' | 'PeriodProven' | 'PeriodMissed',
    ): Promise<number> {
      return (await chain.getContractEvents({ ...market, eventName, fromBlock: 0n })).length
    },

    client: client.address,
    market,
    anvil,
    chain,
  }
}
