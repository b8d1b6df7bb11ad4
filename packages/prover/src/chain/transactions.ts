import { setTimeout as delay } from 'node:timers/promises'
import {
  BaseError,
  type Hash,
  keccak256,
  type Log,
  type PrivateKeyAccount,
  TransactionReceiptNotFoundError,
} from 'viem'
import type { ChainClient } from './chain-client.ts'
import { capped, FeeTooHighError, higherOf, isBelow, raised, readFees } from './fees.ts'

const MAX_OFFERS = 12
/** A receipt is looked for so often once the nonce is used. */
const RECEIPT_LOOKS = 5
/** So often in a row the chain must have fewer transactions of the account: one of several nodes behind an address may lag. */
const TAKEN_BACK_LOOKS = 20

/** A call of a contract, encoded. */
export interface Call {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  /** The limit of the transaction. */
  readonly gas: bigint
}

export interface TransactionsOptions {
  readonly client: ChainClient
  readonly account: PrivateKeyAccount
  /** The chain that the transaction is good on. */
  readonly chainId: number
  /** No transaction offers more for a unit of gas. */
  readonly mostWeiPerGas: bigint
  /** How often a block is looked for. */
  readonly pollMs: number
  /** How long a transaction waits for its block before it offers more. */
  readonly raiseAfterMs: number
  readonly signal: AbortSignal
}

/**
 * `landed`: it is in a block and did what it should. `reverted`: it is in a block and did nothing. `lost`: another one took its nonce, or
 * a reorganisation took back those before it, so that it waits for nonces that nobody uses.
 */
export type SendResult = MinedResult | { readonly outcome: 'lost' }

export interface MinedResult {
  readonly outcome: 'landed' | 'reverted'
  readonly blockNumber: bigint
  readonly gasUsed: bigint
  /** What was paid for the gas. Rollups charge for the data besides. */
  readonly costWei: bigint
  readonly logs: readonly Log[]
}

/**
 * Sends a transaction and waits until it is in a block.
 *
 * One at a time for an account: the nonce is that of the latest block, so a transaction that a process before this one left behind is
 * replaced and not queued up behind. Nothing has to be remembered for that.
 *
 * @throws {FeeTooHighError} when gas costs more than the cap. A transaction that was sent before the fees rose may still get its block.
 * @throws {BaseError} of viem, when the chain cannot be asked or takes no offer.
 * @throws what the signal was aborted with.
 */
export async function sendTransaction(call: Call, options: TransactionsOptions): Promise<SendResult> {
  const { client, account, chainId, mostWeiPerGas, signal } = options
  const [nonce, first] = await Promise.all([
    client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
    affordableFees(options),
  ])
  let fees = first
  let offer = capped(fees.offer, mostWeiPerGas)
  const hashes: Hash[] = []
  for (let count = 1; ; count += 1) {
    signal.throwIfAborted()
    const { to, data, gas } = call
    const raw = await account.signTransaction({ chainId, nonce, gas, to, data, ...offer })
    const answer = await offerTo(client, raw)
    if (answer === 'taken') {
      hashes.push(keccak256(raw))
      const result = await resultOf(hashes, nonce, options)
      if (result !== undefined) return result
      fees = await affordableFees(options)
    }
    // It may be one of its own that is in a block by now.
    if (answer === 'used') return (await findReceipt(hashes, client)) ?? { outcome: 'lost' }
    // One of before is in the way that offers as much as may be offered. It gets its block, or the fees are too high for both.
    if (answer === 'low' && !isBelow(offer, mostWeiPerGas)) throw new FeeTooHighError(fees.weiPerGas)
    if (count === MAX_OFFERS) throw new BaseError('No offer for a transaction was taken.')
    offer = capped(higherOf(raised(offer), fees.offer), mostWeiPerGas)
  }
}

async function affordableFees({ client, mostWeiPerGas }: TransactionsOptions) {
  const fees = await readFees(client)
  if (fees.weiPerGas > mostWeiPerGas) throw new FeeTooHighError(fees.weiPerGas)
  return fees
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
  { client, account, pollMs, raiseAfterMs, signal }: TransactionsOptions,
): Promise<SendResult | undefined> {
  let misses = 0
  let takenBack = 0
  for (const since = performance.now(); performance.now() - since < raiseAfterMs; ) {
    await delay(pollMs, undefined, { signal })
    const used = await client.getTransactionCount({ address: account.address, blockTag: 'latest' })
    takenBack = used < nonce ? takenBack + 1 : 0
    if (takenBack === TAKEN_BACK_LOOKS) return { outcome: 'lost' }
    if (used <= nonce) continue
    const found = await findReceipt(hashes, client)
    if (found !== undefined) return found
    // Nodes may count a transaction before they have its receipt.
    misses += 1
    if (misses === RECEIPT_LOOKS) return { outcome: 'lost' }
  }
  return undefined
}

async function findReceipt(hashes: readonly Hash[], client: ChainClient): Promise<MinedResult | undefined> {
  for (const hash of hashes) {
    try {
      const { status, blockNumber, gasUsed, effectiveGasPrice, logs } = await client.getTransactionReceipt({ hash })
      const outcome = status === 'success' ? 'landed' : 'reverted'
      // Nodes of chains without a base fee may leave the price out.
      return { outcome, blockNumber, gasUsed, costWei: gasUsed * (effectiveGasPrice ?? 0n), logs }
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    }
  }
  return undefined
}
