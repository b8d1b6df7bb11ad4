import { join, resolve } from 'node:path'
import { DAY_MS, HOUR_MS } from '@lade/core/time'
import type { SecretString } from '@lade/node/settings'
import { refuseContradictions } from './contradictions.ts'
import type { MailSender, SmtpServer } from './mail-forms.ts'
import { readMarketplaces } from './marketplaces.ts'
import { type TraceExport, traceExportOf } from './otel-variables.ts'
import type { ProverSetting } from './prover-forms.ts'
import { type ReadSettings, readSettings, type SettingSources } from './read-settings.ts'
import type { OldNameInUse } from './renamed-settings.ts'
import { MEGABYTE } from './setting-forms.ts'
import type { SettingValues } from './settings.ts'
import type { S3Location } from './store-forms.ts'

export { configurationTables } from './configuration-table.ts'
export type { ProverSetting, RemoteProverSetting } from './prover-forms.ts'
export { oldNameOf } from './renamed-settings.ts'
export { SETTING_GROUPS } from './setting-groups.ts'
export { flagOf, SETTINGS, type Setting, shownDefaultOf } from './settings.ts'
export type { S3Location } from './store-forms.ts'
export { tokenKeyMaterial } from './token-key.ts'

/** 1 USDC. */
const WEI_PER_GWEI = 10n ** 9n
const DEFAULT_MICRO_USDC_PER_GIB = 1_000_000n
/** 0.0001 USDC, about what storage on Filecoin costs. */
const DEFAULT_MICRO_USDC_PER_GIB_DAY = 100n

