import type { ChainClient } from './chain-client.ts'

/** What a transaction offers for a unit of gas, in wei. Chains without a base fee have one price only. */
export type FeeOffer =
  | { readonly type: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

export interface Fees {
  /** What a unit of gas costs in the next block, as far as that is known. */
  readonly weiPerGas: bigint
  /** Good for some blocks of rising fees. */
  readonly offer: FeeOffer
}

/** A base fee rises by an eighth per block at most; this is more than one block of it. */
const BASE_FEE_MARGIN_PERCENT = 120n
/** A replacement has to offer a tenth more at least; this is a quarter. */
const RAISE_PERCENT = 125n

/** The configured cap is below what gas costs. Nothing is sent; it is a reason to wait and no failure. */
export class FeeTooHighError extends Error {
  override readonly name = 'FeeTooHighError'
  readonly weiPerGas: bigint

  constructor(weiPerGas: bigint) {
    super('Gas costs more than the cap.')
    this.weiPerGas = weiPerGas
  }
}

/** @throws {BaseError} of viem, when the chain cannot be asked. */
export async function readFees(client: ChainClient): Promise<Fees> {
  const { baseFeePerGas } = await client.getBlock({ blockTag: 'latest' })
  if (baseFeePerGas === null) {
    const gasPrice = await client.getGasPrice()
    return { weiPerGas: gasPrice, offer: { type: 'legacy', gasPrice } }
  }
  const maxPriorityFeePerGas = await client.estimateMaxPriorityFeePerGas()
  const maxFeePerGas = percentOf(baseFeePerGas, BASE_FEE_MARGIN_PERCENT) + maxPriorityFeePerGas
  return {
    weiPerGas: baseFeePerGas + maxPriorityFeePerGas,
    offer: { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas },
  }
}

export function raised(offer: FeeOffer): FeeOffer {
  if (offer.type === 'legacy') return { ...offer, gasPrice: percentOf(offer.gasPrice, RAISE_PERCENT) }
  return {
    ...offer,
    maxFeePerGas: percentOf(offer.maxFeePerGas, RAISE_PERCENT),
    maxPriorityFeePerGas: percentOf(offer.maxPriorityFeePerGas, RAISE_PERCENT),
  }
}

/** The offer, or more where gas has become dearer meanwhile. */
export function higherOf(offer: FeeOffer, asked: FeeOffer): FeeOffer {
  const higher = (one: bigint, other: bigint) => (one > other ? one : other)
  if (offer.type === 'legacy' && asked.type === 'legacy')
    return { ...offer, gasPrice: higher(offer.gasPrice, asked.gasPrice) }
  if (offer.type === 'legacy' || asked.type === 'legacy') return offer
  return {
    ...offer,
    maxFeePerGas: higher(offer.maxFeePerGas, asked.maxFeePerGas),
    maxPriorityFeePerGas: higher(offer.maxPriorityFeePerGas, asked.maxPriorityFeePerGas),
  }
}

/** The offer, or as much of it as the cap allows. */
export function capped(offer: FeeOffer, mostWeiPerGas: bigint): FeeOffer {
  const least = (amount: bigint) => (amount < mostWeiPerGas ? amount : mostWeiPerGas)
  if (offer.type === 'legacy') return { ...offer, gasPrice: least(offer.gasPrice) }
  const { maxFeePerGas, maxPriorityFeePerGas } = offer
  return { ...offer, maxFeePerGas: least(maxFeePerGas), maxPriorityFeePerGas: least(maxPriorityFeePerGas) }
}

/** True when an offer can be raised enough to take the place of a transaction that offers as much as it does. */
export function isBelow(offer: FeeOffer, mostWeiPerGas: bigint): boolean {
  return (offer.type === 'legacy' ? offer.gasPrice : offer.maxFeePerGas) < mostWeiPerGas
}

export function percentOf(amount: bigint, percent: bigint): bigint {
  return (amount * percent) / 100n + 1n
}
