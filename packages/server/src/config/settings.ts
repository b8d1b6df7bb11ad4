import { MAX_COPIES } from '@lade/core/wire'
import { addressForm, chainKeyForm, rpcForm, usdcForm, usdcPriceForm } from './chain-forms.ts'
import { mailFromForm, smtpForm } from './mail-forms.ts'
import { proversForm } from './prover-forms.ts'
import {
  accelForm,
  hostForm,
  hostsForm,
  oneOf,
  pathForm,
  proxiesForm,
  type SettingForm,
  secretForm,
  tokenKeyForm,
  urlForm,
  wholeNumber,
} from './setting-forms.ts'
import { databaseForm, storageForm } from './store-forms.ts'

/** One setting: a variable of the environment and the flag of `lade serve` of the same name. */
export interface Setting<Value = unknown> {
  /** The variable. The flag is derived from it by {@link flagOf}. */
  readonly name: `LADE_${string}`
  /** The text that is read when the setting is not given. Absent: the meaning says what happens then. */
  readonly default?: string
  /** What is shown as the default where there is no such text. */
  readonly shownDefault?: string
  /** One sentence: what it decides. */
  readonly meaning: string
  readonly form: SettingForm<Value>
  /** True for a value that no message may hold. */
  readonly isSecret?: boolean
  /** Values that make sense and that this build cannot serve, with the driver missing for them. */
  readonly lacks?: readonly { readonly matches: RegExp; readonly driver: string }[]
}

const MAXIMUM_MB = 1_000_000_000
const MAXIMUM_FILES = 1_000_000_000
const MAXIMUM_DAYS = 36_500
const MAXIMUM_GRACE_HOURS = 8760
/** A year: whatever is trusted for longer is trusted for good. */
const MAXIMUM_REVERIFY_MINUTES = 525_600
/** A day: whoever has such a URL can read the file until its time is over, whatever happens to it here. */
const MAXIMUM_REDIRECT_SECONDS = 86_400
/** No more than fits one aggregate that every prover takes. */
const MAXIMUM_AGGREGATED_MB = 256
/** EIP-2294: what every client can hold. */
const MAXIMUM_CHAIN_ID = 4_503_599_627_370_476

