import { join, resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import type { MailSender, SmtpServer } from './mail-forms.ts'
import { type ReadSettings, readSettings, type SettingSources } from './read-settings.ts'
import type { SecretString } from './secret-string.ts'
import { MEGABYTE } from './setting-forms.ts'
import type { SettingValues } from './settings.ts'
import { parseRsaKey, parseTokenKey } from './token-key.ts'

export { ConfigError } from './config-error.ts'
export { configurationTable } from './configuration-table.ts'
export { SecretString } from './secret-string.ts'
export { flagOf, SETTINGS, type Setting, shownDefaultOf } from './settings.ts'
export { type TokenKeyMaterial, tokenKeyBytes, tokenKeyMaterial } from './token-key.ts'

/** Everything an operator can decide, as one frozen value. */
export interface Config {
  readonly host: string
  /** 0 asks for any free port. */
  readonly port: number
  /** Without trailing slash. Absent: the address that was bound. */
  readonly publicUrl?: string
  /** Without trailing slash. Absent: retrieval is on the public URL. */
  readonly contentUrl?: string
  /** Absolute. */
  readonly dataDir: string
  /** `file` is absolute. */
  readonly database: { readonly kind: 'sqlite'; readonly file: string }
  /** `dir` is absolute. */
  readonly storage: { readonly kind: 'file'; readonly dir: string } | { readonly kind: 'none' }
  readonly prover: { readonly kind: 'local' }
  readonly tokenAlg: 'HS256' | 'RS256'
  /** Absent: the key file in the data directory. `tokenKeyMaterial` gives the key that it stands for. */
  readonly tokenKey?: SecretString
  readonly signup: 'open' | 'email' | 'closed'
  /** Where the codes of signup by email go out; there when `signup` is `email`, perhaps also otherwise. */
  readonly mail?: { readonly server: SmtpServer; readonly from: MailSender }
  readonly queryToken: 'accept' | 'refuse'
  readonly opaqueIds: 'accept' | 'refuse'
  /** Files up to this size are kept in the database. */
  readonly inlineBytes: number
  readonly sponsored: {
    readonly fileBytes: number
    readonly dailyBytes: number
    readonly concurrency: number
    readonly termDays: number
  }
  readonly token: {
    readonly fileBytes: number
    /** In MB of 1,048,576 bytes, as tokens carry it. */
    readonly quotaMb: number
    readonly concurrency: number
    readonly termDays: number
  }
  readonly termMaxDays: number
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[]
  readonly minFreeBytes: number
  readonly processes: number
  readonly logLevel: SettingValues['logLevel']
  readonly bodyIdleMs: number
  readonly drainMs: number
  readonly signupsPerHour: number
}

/** Where {@link readConfig} looks, and what relative paths start from. */
export interface ConfigSources extends SettingSources {
  /** @default process.cwd() */
  readonly cwd?: string
}

/**
 * Reads the whole configuration from the environment and the flags; a flag wins over its variable.
 *
 * Nothing is ignored: a wrong value, an empty one, an unknown `LADE_…` variable, and a value that asks for a driver that
 * this build does not have each stop the start. Reads no file and touches no disk.
 *
 * @param sources.flags - by flag name without its dashes, such as `{ 'sponsored-file-mb': '50' }`.
 * @throws {ConfigError} with one sentence, for the first setting that is wrong.
 * @throws {TypeError} for a flag that no setting has.
 *
 * @example
 * readConfig({ env: { LADE_SPONSORED_FILE_MB: '1' } }).sponsored.fileBytes // 1048576
 */
export function readConfig(sources: ConfigSources): Config {
  const settings = readSettings(sources)
  refuseContradictions(settings)
  const { values } = settings
  const cwd = sources.cwd ?? process.cwd()
  const dataDir = resolve(cwd, values.dataDir)
  return deepFreeze<Config>({
    host: values.host,
    port: values.port,
    ...(values.publicUrl !== undefined && { publicUrl: values.publicUrl }),
    ...(values.contentUrl !== undefined && { contentUrl: values.contentUrl }),
    dataDir,
    database: {
      kind: 'sqlite',
      file: values.database === undefined ? join(dataDir, 'lade.db') : resolve(cwd, values.database),
    },
    storage: storageOf(values.storage, cwd, dataDir),
    prover: { kind: values.prover },
    tokenAlg: values.tokenAlg,
    ...(values.tokenKey !== undefined && { tokenKey: values.tokenKey }),
    signup: values.signup,
    ...mailOf(values),
    queryToken: values.queryToken,
    opaqueIds: values.opaqueIds,
    inlineBytes: values.inlineKb * 1024,
    sponsored: {
      fileBytes: values.sponsoredFileMb * MEGABYTE,
      dailyBytes: values.sponsoredDailyMb * MEGABYTE,
      concurrency: values.sponsoredConcurrency,
      termDays: values.sponsoredDays,
    },
    token: {
      fileBytes: values.tokenFileMb * MEGABYTE,
      quotaMb: values.tokenQuotaMb,
      concurrency: values.tokenConcurrency,
      termDays: values.tokenDays,
    },
    termMaxDays: values.termMaxDays,
    trustedProxies: values.trustedProxies,
    minFreeBytes: values.minFreeMb * MEGABYTE,
    processes: values.processes,
    logLevel: values.logLevel,
    bodyIdleMs: values.bodyIdleSeconds * 1000,
    drainMs: values.drainSeconds * 1000,
    signupsPerHour: values.signupsPerHour,
  })
}

function storageOf(storage: SettingValues['storage'], cwd: string, dataDir: string): Config['storage'] {
  if (storage === undefined) return { kind: 'file', dir: join(dataDir, 'objects') }
  return storage.kind === 'none' ? { kind: 'none' } : { kind: 'file', dir: resolve(cwd, storage.path) }
}

function mailOf({ smtpUrl: server, mailFrom: from }: SettingValues): Pick<Config, 'mail'> {
  return server === undefined || from === undefined ? {} : { mail: { server, from } }
}

/** Settings that are each right and cannot hold together. */
function refuseContradictions(settings: ReadSettings): void {
  const { values, givenAs } = settings
  refuseOtherKey(settings)
  for (const key of ['smtpUrl', 'mailFrom'] as const) {
    if (values.signup !== 'email' || values[key] !== undefined) continue
    throw new ConfigError(
      `${givenAs('signup')} is email, so ${givenAs(key)} must be set as well, or the codes cannot be sent.`,
    )
  }
  for (const key of ['sponsoredDays', 'tokenDays'] as const) {
    if (values[key] > values.termMaxDays) {
      throw new ConfigError(
        `${givenAs(key)} is ${values[key]}, but it must not be more than ${givenAs('termMaxDays')}, which is ${values.termMaxDays}.`,
      )
    }
  }
  if (values.contentUrl === undefined) return
  const host = values.host.includes(':') ? `[${values.host}]` : values.host
  const publicUrl = values.publicUrl ?? `http://${host}:${values.port}`
  if (new URL(values.contentUrl).origin === new URL(publicUrl).origin) {
    throw new ConfigError(
      `${givenAs('contentUrl')} is "${values.contentUrl}", but it must be another origin than the public URL, since its files run as programs there.`,
    )
  }
}

/** A key of one algorithm is none of the other, and a public key taken for a secret would let everybody sign. */
function refuseOtherKey({ values, givenAs }: ReadSettings): void {
  if (values.tokenKey === undefined) return
  const text = values.tokenKey.reveal()
  if (values.tokenAlg === 'HS256' && parseTokenKey(text) === undefined) {
    throw new ConfigError(
      `${givenAs('tokenKey')} holds an RSA key, but ${givenAs('tokenAlg')} is HS256, which needs a secret of at least 32 bytes.`,
    )
  }
  if (values.tokenAlg === 'RS256' && parseRsaKey(text) === undefined) {
    throw new ConfigError(
      `${givenAs('tokenAlg')} is RS256, but ${givenAs('tokenKey')} holds no RSA private key of 2048 to 8192 bits as PEM or JWK.`,
    )
  }
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member)
  }
  return Object.freeze(value)
}
