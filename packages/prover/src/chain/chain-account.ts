import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  getContractError,
  HttpRequestError,
  type PrivateKeyAccount,
  TimeoutError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ChainClient, openChainClient } from './chain-client.ts'
import type { ChainSettings } from './chain-settings.ts'
import type { Head } from './deal.ts'
import { type Fees, FeeTooHighError, readFees } from './fees.ts'
import { type SendResult, sendTransaction, type TransactionsOptions } from './transactions.ts'
import { WrongChainError } from './wrong-chain-error.ts'

/** A call of a contract, ready to be sent. */
export interface EncodedCall {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly functionName: string
  /** Names the contract's reasons to refuse it. */
  readonly abi: Abi
}

/** Said by a contract before a call was sent: the name of its error. */
export interface Refused {
  readonly refused: string
}

/** How often an account looks for a block, and how long its transactions wait for one. */
export type ChainWaits = Pick<TransactionsOptions, 'pollMs' | 'raiseAfterMs'>

/** One account on one chain: what all contracts share. Every method throws viem's `BaseError` when the chain cannot be asked. */
export class ChainAccount {
  readonly client: ChainClient
  readonly #account: PrivateKeyAccount
  readonly #waits: ChainWaits
  readonly #chainId: number | undefined
  readonly #mostWeiPerGas: bigint

  constructor({ rpcUrl, privateKey, limits }: Omit<ChainSettings, 'marketplaces'>, waits: ChainWaits) {
    this.client = openChainClient(rpcUrl.reveal())
    this.#account = privateKeyToAccount(privateKey.reveal() as `0x${string}`)
    this.#waits = waits
    this.#chainId = limits.chainId
    this.#mostWeiPerGas = limits.mostWeiPerGas
  }

  /** In lower case. */
  get address(): `0x${string}` {
    return this.#account.address.toLowerCase() as `0x${string}`
  }

  /** @throws {WrongChainError} when the node is on another chain than the configured one. */
  async chainId(): Promise<number> {
    const chainId = await this.client.getChainId()
    if (this.#chainId !== undefined && chainId !== this.#chainId) throw new WrongChainError(this.#chainId, chainId)
    return chainId
  }

  /** Whether the node has a block; false too when it has thrown it away. */
  async hasBlock(blockHash: `0x${string}`): Promise<boolean> {
    try {
      await this.client.getBlock({ blockHash })
      return true
    } catch (error) {
      if (!(error instanceof BaseError) || isUnheard(error)) throw error
      // Nodes answer with nothing, or with an error of their own wording.
      return false
    }
  }

  async head(): Promise<Head> {
    const { number, hash, timestamp, gasLimit } = await this.client.getBlock({ blockTag: 'latest' })
    return { number, hash, time: Number(timestamp), gasLimit }
  }

  fees(): Promise<Fees> {
    return readFees(this.client)
  }

  /** What a call would use now, or why the contract would refuse it. */
  estimateGas({ to, data, functionName, abi }: EncodedCall): Promise<bigint | Refused> {
    const asked = this.client.estimateGas({ account: this.#account, to, data })
    return refusedOr(asked, { address: to, functionName, abi })
  }

  /**
   * Sends a call and waits until it is in a block.
   *
   * @param gas - the limit of the transaction.
   * @throws {FeeTooHighError} when gas costs more than the cap.
   * @throws {WrongChainError} when the node is on another chain by now.
   */
  async send({ to, data }: EncodedCall, gas: bigint, signal: AbortSignal): Promise<SendResult> {
    const chainId = await this.chainId()
    const options = {
      client: this.client,
      account: this.#account,
      chainId,
      mostWeiPerGas: this.#mostWeiPerGas,
      ...this.#waits,
      signal,
    }
    return sendTransaction({ to, data, gas }, options)
  }
}

/** True when the node did not answer at all. */
export function isUnheard(error: BaseError): boolean {
  return error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null
}

/** A contract that says no has been reached; everything else that goes wrong is thrown. */
export async function refusedOr<Value>(
  asked: Promise<Value>,
  { address, functionName, abi }: { address: `0x${string}`; functionName: string; abi: Abi },
): Promise<Value | Refused> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const named = getContractError(error, { abi, address, args: [], functionName })
    const reverted = named.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    return { refused: reverted.data?.errorName ?? reverted.reason ?? 'for no reason given' }
  }
}

/** True for what no other call would fare better with: the chain is not to be asked, or gas costs too much. */
export function isOfTheChain(error: unknown): boolean {
  return error instanceof BaseError || error instanceof FeeTooHighError || error instanceof WrongChainError
}
