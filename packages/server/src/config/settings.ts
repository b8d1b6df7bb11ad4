import { MAX_COPIES } from '@lade/core/wire'
import { addressForm, chainKeyForm, contractsForm, rpcForm, usdcForm, usdcPriceForm } from './chain-forms.ts'
import { mailFromForm, smtpForm } from './mail-forms.ts'
import { proversForm } from './prover-forms.ts'
import {
  accelForm,
  filesForm,
  hostForm,
  hostsForm,
  oneOf,
  pathForm,
  proxiesForm,
  type SettingForm,
  secretForm,
  sitesUrlForm,
  tokenKeyForm,
  urlForm,
  wholeNumber,
} from './setting-forms.ts'
import { databaseForm, storageForm } from './store-forms.ts'

/** One setting: a variable of the environment and the flag of `lade serve` of the same name. */
export interface Setting<Value = unknown> {
  /** The variable. The flag is derived from it by {@link flagOf}. */
  readonly name: `LADE_${string}`
  /** The text that is used when the setting is not given. Absent: see the meaning. */
  readonly default?: string
  /** What is shown as the default where there is no such text. */
  readonly shownDefault?: string
  /** What it decides, in one or two short sentences. */
  readonly meaning: string
  readonly form: SettingForm<Value>
  /** True for a value that must not appear in messages. */
  readonly isSecret?: boolean
  /** Values that this build does not support, and what it calls them in the message. */
  readonly lacks?: readonly { readonly matches: RegExp; readonly unsupported: string }[]
}

const MAXIMUM_MB = 1_000_000_000
const MAXIMUM_STORED_GB = 1_000_000
const MAXIMUM_FILES = 1_000_000_000
const MAXIMUM_DAYS = 36_500
const MAXIMUM_GRACE_HOURS = 8760
/** A year: bytes trusted for longer would be trusted forever. */
const MAXIMUM_REVERIFY_MINUTES = 525_600
/** A day: a redirect URL gives access to the file until it expires, even after the file is removed. */
const MAXIMUM_REDIRECT_SECONDS = 86_400
/** A year. */
const MAXIMUM_CACHE_SECONDS = 31_536_000
/** The size of an aggregate that every prover accepts. */
const MAXIMUM_AGGREGATED_MB = 256
/** The EIP-2294 maximum. */
const MAXIMUM_CHAIN_ID = 4_503_599_627_370_476