/** Every setting, in the order in which help and the configuration page show them. */
export const SETTINGS = {
  host: setting(hostForm, {
    name: 'LADE_HOST',
    default: '127.0.0.1',
    meaning: 'The address to listen on.',
  }),
  port: setting(wholeNumber(0, 65_535), {
    name: 'LADE_PORT',
    default: '8080',
    meaning: 'The port to listen on; 0 takes a free one.',
  }),
  publicUrl: setting(urlForm, {
    name: 'LADE_PUBLIC_URL',
    shownDefault: 'from host and port',
    meaning: 'The address under which callers reach this service, used in every URL that it answers.',
  }),
  contentUrl: setting(urlForm, {
    name: 'LADE_CONTENT_URL',
    shownDefault: 'the public URL',
    meaning: 'An origin of its own for retrieval, so that files which browsers run can be shown instead of downloaded.',
  }),
  dataDir: setting(pathForm, {
    name: 'LADE_DATA_DIR',
    default: './data',
    meaning: 'The directory of everything this service keeps, relative to the working directory.',
  }),
  database: setting(databaseForm, {
    name: 'LADE_DATABASE',
    shownDefault: 'sqlite:<data>/lade.db',
    meaning: 'Where the records are kept: in a file of SQLite, or in PostgreSQL for several machines.',
  }),
  databaseConnections: setting(wholeNumber(2, 1000), {
    name: 'LADE_DATABASE_CONNECTIONS',
    default: '16',
    meaning: 'How many connections to PostgreSQL each process opens at most, beside two that it always has.',
  }),
  storage: setting(storageForm, {
    name: 'LADE_STORAGE',
    shownDefault: 'file:<data>/objects',
    meaning: 'Where the bytes of files are kept; with none every upload and retrieval answers 503 storage_offline.',
  }),
  s3Redirect: setting(wholeNumber(0, MAXIMUM_REDIRECT_SECONDS), {
    name: 'LADE_S3_REDIRECT',
    default: '0',
    meaning:
      'For how many seconds a URL of the S3 storage is good that big public files are redirected to; with 0 every file is read by this service.',
  }),
  accel: setting(accelForm, {
    name: 'LADE_ACCEL',
    shownDefault: 'unset: every file is read by this service',
    meaning:
      'The internal location from which nginx sends big files by itself; needs a storage of files and the proxy in LADE_TRUSTED_PROXIES.',
  }),
  provers: setting(proversForm, {
    name: 'LADE_PROVER',
    default: 'local',
    meaning:
      'Who holds the files and proves that they do; 0xACCOUNT is the account of a prover on its chain, which deals are made with and Curio is paid at.',
  }),
  curioKey: setting(chainKeyForm, {
    name: 'LADE_CURIO_KEY',
    shownDefault: 'unset; needed by curio in LADE_PROVER',
    meaning:
      'The private key of the account that pays storage providers by FilecoinWarmStorageService, 0x and 64 hex digits; prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  redundancy: setting(wholeNumber(1, MAX_COPIES), {
    name: 'LADE_REDUNDANCY',
    default: '1',
    meaning: 'How many provers hold each file, unless its owner asks for another number.',
  }),
  stage: setting(oneOf('sync', 'async'), {
    name: 'LADE_STAGE',
    default: 'sync',
    meaning:
      'Whether an upload is answered when a prover has it (sync), or as soon as it is durable here, to be delivered afterwards (async).',
  }),
  aggregateBelowMb: setting(wholeNumber(0, MAXIMUM_AGGREGATED_MB), {
    name: 'LADE_AGGREGATE_BELOW_MB',
    default: '1',
    meaning:
      'Files smaller than this, in MB, are answered at once and handed to provers several at a time, as one aggregate; with 0 only those that provers are too big for.',
  }),
  aggregateSeconds: setting(wholeNumber(1, 86_400), {
    name: 'LADE_AGGREGATE_SECONDS',
    default: '60',
    meaning: 'How long a small file waits for others at most before it is handed on.',
  }),
  auditSeconds: setting(wholeNumber(1, 31_536_000), {
    name: 'LADE_AUDIT_SECONDS',
    default: '86400',
    meaning: 'How often every copy is challenged to prove that it is there.',
  }),
  tokenKey: setting(tokenKeyForm, {
    name: 'LADE_TOKEN_KEY',
    shownDefault: '<data>/token.key (HS256) or token.rs256.key, created at the first start',
    meaning:
      'The key that signs tokens: with HS256 64 or more hex digits, else base64 of at least 32 bytes, else any other text of at least 32 bytes as it is; with RS256 an RSA private key; prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  tokenAlg: setting(oneOf('HS256', 'RS256'), {
    name: 'LADE_TOKEN_ALG',
    default: 'HS256',
    meaning:
      'How tokens are signed: with a secret that only this service has (HS256), or with a key pair whose public half anyone can check them by (RS256).',
    lacks: [{ matches: /^((HS|RS)(384|512)|ES|PS|Ed)/i, driver: 'signing of that kind' }],
  }),
  tokenDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_TOKEN_DAYS',
    default: '30',
    meaning: 'The storage term of a file uploaded with a token, in days, unless the caller asks for another.',
  }),
  signup: setting(oneOf('open', 'email', 'closed'), {
    name: 'LADE_SIGNUP',
    default: 'open',
    meaning:
      'Who gets a token: anyone who names an email address (open), who reads the code that is mailed to it (email), or whom the operator mints one for (closed).',
  }),
  smtpUrl: setting(smtpForm, {
    name: 'LADE_SMTP_URL',
    shownDefault: 'unset; needed by LADE_SIGNUP=email',
    meaning:
      'The mail server that takes the codes: smtps speaks TLS from the start, smtp begins it when the server offers it, and must where a password goes to another machine; prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  mailFrom: setting(mailFromForm, {
    name: 'LADE_MAIL_FROM',
    shownDefault: 'unset; needed by LADE_SIGNUP=email',
    meaning: 'Whom the mail with a code comes from.',
  }),
  signupsPerHour: setting(wholeNumber(1, 1_000_000), {
    name: 'LADE_SIGNUPS_PER_HOUR',
    default: '10',
    meaning: 'How many signups one IP address may make in an hour.',
  }),
  queryToken: setting(oneOf('accept', 'refuse'), {
    name: 'LADE_QUERY_TOKEN',
    default: 'accept',
    meaning: 'Whether the deprecated ?token= is accepted in place of the Authorization header.',
  }),
  opaqueIds: setting(oneOf('accept', 'refuse'), {
    name: 'LADE_OPAQUE_IDS',
    default: 'accept',
    meaning: 'Whether files may be uploaded under ids that say nothing about their bytes.',
  }),
  inlineKb: setting(wholeNumber(0, 1024), {
    name: 'LADE_INLINE_KB',
    default: '64',
    meaning: 'Files up to this many KiB are kept in the database itself; 0 keeps none there.',
  }),
  sponsoredFileMb: setting(wholeNumber(1, MAXIMUM_MB), {
    name: 'LADE_SPONSORED_FILE_MB',
    default: '100',
    meaning: 'The largest file without a token, in MB of 1,048,576 bytes.',
  }),
  sponsoredDailyMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_SPONSORED_DAILY_MB',
    default: '200',
    meaning:
      'How much one IP address may upload in a UTC day without a token, in MB; 0 lets nobody upload without one; IPv6 counts by /64, and a /48 has 16 times as much.',
  }),
  sponsoredDailyFiles: setting(wholeNumber(1, MAXIMUM_FILES), {
    name: 'LADE_SPONSORED_DAILY_FILES',
    default: '2000',
    meaning:
      'How many files one IP address may upload in a UTC day without a token; IPv6 counts by /64, and a /48 has 16 times as many.',
  }),
  sponsoredConcurrency: setting(wholeNumber(1, 10_000), {
    name: 'LADE_SPONSORED_CONCURRENCY',
    default: '8',
    meaning: 'How many uploads one IP address may have in flight without a token.',
  }),
  sponsoredDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_SPONSORED_DAYS',
    default: '7',
    meaning: 'The storage term of a file uploaded without a token, in days.',
  }),
  tokenFileMb: setting(wholeNumber(1, MAXIMUM_MB), {
    name: 'LADE_TOKEN_FILE_MB',
    default: '5120',
    meaning: 'The largest file with a token, in MB.',
  }),
  tokenQuotaMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_TOKEN_QUOTA_MB',
    default: '1024',
    meaning: 'How much one user may upload in a UTC day, in MB, written into each new token.',
  }),
  tokenDailyFiles: setting(wholeNumber(1, MAXIMUM_FILES), {
    name: 'LADE_TOKEN_DAILY_FILES',
    default: '100000',
    meaning: 'How many files one user or wallet may upload in a UTC day.',
  }),
  tokenConcurrency: setting(wholeNumber(1, 10_000), {
    name: 'LADE_TOKEN_CONCURRENCY',
    default: '32',
    meaning: 'How many uploads one user may have in flight.',
  }),
  termMaxDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_TERM_MAX_DAYS',
    default: '365',
    meaning: 'The longest storage term that a caller may ask for, in days.',
  }),
  chainRpc: setting(rpcForm, {
    name: 'LADE_CHAIN_RPC',
    shownDefault: 'unset: wallets are no callers',
    meaning:
      'The endpoint of the chain on which the wallets of callers live, the only one that is asked; such URLs often hold a key, so prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  chainId: setting(wholeNumber(1, MAXIMUM_CHAIN_ID), {
    name: 'LADE_CHAIN_ID',
    shownDefault: 'as LADE_CHAIN_RPC says',
    meaning: 'The id that the chain must have, or the service does not start.',
  }),
  usdc: setting(addressForm, {
    name: 'LADE_USDC',
    shownDefault: 'unset; needed by LADE_CHAIN_RPC',
    meaning: 'The token contract whose balance is the daily quota of a wallet; 6 decimals, as USDC has.',
  }),
  usdcPerGib: setting(usdcForm, {
    name: 'LADE_USDC_PER_GIB',
    shownDefault: '1',
    meaning: 'How much USDC a wallet has to hold for each GiB that it may upload in a UTC day.',
  }),
  marketplace: setting(addressForm, {
    name: 'LADE_MARKETPLACE',
    shownDefault: 'unset: deals are synthetic',
    meaning: 'The contract with which a deal is made for every copy that a prover holds.',
  }),
  chainKey: setting(chainKeyForm, {
    name: 'LADE_CHAIN_KEY',
    shownDefault: 'unset; needed by LADE_MARKETPLACE',
    meaning:
      'The private key of the account that makes and pays the deals, 0x and 64 hex digits; prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  dealUsdcPerGibDay: setting(usdcPriceForm, {
    name: 'LADE_DEAL_USDC_PER_GIB_DAY',
    shownDefault: '0.0001',
    meaning: 'What is paid to provers, in USDC for each GiB and day, of padded bytes.',
  }),
  dealWaitMs: setting(wholeNumber(0, 600_000), {
    name: 'LADE_DEAL_WAIT_MS',
    default: '5000',
    meaning:
      'How long an upload waits for its deal on the chain before it is answered with the synthetic id; used with LADE_MARKETPLACE.',
  }),
  chainConfirmations: setting(wholeNumber(1, 1000), {
    name: 'LADE_CHAIN_CONFIRMATIONS',
    default: '2',
    meaning: 'How many blocks, its own counted, a deal must be in the chain for before its id is answered.',
  }),
  chainFinalityBlocks: setting(wholeNumber(1, 100_000), {
    name: 'LADE_CHAIN_FINALITY_BLOCKS',
    default: '64',
    meaning: 'After how many blocks a deal counts as final, and is not looked after any more.',
  }),
  trustedProxies: setting(proxiesForm, {
    name: 'LADE_TRUSTED_PROXIES',
    default: 'none',
    meaning: 'The proxies whose X-Forwarded-For is believed: addresses and CIDR ranges with commas between.',
  }),
  trustedHosts: setting(hostsForm, {
    name: 'LADE_TRUSTED_HOSTS',
    default: 'none',
    meaning:
      'Further hosts that this service answers for while it listens on a loopback address, such as that of a proxy; requests for any other host answer 421 misdirected_request.',
  }),
  minFreeMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_MIN_FREE_MB',
    default: '1024',
    meaning:
      'Uploads that would leave less than this free, in MB, on the disk of the records or of the objects answer 507 insufficient_storage.',
  }),
  discardGraceHours: setting(wholeNumber(0, MAXIMUM_GRACE_HOURS), {
    name: 'LADE_DISCARD_GRACE_HOURS',
    default: '24',
    meaning:
      'How many hours the bytes of a file stay after its term, so that an end under a wrong clock can be undone; a file that its owner removes goes at once.',
  }),
  scrubDays: setting(wholeNumber(0, MAXIMUM_DAYS), {
    name: 'LADE_SCRUB_DAYS',
    default: '30',
    meaning:
      'In how many days every stored file is read again and compared with its digest and with the records; 0 for never.',
  }),
  reverifyMinutes: setting(wholeNumber(0, MAXIMUM_REVERIFY_MINUTES), {
    name: 'LADE_REVERIFY_MINUTES',
    default: '60',
    meaning:
      'How many minutes stored bytes that were verified by a read are trusted before a read verifies them again; 0 verifies every read.',
  }),
  orphanDays: setting(wholeNumber(0, MAXIMUM_DAYS), {
    name: 'LADE_ORPHAN_DAYS',
    default: '30',
    meaning:
      'How many days stored bytes that the records do not know are kept before they are removed; 0 keeps them for good.',
  }),
  processes: setting(wholeNumber(1, 64), {
    name: 'LADE_PROCESSES',
    default: '1',
    meaning: 'How many processes share the port and the files.',
  }),
  maxConnections: setting(wholeNumber(16, 1_000_000), {
    name: 'LADE_MAX_CONNECTIONS',
    default: '4096',
    meaning:
      'How many connections each process accepts, or as many as its limit of open files has room for; one address holds at most a quarter of them.',
  }),
  metricsToken: setting(secretForm(16), {
    name: 'LADE_METRICS_TOKEN',
    shownDefault: 'unset: no /metrics',
    meaning:
      'The bearer token for /metrics, of 16 or more characters; prefer the variable, since other users of the machine can read flags.',
    isSecret: true,
  }),
  logLevel: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    name: 'LADE_LOG_LEVEL',
    default: 'info',
    meaning: 'The least severe event that is logged.',
  }),
  bodyIdleSeconds: setting(wholeNumber(1, 3600), {
    name: 'LADE_BODY_IDLE_SECONDS',
    default: '30',
    meaning: 'An upload that sends nothing for this long is ended.',
  }),
  drainSeconds: setting(wholeNumber(0, 3600), {
    name: 'LADE_DRAIN_SECONDS',
    default: '30',
    meaning: 'How long a stop waits for requests in flight.',
  }),
} as const

/** The typed value of every setting; those without a default may be absent. */
export type SettingValues = {
  readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key] extends Setting<infer Value> & { default: string }
    ? Value
    : (typeof SETTINGS)[Key] extends Setting<infer Value>
      ? Value | undefined
      : never
}

/**
 * The flag of a setting.
 *
 * @example
 * flagOf('LADE_SPONSORED_FILE_MB') // '--sponsored-file-mb'
 */
export function flagOf(name: string): `--${string}` {
  return `--${name.slice('LADE_'.length).toLowerCase().replaceAll('_', '-')}`
}

/** The default as people read it; every setting has one. */
export function shownDefaultOf(setting: Setting): string {
  return setting.default ?? setting.shownDefault ?? 'unset'
}

function setting<Value, const Facts extends Omit<Setting, 'form'>>(form: SettingForm<Value>, facts: Facts) {
  return { ...facts, form }
}
