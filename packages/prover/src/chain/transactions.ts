import { setTimeout as delay } from 'node:timers/promises'
import { BaseError, type Hash, keccak256, type PrivateKeyAccount, TransactionReceiptNotFoundError } from 'viem'
import type { ChainClient } from './chain-client.ts'

/** How long a transaction waits for its block before it offers more. */
const TIMEOUT_MS = 60_000
const MAX_OFFERS = 12
/** A replacement has to offer a tenth more at least; this is a quarter. */
const RAISE_PERCENT = 125n
/** Between the estimate and its block a call may come to cost more. */
const GAS_MARGIN_PERCENT = 130n

/** A call of a contract, encoded. */
export interface Call {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  /** As estimated. */
  readonly gas: bigint
}

export interface TransactionsOptions {
  readonly client: ChainClient
  readonly account: PrivateKeyAccount
  /** How often a block is looked for. */
  readonly pollMs: number
  readonly signal: AbortSignal
}

/** `landed`: it is in a block and did what it should. `reverted`: it is in a block and did nothing. `lost`: another one took its nonce. */
export type SendResult = 'landed' | 'reverted' | 'lost'

/**
 * Sends a transaction and waits until it is in a block.
 *
 * One at a time for an account: the nonce is that of the latest block, so a transaction that a process before this one left behind is
 * replaced and not queued up behind. Nothing has to be remembered for that.
 *
 * @throws {BaseError} of viem, when the chain cannot be asked or takes no offer.
 * @throws what the signal was aborted with.
 */
export async function sendTransaction(call: Call, options: TransactionsOptions): Promise<SendResult> {
  const { client, account, signal } = options
  const [chainId, nonce, fees] = await Promise.all([
    client.getChainId(),
    client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
    client.estimateFeesPerGas(),
  ])
  let { maxFeePerGas, maxPriorityFeePerGas } = fees
  const gas = percentOf(call.gas, GAS_MARGIN_PERCENT)
  const hashes: Hash[] = []
  for (let offer = 1; ; offer += 1) {
    signal.throwIfAborted()
    const { to, data } = call
    const unsigned = { type: 'eip1559', chainId, nonce, gas, to, data, maxFeePerGas, maxPriorityFeePerGas } as const
    const raw = await account.signTransaction(unsigned)
    const answer = await offerTo(client, raw)
    if (answer === 'taken') {
      hashes.push(keccak256(raw))
      const result = await resultOf(hashes, nonce, options)
      if (result !== undefined) return result
    }
    // It may be one of its own that is in a block by now.
    if (answer === 'used') return (await findReceipt(hashes, client)) ?? 'lost'
    if (offer === MAX_OFFERS) throw new BaseError('No offer for a transaction was taken.')
    maxFeePerGas = percentOf(maxFeePerGas, RAISE_PERCENT)
    maxPriorityFeePerGas = percentOf(maxPriorityFeePerGas, RAISE_PERCENT)
  }
}

/** `taken`, also when it was known; `used` when its nonce was; `low` when it offers too little. */
async function offerTo(client: ChainClient, raw: `0x${string}`): Promise<'taken' | 'used' | 'low'> {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw })
    return 'taken'
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    // Nodes say it in words only, each in its own.
    const words = `${error.shortMessage} ${error.details}`.toLowerCase()
    if (/already (?:known|imported)|known transaction/.test(words)) return 'taken'
    if (/nonce (?:is )?too low|nonce.*lower than|invalid nonce/.test(words)) return 'used'
    if (/underpriced|less than block base fee|fee too low/.test(words)) return 'low'
    throw error
  }
}

/** Undefined when none of them is in a block after a while. */
async function resultOf(
  hashes: readonly Hash[],
  nonce: number,
  { client, account, pollMs, signal }: TransactionsOptions,
): Promise<SendResult | undefined> {
  for (const since = performance.now(); performance.now() - since < TIMEOUT_MS; ) {
    await delay(pollMs, undefined, { signal })
    const used = await client.getTransactionCount({ address: account.address, blockTag: 'latest' })
    const found = used > nonce ? ((await findReceipt(hashes, client)) ?? 'lost') : undefined
    if (found !== undefined) return found
  }
  return undefined
}

async function findReceipt(hashes: readonly Hash[], client: ChainClient): Promise<'landed' | 'reverted' | undefined> {
  for (const hash of hashes) {
    try {
      const { status } = await client.getTransactionReceipt({ hash })
      return status === 'success' ? 'landed' : 'reverted'
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    }
  }
  return undefined
}

function percentOf(amount: bigint, percent: bigint): bigint {
  return (amount * percent) / 100n + 1n
}
