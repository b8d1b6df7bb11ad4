import { ConfigError } from '@lade/node/settings'
import type { ProverSetting } from '../prover-setting.ts'
import type { DealPolicy } from './deal-policy.ts'

/** What a prover does not do for its deals, whatever they ask for. */
export interface ChainLimits extends DealPolicy {
  /** The id of the only chain that is followed; undefined for the one that the node has. */
  readonly chainId: number | undefined
  /** While a unit of gas costs more, in wei, nothing is sent. */
  readonly mostWeiPerGas: bigint
  /** A transaction that serves many deals uses no more gas. */
  readonly mostGasForMany: bigint
}

/** The variables that say which deals are worth the prover's gas, and when. */
export const LIMIT_SETTINGS = {
  chainId: {
    name: 'LADE_PROVER_CHAIN_ID',
    default: 'any',
    about: 'The id of the chain. The prover does not start with a node of another chain.',
  },
  leastPrice: {
    name: 'LADE_PROVER_LEAST_USDC_PER_GIB_DAY',
    default: '0.00005',
    about: 'The least pay of an accepted deal, in USDC per day and GiB of padded bytes; 0 also accepts unpaid deals.',
  },
  clients: {
    name: 'LADE_PROVER_CLIENTS',
    default: 'any',
    about: 'The accounts whose deals are accepted: comma-separated addresses, or any.',
  },
  bond: {
    name: 'LADE_PROVER_BOND_MAX_USDC',
    default: '0',
    about:
      'The most USDC that is put up as bonds, of all deals and contracts together. Deals whose bond is more are not accepted; others wait until bonds come back. 0 accepts no deal with a bond.',
  },
  longestTerm: {
    name: 'LADE_PROVER_TERM_MAX_DAYS',
    default: '1830',
    about: 'The longest term of an accepted deal, in days.',
  },
  feeCap: {
    name: 'LADE_PROVER_FEE_CAP_GWEI',
    default: '500',
    about: 'The highest fee per unit of gas, in gwei. Transactions wait while gas costs more.',
  },
  batchGas: {
    name: 'LADE_PROVER_BATCH_GAS',
    default: '16777216',
    about:
      "The most gas of a transaction that serves many deals; also at most a quarter of a block's gas limit. Contracts of version 1 take one deal per transaction.",
  },
  coinPrice: {
    name: 'LADE_PROVER_USDC_PER_COIN',
    default: 'none',
    about:
      'The price of one coin that gas is paid in (10¹⁸ wei), in USDC. With it, deals are accepted and proved only while their remaining pay covers the gas of their remaining proofs; none does not compare them.',
  },
} as const satisfies Record<string, ProverSetting>

const DAY_SECONDS = 86_400
const GWEI_DECIMALS = 9
const USDC_DECIMALS = 6
/** What the contract allows. */
const MAX_DAYS = 36_500

/**
 * Reads the limits, or their defaults.
 *
 * @throws {ConfigError} with one sentence.
 */
export function readChainLimits(env: Readonly<Record<string, string | undefined>>): ChainLimits {
  const textOf = ({ name, default: standard }: ProverSetting) => ({ name, text: env[name] ?? standard })
  return {
    chainId: readUnless('any', textOf(LIMIT_SETTINGS.chainId), readChainId),
    leastMicroUsdcPerGibDay: readDecimal(textOf(LIMIT_SETTINGS.leastPrice), USDC_DECIMALS),
    clients: readUnless('any', textOf(LIMIT_SETTINGS.clients), readAddresses),
    longestTermSeconds: DAY_SECONDS * readWhole(textOf(LIMIT_SETTINGS.longestTerm), MAX_DAYS),
    mostBond: readDecimal(textOf(LIMIT_SETTINGS.bond), USDC_DECIMALS),
    mostWeiPerGas: readPositive(textOf(LIMIT_SETTINGS.feeCap), GWEI_DECIMALS),
    mostGasForMany: BigInt(readWhole(textOf(LIMIT_SETTINGS.batchGas), Number.MAX_SAFE_INTEGER)),
    microUsdcPerCoin: readUnless('none', textOf(LIMIT_SETTINGS.coinPrice), (given) =>
      readPositive(given, USDC_DECIMALS),
    ),
  }
}

interface Given {
  readonly name: string
  readonly text: string
}

function readUnless<Value>(word: string, given: Given, read: (given: Given) => Value): Value | undefined {
  return given.text === word ? undefined : read(given)
}

function readWhole(given: Given, maximum: number): number {
  const value = /^[1-9]\d{0,15}$/.test(given.text) ? Number(given.text) : Number.NaN
  if (!(value <= maximum)) throw wrong(given, `a whole number from 1 to ${maximum}`)
  return value
}

function readChainId(given: Given): number {
  return readWhole(given, Number.MAX_SAFE_INTEGER)
}

function readDecimal(given: Given, decimals: number): bigint {
  const [whole = '', fraction = ''] = given.text.split('.')
  const isDecimal = /^(?:0|[1-9]\d{0,11})(?:\.\d+)?$/.test(given.text) && fraction.length <= decimals
  if (!isDecimal) throw wrong(given, `a decimal number with up to ${decimals} decimals`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

function readPositive(given: Given, decimals: number): bigint {
  const amount = readDecimal(given, decimals)
  if (amount === 0n) throw wrong(given, `a decimal number greater than 0 with up to ${decimals} decimals`)
  return amount
}

function readAddresses(given: Given): string[] {
  const addresses = given.text.split(',').map((address) => address.trim().toLowerCase())
  if (addresses.every((address) => /^0x[0-9a-f]{40}$/.test(address))) return addresses
  throw wrong(given, 'any, or comma-separated addresses of 0x and 40 hex digits')
}

function wrong({ name, text }: Given, accepts: string): ConfigError {
  return new ConfigError(`${name} is ${JSON.stringify(text.slice(0, 100))}, but it must be ${accepts}.`)
}
