import { ConfigError, SecretString } from '@lade/node/settings'
import type { ProverSetting } from '../prover-setting.ts'
import { type ChainLimits, readChainLimits } from './chain-limits.ts'

/** SEC 2, section 2.4.1. */
const SECP256K1_ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n

/** Which marketplace a prover follows, and as whom. */
export interface ChainSettings {
  /** The only endpoint that is asked; such URLs often hold a key. */
  readonly rpcUrl: SecretString
  /** The contract: `0x` and 40 hex digits. */
  readonly marketplace: `0x${string}`
  /** Of the prover's account, which pays for its transactions and is paid for its proofs: `0x` and 64 hex digits. */
  readonly privateKey: SecretString
  readonly limits: ChainLimits
}

/** The variables that have the prover follow a marketplace: all of them or none. */
export const CHAIN_SETTINGS = {
  rpcUrl: { name: 'LADE_PROVER_CHAIN_RPC', default: 'none', about: 'The JSON-RPC endpoint of the chain.' },
  marketplace: {
    name: 'LADE_PROVER_MARKETPLACE',
    default: 'none',
    about: 'The contract whose deals are accepted and proved.',
  },
  privateKey: {
    name: 'LADE_PROVER_KEY',
    default: 'none',
    about: "The private key of the prover's account: 0x and 64 hex digits.",
  },
} as const satisfies Record<string, ProverSetting>

/**
 * Reads which marketplace to follow.
 *
 * @returns undefined when none of the variables is given.
 * @throws {ConfigError} with one sentence, without the value of a key or of an address that may hold one.
 */
export function readChainSettings(env: Readonly<Record<string, string | undefined>>): ChainSettings | undefined {
  const limits = readChainLimits(env)
  const given = Object.values(CHAIN_SETTINGS).map((setting) => ({ ...setting, text: env[setting.name] ?? 'none' }))
  const missing = given.find(({ text }) => text === 'none')
  if (given.every(({ text }) => text === 'none')) return undefined
  if (missing !== undefined) {
    const names = given.map(({ name }) => name).join(', ')
    throw new ConfigError(`${missing.name} is not set, but ${names} must be set together.`)
  }
  const [rpcUrl = '', marketplace = '', privateKey = ''] = given.map(({ text }) => text)
  if (!/^https?:\/\/[^\s#\\]+$/i.test(rpcUrl) || !URL.canParse(rpcUrl)) {
    throw new ConfigError(`${CHAIN_SETTINGS.rpcUrl.name} must be the http or https address of a JSON-RPC endpoint.`)
  }
  if (!/^0x[0-9a-fA-F]{40}$/.test(marketplace) || BigInt(marketplace) === 0n) {
    throw new ConfigError(`${CHAIN_SETTINGS.marketplace.name} must be the address of a contract: 0x and 40 hex digits.`)
  }
  if (!isPrivateKey(privateKey)) {
    throw new ConfigError(`${CHAIN_SETTINGS.privateKey.name} must be a private key: 0x and 64 hex digits.`)
  }
  return {
    rpcUrl: new SecretString(rpcUrl),
    marketplace: marketplace as `0x${string}`,
    privateKey: new SecretString(privateKey),
    limits,
  }
}

function isPrivateKey(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text) && BigInt(text) > 0n && BigInt(text) < SECP256K1_ORDER
}
