import { marketplaceAbi } from '@lade/contracts/marketplace'
import { type BaseError, ContractFunctionRevertedError, encodeFunctionData, type PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ChainClient, openChainClient } from './chain-client.ts'
import type { ChainSettings } from './chain-settings.ts'
import { DEAL_STATES, type Deal, type Head, type Terms } from './deal.ts'
import { type SendResult, sendTransaction } from './transactions.ts'

/** What a prover asks of the contract. */
export type ProverCall =
  | { readonly functionName: 'acceptDeal' | 'openChallenge' | 'settle'; readonly args: readonly [bigint] }
  | {
      readonly functionName: 'prove'
      readonly args: readonly [bigint, `0x${string}`, readonly `0x${string}`[]]
    }

/** What became of a call; `refused` by the contract, before it was sent, for the reason that its error names. */
export type CallResult = SendResult | { readonly refused: string }

/** Which chain and contract this is: another one never has the same. */
export interface MarketplaceIdentity {
  readonly chainId: number
  /** The hash of the first block, which tells chains of one id apart. */
  readonly genesis: string
  readonly marketplace: string
}

/** One marketplace contract, as one prover sees it. Every method throws viem's `BaseError` when the chain cannot be asked. */
export class Marketplace {
  readonly #client: ChainClient
  readonly #account: PrivateKeyAccount
  readonly #address: `0x${string}`
  readonly #pollMs: number

  constructor({ rpcUrl, marketplace, privateKey }: ChainSettings, pollMs: number) {
    this.#client = openChainClient(rpcUrl.reveal())
    this.#account = privateKeyToAccount(privateKey.reveal() as `0x${string}`)
    this.#address = marketplace
    this.#pollMs = pollMs
  }

  /** The prover's account, in lower case. */
  get prover(): string {
    return this.#account.address.toLowerCase()
  }

  async identity(): Promise<MarketplaceIdentity> {
    const [chainId, genesis] = await Promise.all([
      this.#client.getChainId(),
      this.#client.getBlock({ blockNumber: 0n }),
    ])
    return { chainId, genesis: genesis.hash, marketplace: this.#address.toLowerCase() }
  }

  async terms(): Promise<Terms> {
    const [provingPeriod, acceptanceWindow] = await Promise.all([
      this.#client.readContract({ ...this.#contract(), functionName: 'provingPeriod' }),
      this.#client.readContract({ ...this.#contract(), functionName: 'acceptanceWindow' }),
    ])
    return { provingPeriodSeconds: Number(provingPeriod), acceptanceWindowSeconds: Number(acceptanceWindow) }
  }

  async head(): Promise<Head> {
    const { number, timestamp } = await this.#client.getBlock({ blockTag: 'latest' })
    return { number, time: Number(timestamp) }
  }

  /** The newest deal; 0n before the first. */
  lastDealId(): Promise<bigint> {
    return this.#client.readContract({ ...this.#contract(), functionName: 'lastDealId' })
  }

  /** Deals by their ids, in that order; an id that was never given is a deal in the state `none`. */
  deals(dealIds: readonly bigint[]): Promise<Deal[]> {
    return Promise.all(dealIds.map((dealId) => this.#deal(dealId)))
  }

  /** The leaf that the proof of the period at hand is to be about, or the contract's reason why there is none. */
  async challengedLeaf(dealId: bigint): Promise<bigint | { readonly refused: string }> {
    const functionName = 'challengedLeaf'
    return refusedOr(this.#client.readContract({ ...this.#contract(), functionName, args: [dealId] }))
  }

  /** Sends a call, unless the contract would refuse it as things are, and waits until it is in a block. */
  async send(call: ProverCall, signal: AbortSignal): Promise<CallResult> {
    const contract = { ...this.#contract(), account: this.#account }
    const gas = await refusedOr(
      call.functionName === 'prove'
        ? this.#client.estimateContractGas({ ...contract, ...call })
        : this.#client.estimateContractGas({ ...contract, ...call }),
    )
    if (typeof gas !== 'bigint') return gas
    const data = encodeFunctionData({ abi: marketplaceAbi, ...call })
    const options = { client: this.#client, account: this.#account, pollMs: this.#pollMs, signal }
    return sendTransaction({ to: this.#address, data, gas }, options)
  }

  async #deal(dealId: bigint): Promise<Deal> {
    const deal = await this.#client.readContract({ ...this.#contract(), functionName: 'deals', args: [dealId] })
    return {
      dealId,
      state: DEAL_STATES[deal.state] ?? 'none',
      prover: deal.prover.toLowerCase(),
      root: Buffer.from(deal.commp.slice(2), 'hex'),
      paddedSizeBytes: deal.pieceSize,
      since: deal.since,
      durationSeconds: deal.duration,
      extraSeconds: deal.extraDuration,
      accountedUntil: deal.accountedUntil,
      challengeBlock: BigInt(deal.challengeBlock),
      remaining: deal.remaining,
      earned: deal.earned,
    }
  }

  #contract() {
    return { address: this.#address, abi: marketplaceAbi } as const
  }
}

/** A contract that says no has been reached; everything else that goes wrong is thrown. */
async function refusedOr<Value>(asked: Promise<Value>): Promise<Value | { readonly refused: string }> {
  try {
    return await asked
  } catch (error) {
    const reverted = (error as BaseError).walk?.((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    return { refused: reverted.data?.errorName ?? reverted.reason ?? 'for no reason given' }
  }
}