/** Every setting. {@link SETTING_GROUPS} says in which order help and the configuration page show them. */
export const SETTINGS = {
  host: setting(hostForm, {
    name: 'LADE_HOST',
    default: '127.0.0.1',
    meaning: 'The IP address or host name to listen on.',
  }),
  port: setting(wholeNumber(0, 65_535), {
    name: 'LADE_PORT',
    default: '8080',
    meaning: 'The TCP port to listen on; 0 picks a free one.',
  }),
  publicUrl: setting(urlForm, {
    name: 'LADE_PUBLIC_URL',
    shownDefault: 'from host and port',
    meaning: 'The public base URL of this service, used in every URL that it returns.',
  }),
  contentUrl: setting(urlForm, {
    name: 'LADE_CONTENT_URL',
    shownDefault: 'the public URL',
    meaning:
      'A separate origin for file downloads, on another registrable domain. If it is set, browsers show HTML, SVG, PDF and other active files instead of saving them. This origin serves only files, not the API or the console.',
  }),
  sitesUrl: setting(sitesUrlForm, {
    name: 'LADE_SITES_URL',
    shownDefault: 'no sites',
    meaning:
      'Hosts for uploaded sites: each root gets its own, which is its own origin, with scripts, service workers and _redirects. Browsers that open /ipfs/{root} at the domain behind *.ipfs., or at the host of LADE_PUBLIC_URL, are redirected to it. Use a domain that nothing else uses; see docs/operate/sites.md.',
  }),
  dataDir: setting(pathForm, {
    name: 'LADE_DATA_DIR',
    default: './data',
    meaning: 'The directory for everything that this service stores, relative to the working directory.',
  }),
  database: setting(databaseForm, {
    name: 'LADE_DATABASE',
    shownDefault: 'sqlite:<data>/lade.db',
    meaning: 'Where records are stored: an SQLite file, or PostgreSQL to run on several machines.',
  }),
  databaseConnections: setting(wholeNumber(2, 1000), {
    name: 'LADE_DATABASE_CONNECTIONS',
    default: '16',
    meaning:
      'Maximum PostgreSQL connections for reads and writes, per process. Each process opens two additional connections.',
  }),
  storage: setting(storageForm, {
    name: 'LADE_STORAGE',
    shownDefault: 'file:<data>/objects',
    meaning:
      'Where file bytes are stored: a directory or an S3 bucket. The value none turns file storage off: uploads and downloads get 503 storage_offline.',
  }),
  s3RedirectSeconds: setting(wholeNumber(0, MAXIMUM_REDIRECT_SECONDS), {
    name: 'LADE_S3_REDIRECT_SECONDS',
    default: '0',
    meaning:
      'Lifetime of S3 redirect URLs for big public files, in seconds. 0 turns redirects off: Lade sends every file itself.',
  }),
  cacheSeconds: setting(wholeNumber(0, MAXIMUM_CACHE_SECONDS), {
    name: 'LADE_CACHE_SECONDS',
    default: '3600',
    meaning:
      'Cache-Control max-age of public files, in seconds. It never exceeds the remaining term of the file. Browsers and proxies can serve a removed file from their cache until max-age has passed.',
  }),
  accel: setting(accelForm, {
    name: 'LADE_ACCEL',
    shownDefault: 'unset, so Lade sends every file itself',
    meaning:
      'The internal nginx location that sends big files (X-Accel-Redirect). LADE_STORAGE must be a directory, and LADE_TRUSTED_PROXIES must contain the address of nginx.',
  }),
  provers: setting(proversForm, {
    name: 'LADE_PROVER',
    default: 'local',
    meaning:
      'The provers that store the files and prove that they do. 0xACCOUNT is the onchain account of the prover. Onchain deals name this account, and payments to a Curio provider go to it.',
  }),
  curioKey: setting(chainKeyForm, {
    name: 'LADE_CURIO_KEY',
    shownDefault: 'unset; required by curio in LADE_PROVER',
    meaning:
      'The private key of the account that pays storage providers through FilecoinWarmStorageService, 0x and 64 hex digits. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  ipfsCopies: setting(wholeNumber(0, MAX_COPIES), {
    name: 'LADE_CURIO_IPFS_COPIES',
    default: '0',
    meaning:
      'The number of Curio providers that also get the CAR of each public file that was uploaded under an IPFS CID. They announce its blocks to IPFS, so that others find and fetch the file without Lade. Each CAR is stored and paid beside the copies of the file. 0 sends none.',
  }),
  redundancy: setting(wholeNumber(1, MAX_COPIES), {
    name: 'LADE_REDUNDANCY',
    default: '1',
    meaning: 'The number of provers that store each file, unless its owner asks for another number.',
  }),
  stage: setting(oneOf('sync', 'async'), {
    name: 'LADE_STAGE',
    default: 'sync',
    meaning:
      'When the response to an upload is sent: once a prover has the file (sync), or once the file is durable in Lade and queued for delivery (async).',
  }),
  aggregateBelowMb: setting(wholeNumber(0, MAXIMUM_AGGREGATED_MB), {
    name: 'LADE_AGGREGATE_BELOW_MB',
    default: '1',
    meaning:
      "Uploads of files below this size, in MB, are answered without waiting for a prover. Such files are sent to provers together, as one aggregate. With 0, Lade combines only files below a prover's minimum size.",
  }),
  aggregateSeconds: setting(wholeNumber(1, 86_400), {
    name: 'LADE_AGGREGATE_SECONDS',
    default: '60',
    meaning: 'The longest time a small file waits for an aggregate to fill, in seconds.',
  }),
  auditSeconds: setting(wholeNumber(1, 31_536_000), {
    name: 'LADE_AUDIT_SECONDS',
    default: '86400',
    meaning:
      'Interval between audits of each copy, in seconds. In an audit, the prover must prove that it stores the copy.',
  }),
  tokenKey: setting(tokenKeyForm, {
    name: 'LADE_TOKEN_KEY',
    shownDefault:
      'created at the first start, in <data>/token.key (HS256) or <data>/token.rs256.key (RS256) if the database is SQLite, and in the database if it is PostgreSQL',
    meaning:
      'The key that signs tokens. HS256: at least 64 hex digits, base64 of at least 32 bytes, or any other text of at least 32 bytes. RS256: an RSA private key. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  tokenAlg: setting(oneOf('HS256', 'RS256'), {
    name: 'LADE_TOKEN_ALG',
    default: 'HS256',
    meaning:
      'How tokens are signed: with a secret that only this service has (HS256), or with a key pair whose public key lets anyone verify them (RS256).',
    lacks: [{ matches: /^((HS|RS)(384|512)|ES|PS|Ed)/i, unsupported: 'that algorithm' }],
  }),
  tokenFileDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_TOKEN_FILE_DAYS',
    default: '30',
    meaning: 'The default storage term of a file uploaded with a token, in days. A caller can ask for another term.',
  }),
  signup: setting(oneOf('open', 'email', 'closed'), {
    name: 'LADE_SIGNUP',
    default: 'open',
    meaning:
      'Who can get a token. open: anyone, with any email address. email: anyone who enters a code mailed to the address. closed: only people for whom you mint a token. If signup is open, users with a token can have private files only while the listen address and the public URL are loopback addresses.',
  }),
  smtpUrl: setting(smtpForm, {
    name: 'LADE_SMTP_URL',
    shownDefault: 'unset; required by LADE_SIGNUP=email',
    meaning:
      'The mail server that sends login codes. smtps uses TLS from the start. smtp switches to TLS if the server offers it. Lade sends the password only over TLS, unless the mail server is on this machine. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  mailFrom: setting(mailFromForm, {
    name: 'LADE_MAIL_FROM',
    shownDefault: 'unset; required by LADE_SIGNUP=email',
    meaning: 'The sender of mails with login codes.',
  }),
  signupsPerHour: setting(wholeNumber(1, 1_000_000), {
    name: 'LADE_SIGNUPS_PER_HOUR',
    default: '10',
    meaning:
      'Maximum signups, requests for a login code, and sign-ins by email to the console, together per IP address and hour. Not applied to requests from this machine while host and public URL are loopback addresses.',
  }),
  queryToken: setting(oneOf('accept', 'refuse'), {
    name: 'LADE_QUERY_TOKEN',
    default: 'accept',
    meaning: 'Whether the deprecated ?token= is accepted instead of the Authorization header.',
  }),
  opaqueIds: setting(oneOf('accept', 'refuse'), {
    name: 'LADE_OPAQUE_IDS',
    default: 'accept',
    meaning: 'Whether uploads can use opaque ids, which Lade cannot verify against the bytes.',
  }),
  inlineKb: setting(wholeNumber(0, 1024), {
    name: 'LADE_INLINE_KB',
    default: '64',
    meaning: 'Files up to this size, in KiB, are stored in the database. 0 stores every file in LADE_STORAGE.',
  }),
  sponsoredFileMb: setting(wholeNumber(1, MAXIMUM_MB), {
    name: 'LADE_SPONSORED_FILE_MB',
    default: '100',
    meaning: 'The largest upload without a token, in MB of 1,048,576 bytes.',
  }),
  sponsoredDailyMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_SPONSORED_DAILY_MB',
    default: '200',
    meaning:
      'The daily quota of an IP address without a token, in MB per UTC day. 0 disables uploads without a token. All IPv6 addresses in a /64 share one quota. All addresses in a /48 together can use 16 times that quota.',
  }),
  sponsoredDailyFiles: setting(wholeNumber(1, MAXIMUM_FILES), {
    name: 'LADE_SPONSORED_DAILY_FILES',
    default: '2000',
    meaning:
      'The daily quota of an IP address without a token, in files per UTC day. All IPv6 addresses in a /64 share one quota. All addresses in a /48 together can use 16 times that quota.',
  }),
  sponsoredStoredGb: setting(wholeNumber(0, MAXIMUM_STORED_GB), {
    name: 'LADE_SPONSORED_STORED_GB',
    default: '0',
    meaning:
      'How much an IP address without a token can have stored at a time, in GB of 1,073,741,824 bytes. 0 sets no limit. IPv6 addresses share it per /64; each /48 has 16 times as much.',
  }),
  sponsoredConcurrency: setting(wholeNumber(1, 10_000), {
    name: 'LADE_SPONSORED_CONCURRENCY',
    default: '8',
    meaning: 'Maximum simultaneous uploads per IP address without a token.',
  }),
  sponsoredFileDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_SPONSORED_FILE_DAYS',
    default: '7',
    meaning: 'The storage term of a file uploaded without a token, in days.',
  }),
  tokenFileMb: setting(wholeNumber(1, MAXIMUM_MB), {
    name: 'LADE_TOKEN_FILE_MB',
    default: '5120',
    meaning: 'The largest upload with a token, in MB.',
  }),
  tokenDailyMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_TOKEN_DAILY_MB',
    default: '1024',
    meaning:
      'The daily quota of a new token, in MB per UTC day. Existing tokens keep their quotas. All tokens of a user together share one more quota: the largest of their quotas, or LADE_TOKEN_DAILY_MB if that is larger. `lade admin limit` replaces this shared quota with a higher or lower one.',
  }),
  tokenDailyFiles: setting(wholeNumber(1, MAXIMUM_FILES), {
    name: 'LADE_TOKEN_DAILY_FILES',
    default: '100000',
    meaning: 'The daily quota of a user or wallet, in files per UTC day.',
  }),
  tokenStoredGb: setting(wholeNumber(0, MAXIMUM_STORED_GB), {
    name: 'LADE_TOKEN_STORED_GB',
    default: '0',
    meaning:
      'How much a user or wallet can have stored at a time, in GB of 1,073,741,824 bytes. 0 sets no limit. An operator can set another limit for one caller.',
  }),
  tokenConcurrency: setting(wholeNumber(1, 10_000), {
    name: 'LADE_TOKEN_CONCURRENCY',
    default: '32',
    meaning: 'Maximum simultaneous uploads per user.',
  }),
  termMaxDays: setting(wholeNumber(1, MAXIMUM_DAYS), {
    name: 'LADE_TERM_MAX_DAYS',
    default: '365',
    meaning: 'The longest storage term that a caller can ask for, in days.',
  }),
  chainRpc: setting(rpcForm, {
    name: 'LADE_CHAIN_RPC',
    shownDefault: 'unset, so wallets are disabled',
    meaning:
      'The RPC endpoint of the chain that wallets use. Lade queries no other chain. Such URLs often contain a key. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  chainId: setting(wholeNumber(1, MAXIMUM_CHAIN_ID), {
    name: 'LADE_CHAIN_ID',
    shownDefault: 'the id that LADE_CHAIN_RPC reports',
    meaning: 'The expected chain id. The service does not start on another chain.',
  }),
  usdc: setting(addressForm, {
    name: 'LADE_USDC',
    shownDefault: 'unset; required by LADE_CHAIN_RPC',
    meaning: 'The token contract whose balance sets the daily quota of a wallet. It must have 6 decimals, like USDC.',
  }),
  usdcPerGib: setting(usdcForm, {
    name: 'LADE_USDC_PER_GIB',
    shownDefault: '1',
    meaning: 'The USDC a wallet must hold for each GiB of daily quota.',
  }),
  walletBalanceBlocks: setting(wholeNumber(1, 10_000), {
    name: 'LADE_WALLET_BALANCE_BLOCKS',
    default: '128',
    meaning:
      'Number of newest blocks whose least balance sets the quota of a wallet, so that passed-on USDC does not count for several. 1: the balance now. Used with LADE_CHAIN_RPC.',
  }),
  walletAddressMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_WALLET_MB_PER_ADDRESS',
    default: '2048',
    meaning:
      'How much all wallets that use one IP address (IPv6: one /64) may upload together per UTC day, in MiB. A wallet whose own quota is higher has that. Used with LADE_CHAIN_RPC.',
  }),
  marketplace: setting(contractsForm, {
    name: 'LADE_MARKETPLACE',
    shownDefault: 'unset, so deals exist only in Lade, not onchain',
    meaning:
      'The marketplace contract, which records a deal for every copy that a prover stores, or the address file that lade chain deploy wrote. Several, comma-separated: new deals are made with the first, and deals of the others are kept until they end.',
  }),
  chainKey: setting(chainKeyForm, {
    name: 'LADE_CHAIN_KEY',
    shownDefault: 'unset; required by LADE_MARKETPLACE',
    meaning:
      'The private key of the account that creates and pays for deals, 0x and 64 hex digits. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  dealUsdcPerGibDay: setting(usdcPriceForm, {
    name: 'LADE_DEAL_USDC_PER_GIB_DAY',
    shownDefault: '0.0001',
    meaning: 'The price that provers are paid, in USDC per day and GiB of padded bytes.',
  }),
  dealBondPercent: setting(wholeNumber(0, 1_000), {
    name: 'LADE_DEAL_BOND_PERCENT',
    default: '0',
    meaning:
      'The bond that a prover must put up to accept a deal, in percent of the pay. It loses a tenth for each missed proof. Provers accept bonds only if they are configured to. Used with LADE_MARKETPLACE; contracts of version 1 have no bonds.',
  }),
  dealUsdcPerDay: setting(usdcPriceForm, {
    name: 'LADE_DEAL_USDC_PER_DAY',
    shownDefault: 'unset, so only the balance limits it',
    meaning:
      'The most USDC that new deals and extensions put in escrow per UTC day. Further ones wait for the next day.',
  }),
  chainFeeCapGwei: setting(wholeNumber(1, 1_000_000), {
    name: 'LADE_CHAIN_FEE_CAP_GWEI',
    default: '500',
    meaning:
      'The most that a transaction offers per unit of gas, in gwei. While the chain asks for more, transactions wait. Used with LADE_MARKETPLACE.',
  }),
  dealWaitMs: setting(wholeNumber(0, 600_000), {
    name: 'LADE_DEAL_WAIT_MS',
    default: '5000',
    meaning:
      'How long an upload waits for its onchain deal, in milliseconds. After that, the response has the id that Lade gave the deal (d-0x…) instead of the onchain id. Used with LADE_MARKETPLACE.',
  }),
  chainConfirmations: setting(wholeNumber(1, 1000), {
    name: 'LADE_CHAIN_CONFIRMATIONS',
    default: '2',
    meaning:
      'Number of confirmations before the onchain id of a deal is returned. The block with the deal counts as the first.',
  }),
  chainFinalityBlocks: setting(wholeNumber(1, 100_000), {
    name: 'LADE_CHAIN_FINALITY_BLOCKS',
    default: '64',
    meaning: 'Number of blocks after which a deal is final and no longer checked.',
  }),
  denylists: setting(filesForm, {
    name: 'LADE_DENYLIST',
    default: 'none',
    meaning:
      'Files with denylists (IPIP-0383), comma-separated, relative to the working directory. Read again when they change.',
  }),
  trustedProxies: setting(proxiesForm, {
    name: 'LADE_TRUSTED_PROXIES',
    default: 'none',
    meaning:
      'The proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host are trusted: comma-separated addresses and CIDR ranges.',
  }),
  trustedHosts: setting(hostsForm, {
    name: 'LADE_TRUSTED_HOSTS',
    default: 'none',
    meaning:
      'Additional host names of this service, such as the public name of a proxy. On a loopback address, Lade accepts only loopback names, the hosts of LADE_PUBLIC_URL, LADE_CONTENT_URL and LADE_SITES_URL, and these names; requests for other names get 421 misdirected_request. On any other address, Lade accepts every name. Without LADE_PUBLIC_URL, the URLs that it returns on 0.0.0.0 contain the requested name if it is listed here, and localhost otherwise. URLs with localhost work only on this machine.',
  }),
  minFreeMb: setting(wholeNumber(0, MAXIMUM_MB), {
    name: 'LADE_MIN_FREE_MB',
    default: '1024',
    meaning:
      'Minimum free space, in MB, on the disks of the database and the file storage. Uploads that would leave less free space get 507 insufficient_storage.',
  }),
  discardGraceHours: setting(wholeNumber(0, MAXIMUM_GRACE_HOURS), {
    name: 'LADE_DISCARD_GRACE_HOURS',
    default: '24',
    meaning:
      'How long the bytes of an expired file stay stored, in hours. If a wrong clock expired a file and the clock is corrected within this time, Lade restores the file. Files that their owner removes are deleted at once.',
  }),
  scrubDays: setting(wholeNumber(0, MAXIMUM_DAYS), {
    name: 'LADE_SCRUB_DAYS',
    default: '30',
    meaning:
      'Number of days in which every stored file is read once and compared with its digest and its record. 0 turns scrubbing off.',
  }),
  reverifyMinutes: setting(wholeNumber(0, MAXIMUM_REVERIFY_MINUTES), {
    name: 'LADE_REVERIFY_MINUTES',
    default: '60',
    meaning:
      'How long stored bytes are trusted after a read has verified them, in minutes. With 0, every read verifies them.',
  }),
  orphanDays: setting(wholeNumber(0, MAXIMUM_DAYS), {
    name: 'LADE_ORPHAN_DAYS',
    default: '30',
    meaning: 'How long stored files that are not in the database are kept, in days. With 0, Lade never removes them.',
  }),
  tombstoneDays: setting(wholeNumber(0, MAXIMUM_DAYS), {
    name: 'LADE_TOMBSTONE_DAYS',
    default: '90',
    meaning:
      'How many days after a file or token has expired or was removed Lade erases its personal data: the name, type and owner of the file, the IP address of an anonymous upload, and the token. The file leaves the database as well; only what 410 and the charges of days need stays. 0 keeps all of it forever.',
  }),
  processes: setting(wholeNumber(1, 64), {
    name: 'LADE_PROCESSES',
    default: '1',
    meaning: 'The number of processes that share the port and the files.',
  }),
  maxConnections: setting(wholeNumber(16, 1_000_000), {
    name: 'LADE_MAX_CONNECTIONS',
    default: '4096',
    meaning:
      'Maximum connections per process. Lade lowers it if the open-file limit (ulimit -n) is too low. One IP address can use at most a quarter of them, except addresses in LADE_TRUSTED_PROXIES. The limit per IP address does not apply while Lade listens on a loopback address.',
  }),
  metricsToken: setting(secretForm(16), {
    name: 'LADE_METRICS_TOKEN',
    shownDefault: 'unset, so there is no /metrics',
    meaning:
      'The bearer token for /metrics, at least 16 characters. Prefer the variable: other users of the machine can read flags.',
    isSecret: true,
  }),
  logLevel: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    name: 'LADE_LOG_LEVEL',
    default: 'info',
    meaning: 'The least severe level that is logged.',
  }),
  logAddresses: setting(oneOf('full', 'network', 'none'), {
    name: 'LADE_LOG_ADDRESSES',
    default: 'full',
    meaning: 'How much of each IP address is logged: full, network (/24 of IPv4, /48 of IPv6) or none.',
  }),
  bodyIdleSeconds: setting(wholeNumber(1, 3600), {
    name: 'LADE_BODY_IDLE_SECONDS',
    default: '30',
    meaning: 'Seconds without data after which an upload is cancelled.',
  }),
  drainSeconds: setting(wholeNumber(0, 3600), {
    name: 'LADE_DRAIN_SECONDS',
    default: '30',
    meaning: 'How long a shutdown waits for running requests, in seconds.',
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
