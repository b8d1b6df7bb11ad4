import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { DEFAULT_RETRY_RULES, type RetryRules } from './retries.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** Which bucket, how to reach it, and how calls are split and retried. */
export interface S3BlobStoreOptions {
  readonly bucket: string
  /** In front of every key; empty, or ending in a slash. */
  readonly prefix: string
  /** @default the service of AWS */
  readonly endpoint?: string | undefined
  /** @default `us-east-1` where there is an endpoint, else what the environment says */
  readonly region?: string | undefined
  /** True when the bucket is named in the path and not in the host's name. @default true where there is an endpoint */
  readonly pathStyle?: boolean | undefined
  /** @default what the SDK finds: the environment, the shared files, the machine's role */
  readonly credentials?: S3ClientConfig['credentials']
  /**
   * What is uploaded at a time. A blob of at most this size is held in memory and put by one request; a larger one holds
   * at most five of these. S3 takes no part below 5 MiB. @default 8_388_608
   */
  readonly partBytes?: number
  /** From which size on a copy within the store is made in pieces. S3 copies at most 5 GiB at once. @default 1_073_741_824 */
  readonly copyAtMostBytes?: number
  /** How long a URL of `locate` is good for, at most 7 days. @default 900 */
  readonly redirectSeconds?: number
  /** How many connections there are at most for bodies that are read, for copies, and for everything else. @default 64 */
  readonly maxSockets?: number
  /** @default 3_000 */
  readonly connectMs?: number
  /** How long a connection may stand still. The copying and the completing of big blobs may take six times that. @default 10_000 */
  readonly silenceMs?: number
  readonly retry?: Partial<RetryRules>
  /**
   * The puts of a digest that the records know, the one that stays first. Asked before a blob is opened, unless it was just before.
   * @default the bucket is listed
   */
  readonly putsOf?: ((sha256: string) => Promise<readonly string[]>) | undefined
  /** When the SDK itself adds checksums. More than `WHEN_REQUIRED` is refused by many stores. @default 'WHEN_REQUIRED' */
  readonly sdkChecksums?: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED'
  /** Told once for every thing that the store turns out not to know. @default nobody */
  readonly onTrait?: (sentence: string) => void
  /** Told of every call that is tried again. @default nobody */
  readonly onRetry?: (() => void) | undefined
  /** What sends the requests, for tests. @default the SDK's own for Node */
  readonly requestHandler?: S3ClientConfig['requestHandler']
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number
}

/** The options with nothing left open. */
export interface S3Settings {
  readonly bucket: string
  readonly prefix: string
  readonly partBytes: number
  readonly copyAtMostBytes: number
  readonly redirectSeconds: number
  readonly retry: RetryRules
  readonly putsOf: S3BlobStoreOptions['putsOf']
  readonly now: () => number
}

/** @throws {TypeError} for sizes and times that cannot be. */
export function settingsOf(options: S3BlobStoreOptions): S3Settings {
  const { partBytes = 8 * MIB, copyAtMostBytes = GIB, redirectSeconds = 900 } = options
  requireWithin('partBytes', partBytes, 5 * GIB)
  requireWithin('copyAtMostBytes', copyAtMostBytes, 5 * GIB)
  requireWithin('redirectSeconds', redirectSeconds, 604_800)
  if (options.prefix !== '' && !options.prefix.endsWith('/')) throw new TypeError('prefix is empty or ends in a slash.')
  return {
    bucket: options.bucket,
    prefix: options.prefix,
    partBytes,
    copyAtMostBytes,
    redirectSeconds,
    retry: { ...DEFAULT_RETRY_RULES, ...options.retry },
    putsOf: options.putsOf,
    now: options.now ?? Date.now,
  }
}

function requireWithin(name: string, value: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw new TypeError(`${name} is a whole number from 1 to ${most}.`)
}
