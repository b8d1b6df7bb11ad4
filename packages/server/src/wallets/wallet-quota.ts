import type { Wallet } from './wallet.ts'
import type { WalletChain } from './wallet-chains.ts'

const GIB = 1_073_741_824n
const USDC_DECIMALS = 6
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * What a balance stands for, in bytes a day, rounded down to the byte.
 *
 * @param microUsdc - what the wallet holds, in units of 10⁻⁶ USDC.
 * @param microUsdcPerGib - the price, more than nothing.
 * @returns at most `Number.MAX_SAFE_INTEGER`.
 *
 * @example
 * quotaBytesOf(2_500_000n, 1_000_000n) // 2_684_354_560: 2.5 GiB
 */
export function quotaBytesOf(microUsdc: bigint, microUsdcPerGib: bigint): number {
  const bytes = (microUsdc * GIB) / microUsdcPerGib
  return Number(bytes < LARGEST ? bytes : LARGEST)
}

/**
 * Writes an amount of USDC as people do.
 *
 * @example
 * usdcText(250_000n) // '0.25'
 */
export function usdcText(microUsdc: bigint): string {
  const digits = String(microUsdc).padStart(USDC_DECIMALS + 1, '0')
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0+$/, '')
  const whole = digits.slice(0, -USDC_DECIMALS)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * What a wallet may upload in a day, by the least that it held in the newest blocks, so that what is passed on counts for one wallet at a time. What it has used of that is not taken off: the records decide.
 *
 * @throws {LadeError} `chain_offline`, `over_budget`.
 */
export async function walletQuotaBytes(
  { chain, microUsdcPerGib }: { readonly chain: WalletChain; readonly microUsdcPerGib: bigint },
  { address }: Wallet,
): Promise<number> {
  return quotaBytesOf(await chain.leastUsdcBalance(address), microUsdcPerGib)
}
