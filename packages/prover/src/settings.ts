import { resolve } from 'node:path'
import { ConfigError } from '@lade/node/settings'
import { LIMIT_SETTINGS } from './chain/chain-limits.ts'
import { CHAIN_SETTINGS, type ChainSettings, readChainSettings } from './chain/chain-settings.ts'
import type { ProverOptions } from './prover-options.ts'
import type { ProverSetting } from './prover-setting.ts'
import { isHostEntry } from './pull/allowed-hosts.ts'

/** Every variable that the prover reads from its environment. */
export const PROVER_SETTINGS = {
  host: { name: 'LADE_PROVER_HOST', default: '127.0.0.1', about: 'The address to listen on.' },
  port: { name: 'LADE_PROVER_PORT', default: '8090', about: 'The port to listen on; 0 picks a free one.' },
  dir: { name: 'LADE_PROVER_DIR', default: './prover-data', about: 'The directory for pieces and data sets.' },
  publicHosts: {
    name: 'LADE_PROVER_ALLOW',
    default: 'none',
    about:
      'Hosts that pieces may be pulled from, only over https and at public addresses: stage.example, *.example.org, or * for all.',
  },
  privateHosts: {
    name: 'LADE_PROVER_ALLOW_PRIVATE',
    default: 'none',
    about:
      'Hosts that pieces may be pulled from over http or https, at public or private addresses, such as lade:8080 or 127.0.0.1:*. They need not be in LADE_PROVER_ALLOW.',
  },
  findDelayMs: {
    name: 'LADE_PROVER_FIND_DELAY_MS',
    default: '5000',
    about: 'Simulated delay until a new piece can be found and used, in milliseconds.',
  },
  confirmDelayMs: {
    name: 'LADE_PROVER_CONFIRM_DELAY_MS',
    default: '5000',
    about: 'Simulated delay until a transaction is confirmed, in milliseconds.',
  },
  parkHours: {
    name: 'LADE_PROVER_PARK_HOURS',
    default: '24',
    about: 'How long a piece without a data set is stored, in hours.',
  },
} as const satisfies Record<string, ProverSetting>

/** What an operator decides of {@link ProverOptions}. */
export type ProverSettings = Required<Pick<ProverOptions, keyof typeof PROVER_SETTINGS>> & {
  readonly chain?: ChainSettings
}

/**
 * Reads the prover's settings from the environment. Nothing is ignored: a wrong value, an empty one and an unknown
 * `LADE_PROVER_…` variable each stop the start.
 *
 * @param cwd - what relative paths start from.
 * @throws {ConfigError} with one sentence, for the first setting that is wrong.
 *
 * @example
 * readProverSettings({ LADE_PROVER_PORT: '0' }, '/srv').dir // '/srv/prover-data'
 */
export function readProverSettings(env: Readonly<Record<string, string | undefined>>, cwd: string): ProverSettings {
  const known = Object.values<ProverSetting>({ ...PROVER_SETTINGS, ...CHAIN_SETTINGS, ...LIMIT_SETTINGS }).map(
    ({ name }) => name,
  )
  const unknown = Object.keys(env).find((name) => name.startsWith('LADE_PROVER_') && !known.includes(name))
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown} is not a setting of the prover; its settings are ${known.join(', ')}.`)
  }
  const textOf = ({ name, default: standard }: ProverSetting) => ({ name, text: env[name] ?? standard })
  const chain = readChainSettings(env, cwd)
  return {
    ...(chain && { chain }),
    host: readHost(textOf(PROVER_SETTINGS.host)),
    port: readNumber(textOf(PROVER_SETTINGS.port), 65_535),
    dir: resolve(cwd, readPath(textOf(PROVER_SETTINGS.dir))),
    publicHosts: readHosts(textOf(PROVER_SETTINGS.publicHosts)),
    privateHosts: readHosts(textOf(PROVER_SETTINGS.privateHosts)),
    findDelayMs: readNumber(textOf(PROVER_SETTINGS.findDelayMs), 3_600_000),
    confirmDelayMs: readNumber(textOf(PROVER_SETTINGS.confirmDelayMs), 3_600_000),
    parkHours: readNumber(textOf(PROVER_SETTINGS.parkHours), 100_000, 1),
  }
}

interface Given {
  readonly name: string
  readonly text: string
}

function readHost(given: Given): string {
  if (!/^[a-z0-9.:[\]-]+$/i.test(given.text)) throw wrong(given, 'an IP address or a host name')
  return given.text.replace(/^\[(.*)\]$/, '$1')
}

function readNumber(given: Given, maximum: number, minimum = 0): number {
  const value = /^(0|[1-9]\d{0,9})$/.test(given.text) ? Number(given.text) : Number.NaN
  if (!(value >= minimum && value <= maximum)) throw wrong(given, `a whole number from ${minimum} to ${maximum}`)
  return value
}

function readPath(given: Given): string {
  if (given.text === '' || given.text.includes('\0')) throw wrong(given, 'the path of a directory')
  return given.text
}

function readHosts(given: Given): string[] {
  if (given.text === 'none') return []
  const entries = given.text.split(',').map((entry) => entry.trim())
  const isPrivate = given.name === PROVER_SETTINGS.privateHosts.name
  if (entries.every((entry) => isHostEntry(entry) && !(isPrivate && entry.startsWith('*')))) return entries
  const patterns = isPrivate ? 'without patterns' : 'or patterns such as *.example.org or *'
  throw wrong(given, `none, or comma-separated host names, each with :port or :* if needed, ${patterns}`)
}

function wrong({ name, text }: Given, accepts: string): ConfigError {
  return new ConfigError(`${name} is ${JSON.stringify(text.slice(0, 100))}, but it must be ${accepts}.`)
}