/** Everything an operator can decide, as one frozen value. */
export interface Config {
  readonly host: string
  /** 0 asks for any free port. */
  readonly port: number
  /** Without trailing slash. Absent: the address that was bound. */
  readonly publicUrl?: string
  /** Without trailing slash. Absent: retrieval is on the public URL. */
  readonly contentUrl?: string
  /** As `https://*.ipfs.example.org`. Absent: no root has a host of its own. */
  readonly sitesUrl?: string
  /** Absolute. */
  readonly dataDir: string
  /** `file` is absolute. */
  readonly database:
    | { readonly kind: 'sqlite'; readonly file: string }
    | { readonly kind: 'postgres'; readonly url: SecretString; readonly maxConnections: number }
  /** `dir` is absolute. */
  readonly storage:
    | { readonly kind: 'file'; readonly dir: string }
    | ({ readonly kind: 's3' } & S3Location)
    | { readonly kind: 'none' }
  /** Ways of big files past this process. */
  readonly retrieval: {
    /** How long a URL of the storage is good; 0: nobody is redirected. */
    readonly redirectSeconds: number
    /** For how long caches may keep public files at most. */
    readonly cacheSeconds: number
    /** With a slash at both ends. Absent: no proxy sends files by itself. */
    readonly accelPrefix?: string
  }
  /** One or more, each once. */
  readonly provers: readonly ProverSetting[]
  /** Pays Curio; there when one of the provers is of that kind. */
  readonly curioKey?: SecretString
  readonly placement: {
    /** How many provers hold each file. */
    readonly copies: number
    readonly stage: 'sync' | 'async'
    readonly aggregateBelowBytes: number
    readonly aggregateSeconds: number
    readonly auditSeconds: number
    /** How many Curio providers get the CAR of a public file. */
    readonly ipfsCopies: number
  }
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
    readonly dailyFiles: number
    /** Undefined: no limit. */
    readonly storedBytes?: number | undefined
    readonly concurrency: number
    readonly termDays: number
  }
  readonly token: {
    readonly fileBytes: number
    /** In MB of 1,048,576 bytes, as tokens carry it. */
    readonly quotaMb: number
    readonly dailyFiles: number
    /** Undefined: no limit. */
    readonly storedBytes?: number | undefined
    readonly concurrency: number
    readonly termDays: number
  }
  readonly termMaxDays: number
  /** Absent: wallets are no callers. */
  readonly chain?: {
    readonly rpcUrl: SecretString
    /** Absent: whichever it is. */
    readonly chainId?: number
    /** In the mixed case of EIP-55. */
    readonly usdc: `0x${string}`
    /** In units of 10⁻⁶ USDC, more than nothing. */
    readonly microUsdcPerGib: bigint
    /** The least balance of so many of the newest blocks sets the quota of a wallet. */
    readonly balanceWindowBlocks: number
    /** What all wallets at one client address may upload in a day, where none of them has more. */
    readonly addressBytes: number
    /** Absent: deals are synthetic. */
    readonly marketplace?: {
      /** In the mixed case of EIP-55; the first is for new deals. */
      readonly contracts: readonly `0x${string}`[]
      readonly privateKey: SecretString
      /** What provers are paid, in units of 10⁻⁶ USDC. */
      readonly microUsdcPerGibDay: bigint
      /** The bond that provers put up, in percent of the pay. */
      readonly bondPercent: number
      /** The most that is put in escrow on a UTC day, in units of 10⁻⁶ USDC; absent without a limit. */
      readonly microUsdcPerDay?: bigint
      /** The most that a transaction offers for a unit of gas, in wei. */
      readonly feeCapWei: bigint
      readonly waitMs: number
      readonly confirmations: number
      readonly finalityBlocks: number
    }
  }
  /** Files, in the order in which their rules count. */
  readonly denylists: readonly string[]
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[]
  /** Hosts of this service besides those of its URLs, without ports, in lower case. */
  readonly trustedHosts: readonly string[]
  readonly minFreeBytes: number
  /** How long the bytes of a file stay after its term. */
  readonly graceMs: number
  /** In how many days everything that is stored is read again; 0 for never. */
  readonly scrubDays: number
  /** For how long verified bytes are trusted before a read verifies them again; 0 for not at all. */
  readonly reverifyMs: number
  /** How long blobs that the records do not know are kept; 0 for good. */
  readonly orphanDays: number
  /** How long after its end what is known of people is kept; 0 for ever. */
  readonly tombstoneMs: number
  readonly processes: number
  /** Connections that each process accepts at most. */
  readonly maxConnections: number
  /** Absent: there are no metrics. */
  readonly metricsToken?: SecretString
  readonly logLevel: SettingValues['logLevel']
  readonly logAddresses: SettingValues['logAddresses']
  /** Absent: no spans are exported. */
  readonly traces?: TraceExport
  readonly bodyIdleMs: number
  readonly drainMs: number
  readonly signupsPerHour: number
  /** The settings that were given under an old name; a start logs a warning for each. */
  readonly oldNames: readonly OldNameInUse[]
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
 * this build does not have each stop the start. Reads no file but the address files
 * that `LADE_MARKETPLACE` names.
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
  const traces = traceExportOf(sources.env)
  return deepFreeze<Config>({
    host: values.host,
    port: values.port,
    ...(values.publicUrl !== undefined && { publicUrl: values.publicUrl }),
    ...(values.contentUrl !== undefined && { contentUrl: values.contentUrl }),
    ...(values.sitesUrl !== undefined && { sitesUrl: values.sitesUrl }),
    dataDir,
    database: databaseOf(values, cwd, dataDir),
    storage: storageOf(values.storage, cwd, dataDir),
    retrieval: {
      redirectSeconds: values.s3RedirectSeconds,
      cacheSeconds: values.cacheSeconds,
      ...(values.accel !== undefined && { accelPrefix: values.accel }),
    },
    provers: values.provers,
    ...(values.curioKey !== undefined && { curioKey: values.curioKey }),
    placement: {
      copies: values.redundancy,
      stage: values.stage,
      aggregateBelowBytes: values.aggregateBelowMb * MEGABYTE,
      aggregateSeconds: values.aggregateSeconds,
      auditSeconds: values.auditSeconds,
      ipfsCopies: values.ipfsCopies,
    },
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
      dailyFiles: values.sponsoredDailyFiles,
      storedBytes: storedBytesOf(values.sponsoredStoredGb),
      concurrency: values.sponsoredConcurrency,
      termDays: values.sponsoredFileDays,
    },
    token: {
      fileBytes: values.tokenFileMb * MEGABYTE,
      quotaMb: values.tokenDailyMb,
      dailyFiles: values.tokenDailyFiles,
      storedBytes: storedBytesOf(values.tokenStoredGb),
      concurrency: values.tokenConcurrency,
      termDays: values.tokenFileDays,
    },
    termMaxDays: values.termMaxDays,
    ...chainOf(settings, cwd),
    denylists: values.denylists.map((file) => resolve(cwd, file)),
    trustedProxies: values.trustedProxies,
    trustedHosts: values.trustedHosts,
    minFreeBytes: values.minFreeMb * MEGABYTE,
    graceMs: values.discardGraceHours * HOUR_MS,
    scrubDays: values.scrubDays,
    reverifyMs: values.reverifyMinutes * 60_000,
    orphanDays: values.orphanDays,
    tombstoneMs: values.tombstoneDays * DAY_MS,
    processes: values.processes,
    maxConnections: values.maxConnections,
    ...(values.metricsToken !== undefined && { metricsToken: values.metricsToken }),
    logLevel: values.logLevel,
    logAddresses: values.logAddresses,
    ...(traces !== undefined && { traces }),
    bodyIdleMs: values.bodyIdleSeconds * 1000,
    drainMs: values.drainSeconds * 1000,
    signupsPerHour: values.signupsPerHour,
    oldNames: settings.oldNames,
  })
}

