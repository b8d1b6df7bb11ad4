import { resolve } from 'node:path'
import { readAddressFile } from '@lade/contracts/address-file'
import { ConfigError, SecretString } from '@lade/node/settings'
import type { ProverSetting } from '../prover-setting.ts'
import { type ChainLimits, LIMIT_SETTINGS, readChainLimits } from './chain-limits.ts'

/** SEC 2, section 2.4.1. */
const SECP256K1_ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n

/** Which marketplaces a prover follows, and as whom. */
export interface ChainSettings {
  /** The only endpoint that is asked; such URLs often hold a key. */
  readonly rpcUrl: SecretString
  /** The contracts, each `0x` and 40 hex digits. Each deal is served by the version of its own contract. */
  readonly marketplaces: readonly `0x${string}`[]
  /** Of the prover's account, which pays for its transactions and is paid for its proofs: `0x` and 64 hex digits. */
  readonly privateKey: SecretString
  readonly limits: ChainLimits
}

/** The variables that have the prover follow marketplaces: all of them or none. */
export const CHAIN_SETTINGS = {
  rpcUrl: { name: 'LADE_PROVER_CHAIN_RPC', default: 'none', about: 'The JSON-RPC endpoint of the chain.' },
  marketplaces: {
    name: 'LADE_PROVER_MARKETPLACE',
    default: 'none',
    about:
      'The contracts whose deals are accepted and proved: comma-separated, each an address or the path of an address file that lade chain deploy wrote.',
  },
  privateKey: {
    name: 'LADE_PROVER_KEY',
    default: 'none',
    about: "The private key of the prover's account: 0x and 64 hex digits.",
  },
} as const satisfies Record<string, ProverSetting>

/**
 * Reads which marketplaces to follow.
 *
 * @param cwd - what a relative path of an address file starts from.
 * @returns undefined when none of the variables is given.
 * @throws {ConfigError} with one sentence, without the value of a key or of an address that may hold one.
 */
export function readChainSettings(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): ChainSettings | undefined {
  const limits = readChainLimits(env)
  const given = Object.values(CHAIN_SETTINGS).map((setting) => ({ ...setting, text: env[setting.name] ?? 'none' }))
  const missing = given.find(({ text }) => text === 'none')
  if (given.every(({ text }) => text === 'none')) return undefined
  if (missing !== undefined) {
    const names = given.map(({ name }) => name).join(', ')
    throw new ConfigError(`${missing.name} is not set, but ${names} must be set together.`)
  }
  const [rpcUrl = '', marketplaces = '', privateKey = ''] = given.map(({ text }) => text)
  if (!/^https?:\/\/[^\s#\\]+$/i.test(rpcUrl) || !URL.canParse(rpcUrl)) {
    throw new ConfigError(`${CHAIN_SETTINGS.rpcUrl.name} must be the http or https address of a JSON-RPC endpoint.`)
  }
  if (!isPrivateKey(privateKey)) {
    throw new ConfigError(`${CHAIN_SETTINGS.privateKey.name} must be a private key: 0x and 64 hex digits.`)
  }
  const found = marketplaces.split(',').map((text) => readMarketplace(text.trim(), cwd))
  return {
    rpcUrl: new SecretString(rpcUrl),
    marketplaces: found.map(({ address }) => address),
    privateKey: new SecretString(privateKey),
    limits: { ...limits, chainId: commonChainId(found, limits.chainId) },
  }
}

interface NamedContract {
  readonly address: `0x${string}`
  /** Undefined where an address was given alone. */
  readonly chainId: number | undefined
}

function readMarketplace(text: string, cwd: string): NamedContract {
  const { name } = CHAIN_SETTINGS.marketplaces
  if (/^0x[0-9a-fA-F]{40}$/.test(text) && BigInt(text) !== 0n)
    return { address: text as `0x${string}`, chainId: undefined }
  if (!text.endsWith('.json')) {
    const accepts = 'addresses of contracts (0x and 40 hex digits) or paths of address files (*.json)'
    throw new ConfigError(`${name} must be ${accepts}, comma-separated.`)
  }
  try {
    const { marketplace, chainId } = readAddressFile(resolve(cwd, text))
    return { address: marketplace, chainId }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ConfigError(`${name} names ${text}, which ${error.message}.`)
  }
}

/** Undefined when neither the setting nor an address file says which chain it is. */
function commonChainId(contracts: readonly NamedContract[], configured: number | undefined): number | undefined {
  const chainIds = new Set([configured, ...contracts.map(({ chainId }) => chainId)])
  chainIds.delete(undefined)
  if (chainIds.size <= 1) return [...chainIds][0]
  const given = `${CHAIN_SETTINGS.marketplaces.name} and ${LIMIT_SETTINGS.chainId.name}`
  throw new ConfigError(`${given} name several chains: ${[...chainIds].join(', ')}. A prover follows one.`)
}

function isPrivateKey(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text) && BigInt(text) > 0n && BigInt(text) < SECP256K1_ORDER
}
