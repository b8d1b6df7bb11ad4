import { type Deal, periodAt, type Terms } from './deal.ts'
import type { GasUse } from './gas-use.ts'

/** Which deals a prover takes and goes on proving. */
export interface DealPolicy {
  /** The least pay, in units of 10⁻⁶ USDC per day and GiB of padded bytes; 0n takes unpaid deals, too. */
  readonly leastMicroUsdcPerGibDay: bigint
  /** Accounts whose deals are accepted, in lower case; undefined for anybody's. */
  readonly clients: readonly string[] | undefined
  /** The longest term that is accepted, extensions before the acceptance included. */
  readonly longestTermSeconds: number
  /** What 10¹⁸ wei are worth, in units of 10⁻⁶ USDC; undefined to leave gas out of account. */
  readonly microUsdcPerCoin: bigint | undefined
  /** The most that is put up for all deals together, in units of 10⁻⁶ USDC; 0n takes no deals with a bond. */
  readonly mostBond: bigint
}

/** Why a proposed deal is not accepted. It holds until its client changes the deal, or the operator the settings. */
export type DealRefusal = 'client' | 'term' | 'price' | 'bond'

const GIB = 2n ** 30n
const DAY_SECONDS = 86_400n
const WEI_PER_COIN = 10n ** 18n

/** Undefined when a proposed deal may be accepted. Time that was added counts like the rest, with its own pay. */
export function refusalOf(deal: Deal, policy: DealPolicy): DealRefusal | undefined {
  if (policy.clients !== undefined && !policy.clients.includes(deal.client)) return 'client'
  if (deal.durationSeconds + deal.extraSeconds > policy.longestTermSeconds) return 'term'
  if (deal.bond > policy.mostBond) return 'bond'
  const isPaid =
    pays(deal, { seconds: deal.durationSeconds, payment: deal.remaining }, policy) &&
    (deal.extraSeconds === 0 || pays(deal, { seconds: deal.extraSeconds, payment: deal.extraPayment }, policy))
  return isPaid ? undefined : 'price'
}

interface PaidTime {
  readonly seconds: number
  readonly payment: bigint
}

/** Clients round down, so a unit less is enough; but nothing at all is never a price. */
function pays({ paddedSizeBytes }: Deal, { seconds, payment }: PaidTime, { leastMicroUsdcPerGibDay }: DealPolicy) {
  if (leastMicroUsdcPerGibDay === 0n) return true
  const least = leastMicroUsdcPerGibDay * paddedSizeBytes * BigInt(seconds)
  return payment > 0n && (payment + 1n) * GIB * DAY_SECONDS > least
}

/** What a decision about gas is made by. */
export interface GasPrices {
  readonly weiPerGas: bigint
  readonly gasUse: GasUse
}

/** What an amount of gas costs, in units of 10⁻⁶ USDC, rounded up. */
export function microUsdcOfGas(gas: bigint, weiPerGas: bigint, microUsdcPerCoin: bigint): bigint {
  return (gas * weiPerGas * microUsdcPerCoin + WEI_PER_COIN - 1n) / WEI_PER_COIN
}

/**
 * True while a deal pays more for what is left of it than the gas of its remaining proofs costs at the fees of now. A bond that would
 * be lost counts as pay.
 *
 * Time without any pay is not worth a proof, whatever gas costs, unless unpaid deals are taken.
 */
export function isWorthProving(
  deal: Deal,
  kind: 'accept' | 'open' | 'reopen' | 'prove',
  { time, terms, policy, prices }: { time: number; terms: Terms; policy: DealPolicy; prices: GasPrices },
): boolean {
  const { payment: escrow, proofs } = restOf(deal, time, terms)
  const payment = escrow + deal.bondAtRisk
  if (payment === 0n) return policy.leastMicroUsdcPerGibDay === 0n
  if (policy.microUsdcPerCoin === undefined) return true
  const { gasUse, weiPerGas } = prices
  const open = gasUse.of('open')
  const all = BigInt(proofs) * (open + gasUse.of('prove'))
  const gas = kind === 'accept' ? all + gasUse.of('accept') : kind === 'prove' ? all - open : all
  return payment >= microUsdcOfGas(gas, weiPerGas, policy.microUsdcPerCoin)
}

/** True while a prover is owed more than it costs to fetch. With the end of the term its bond is due to it, too. */
export function isWorthSettling(
  deal: Deal,
  { microUsdcPerCoin }: DealPolicy,
  { time, gasUse, weiPerGas }: GasPrices & { readonly time: number },
): boolean {
  const cost = microUsdcPerCoin === undefined ? 0n : microUsdcOfGas(gasUse.of('settle'), weiPerGas, microUsdcPerCoin)
  const isOver = deal.state === 'active' && time >= deal.since + deal.durationSeconds + deal.extraSeconds
  const due = deal.earned + (isOver ? deal.bondAtRisk : 0n)
  return due > 0n && due >= cost
}

/** What the periods from the one at hand on pay, and how many they are. */
function restOf(deal: Deal, time: number, terms: Terms): { readonly payment: bigint; readonly proofs: number } {
  const periodsIn = (seconds: number) =>
    seconds <= 0 ? 0 : Math.max(1, Math.floor(seconds / terms.provingPeriodSeconds))
  const extra = { payment: deal.extraPayment, proofs: periodsIn(deal.extraSeconds) }
  if (deal.state === 'proposed') {
    return { payment: deal.remaining + extra.payment, proofs: periodsIn(deal.durationSeconds) + extra.proofs }
  }
  const term = deal.since + deal.durationSeconds
  const { start } = periodAt(deal, time, terms)
  if (start >= term) {
    const left = term + deal.extraSeconds - start
    const payment = deal.extraSeconds === 0 ? 0n : (deal.extraPayment * BigInt(left)) / BigInt(deal.extraSeconds)
    return { payment, proofs: periodsIn(left) }
  }
  // What was missed and is not accounted for yet goes back to the client.
  const payment = (deal.remaining * BigInt(term - start)) / BigInt(term - deal.accountedUntil)
  return { payment: payment + extra.payment, proofs: periodsIn(term - start) + extra.proofs }
}
