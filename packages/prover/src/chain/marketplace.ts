import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import {
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  HttpRequestError,
  type PrivateKeyAccount,
  TimeoutError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ChainClient, openChainClient } from './chain-client.ts'
import type { ChainSettings } from './chain-settings.ts'
import { DEAL_STATES, type Deal, type Head, type Terms } from './deal.ts'
import { type Fees, readFees } from './fees.ts'
import { type SendResult, sendTransaction } from './transactions.ts'
import { WrongChainError } from './wrong-chain-error.ts'

/** What a prover asks of the contract. */
export type ProverCall =
  | { readonly functionName: 'acceptDeal' | 'openChallenge' | 'settle'; readonly args: readonly [bigint] }
  | {
      readonly functionName: 'prove'
      readonly args: readonly [bigint, `0x${string}`, readonly `0x${string}`[]]
    }

/** What became of a call; `refused` by the contract, before it was sent, for the reason that its error names. */
export type CallResult = SendResult | { readonly refused: string }

/** Which chain and contract this is. Chains of one id, such as two that were made for tests, are told apart by their blocks. */
export interface MarketplaceIdentity {
  readonly chainId: number
  readonly marketplace: string
}

/** So many deals are asked for side by side. */
const DEALS_IN_ONE_GO = 500

/** One marketplace contract, as one prover sees it. Every method throws viem's `BaseError` when the chain cannot be asked. */
export class Marketplace {
  readonly #client: ChainClient
  readonly #account: PrivateKeyAccount
  readonly #address: `0x${string}`
  readonly #pollMs: number
  readonly #chainId: number | undefined
  readonly #mostWeiPerGas: bigint

  constructor({ rpcUrl, marketplace, privateKey, limits }: ChainSettings, pollMs: number) {
    this.#client = openChainClient(rpcUrl.reveal())
    this.#account = privateKeyToAccount(privateKey.reveal() as `0x${string}`)
    this.#address = marketplace
    this.#pollMs = pollMs
    this.#chainId = limits.chainId
    this.#mostWeiPerGas = limits.mostWeiPerGas
  }

  /** The prover's account, in lower case. */
  get prover(): string {
    return this.#account.address.toLowerCase()
  }

  /** @throws {WrongChainError} when the node is on another chain than the configured one. */
  async identity(): Promise<MarketplaceIdentity> {
    return { chainId: await this.#checkedChainId(), marketplace: this.#address.toLowerCase() }
  }

  /** Whether the node has a block; false too when it has thrown it away. */
  async hasBlock(blockHash: `0x${string}`): Promise<boolean> {
    try {
      await this.#client.getBlock({ blockHash })
      return true
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      const isUnheard =
        error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null
      if (isUnheard) throw error
      // Nodes answer with nothing, or with an error of their own wording.
      return false
    }
  }

  async terms(): Promise<Terms> {
    const [provingPeriod, acceptanceWindow] = await Promise.all([
      this.#client.readContract({ ...this.#contract(), functionName: 'provingPeriod' }),
      this.#client.readContract({ ...this.#contract(), functionName: 'acceptanceWindow' }),
    ])
    return { provingPeriodSeconds: Number(provingPeriod), acceptanceWindowSeconds: Number(acceptanceWindow) }
  }

  async head(): Promise<Head> {
    const { number, hash, timestamp } = await this.#client.getBlock({ blockTag: 'latest' })
    return { number, hash, time: Number(timestamp) }
  }

  fees(): Promise<Fees> {
    return readFees(this.#client)
  }

  /** The newest deal; 0n before the first. */
  lastDealId(): Promise<bigint> {
    return this.#client.readContract({ ...this.#contract(), functionName: 'lastDealId' })
  }

  /** Deals by their ids, in that order, some hundred at a time; an id that was never given is a deal in the state `none`. */
  async *deals(dealIds: readonly bigint[]): AsyncGenerator<Deal[]> {
    for (let start = 0; start < dealIds.length; start += DEALS_IN_ONE_GO) {
      yield await Promise.all(dealIds.slice(start, start + DEALS_IN_ONE_GO).map((dealId) => this.#deal(dealId)))
    }
  }

  /** The leaf that the proof of the period at hand is to be about, or the contract's reason why there is none. */
  async challengedLeaf(dealId: bigint): Promise<bigint | { readonly refused: string }> {
    const functionName = 'challengedLeaf'
    return refusedOr(this.#client.readContract({ ...this.#contract(), functionName, args: [dealId] }))
  }

  /**
   * Sends a call, unless the contract would refuse it as things are, and waits until it is in a block.
   *
   * @throws {FeeTooHighError} when gas costs more than the cap.
   * @throws {WrongChainError} when the node is on another chain by now.
   */
  async send(call: ProverCall, signal: AbortSignal): Promise<CallResult> {
    const contract = { ...this.#contract(), account: this.#account }
    const gas = await refusedOr(
      call.functionName === 'prove'
        ? this.#client.estimateContractGas({ ...contract, ...call })
        : this.#client.estimateContractGas({ ...contract, ...call }),
    )
    if (typeof gas !== 'bigint') return gas
    const data = encodeFunctionData({ abi: marketplaceV1Abi, ...call })
    const chainId = await this.#checkedChainId()
    const options = {
      client: this.#client,
      account: this.#account,
      chainId,
      mostWeiPerGas: this.#mostWeiPerGas,
      pollMs: this.#pollMs,
      signal,
    }
    return sendTransaction({ to: this.#address, data, gas }, options)
  }

  async #checkedChainId(): Promise<number> {
    const chainId = await this.#client.getChainId()
    if (this.#chainId !== undefined && chainId !== this.#chainId) throw new WrongChainError(this.#chainId, chainId)
    return chainId
  }

  async #deal(dealId: bigint): Promise<Deal> {
    const deal = await this.#client.readContract({ ...this.#contract(), functionName: 'deals', args: [dealId] })
    return {
      dealId,
      state: DEAL_STATES[deal.state] ?? 'none',
      client: deal.client.toLowerCase(),
      prover: deal.prover.toLowerCase(),
      root: Buffer.from(deal.commp.slice(2), 'hex'),
      paddedSizeBytes: deal.pieceSize,
      since: deal.since,
      durationSeconds: deal.duration,
      extraSeconds: deal.extraDuration,
      accountedUntil: deal.accountedUntil,
      missesInARow: deal.missesInARow,
      challengeBlock: BigInt(deal.challengeBlock),
      remaining: deal.remaining,
      extraPayment: deal.extraPayment,
      earned: deal.earned,
    }
  }

  #contract() {
    return { address: this.#address, abi: marketplaceV1Abi } as const
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