function databaseOf(values: SettingValues, cwd: string, dataDir: string): Config['database'] {
  const { database, databaseConnections: maxConnections } = values
  if (database === undefined) return { kind: 'sqlite', file: join(dataDir, 'lade.db') }
  if (database.kind === 'postgres') return { ...database, maxConnections }
  return { kind: 'sqlite', file: resolve(cwd, database.path) }
}

function storageOf(storage: SettingValues['storage'], cwd: string, dataDir: string): Config['storage'] {
  if (storage === undefined) return { kind: 'file', dir: join(dataDir, 'objects') }
  return storage.kind === 'file' ? { kind: 'file', dir: resolve(cwd, storage.path) } : storage
}

function mailOf({ smtpUrl: server, mailFrom: from }: SettingValues): Pick<Config, 'mail'> {
  return server === undefined || from === undefined ? {} : { mail: { server, from } }
}

function chainOf(settings: ReadSettings, cwd: string): Pick<Config, 'chain'> {
  const { values } = settings
  const { chainRpc: rpcUrl, usdc, usdcPerGib } = values
  if (rpcUrl === undefined || usdc === undefined) return {}
  const microUsdcPerGib = usdcPerGib ?? DEFAULT_MICRO_USDC_PER_GIB
  const { contracts, chainId } = readMarketplaces(settings, cwd)
  const marketplace = marketplaceOf(values, contracts)
  return {
    chain: {
      rpcUrl,
      ...(chainId !== undefined && { chainId }),
      usdc,
      microUsdcPerGib,
      balanceWindowBlocks: values.walletBalanceBlocks,
      addressBytes: values.walletAddressMb * MEGABYTE,
      ...(marketplace !== undefined && { marketplace }),
    },
  }
}

function marketplaceOf(
  values: SettingValues,
  contracts: readonly `0x${string}`[],
): NonNullable<Config['chain']>['marketplace'] {
  const { chainKey: privateKey } = values
  if (contracts.length === 0 || privateKey === undefined) return undefined
  return {
    contracts,
    privateKey,
    microUsdcPerGibDay: values.dealUsdcPerGibDay ?? DEFAULT_MICRO_USDC_PER_GIB_DAY,
    bondPercent: values.dealBondPercent,
    ...(values.dealUsdcPerDay !== undefined && { microUsdcPerDay: values.dealUsdcPerDay }),
    feeCapWei: BigInt(values.chainFeeCapGwei) * WEI_PER_GWEI,
    waitMs: values.dealWaitMs,
    confirmations: values.chainConfirmations,
    finalityBlocks: values.chainFinalityBlocks,
  }
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member)
  }
  return Object.freeze(value)
}

/** 0 stands for no limit. */
function storedBytesOf(gigabytes: number): number | undefined {
  return gigabytes === 0 ? undefined : gigabytes * 1024 * MEGABYTE
}
