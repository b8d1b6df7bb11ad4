import { BYTES_PER_MB } from '@lade/core/wire'
import type { ChangeRights } from '../files/change-file.ts'
import { addressAsToken } from '../quota-rule/address-as-token.ts'
import type { AskingToken } from '../records/record-store.ts'

/** What one caller may upload, and who is charged. */
export interface UploadTier {
  readonly name: 'sponsored' | 'token' | 'wallet'
  readonly principal: string
  /** The user's email or the wallet's address; null for sponsored uploads. */
  readonly owner: string | null
  readonly fileBytes: number
  /** Before what is set for single callers, and for tokens. */
  readonly dailyBytes: number
  readonly dailyFiles: number
  /** How much may be stored at a time; undefined for no limit. */
  readonly storedBytes?: number | undefined
  /** What asks, where that has a quota of its own. */
  readonly token?: AskingToken | undefined
  readonly concurrency: number
  readonly defaultTermDays: number
  readonly maxTermDays: number
  /** What an upload may change of a file that the caller has already; undefined where callers share a principal, who change nothing. */
  readonly rights: ChangeRights | undefined
  /** What a token would allow, for who has none. */
  readonly withToken?: { readonly fileBytes: number; readonly dailyBytes: number }
}

/** The limits of the tiers, as configured. */
export interface TierLimits {
  readonly sponsored: {
    readonly fileBytes: number
    readonly dailyBytes: number
    readonly dailyFiles: number
    readonly storedBytes?: number | undefined
    readonly concurrency: number
    readonly termDays: number
  }
  /** Of wallets as well. */
  readonly token: {
    readonly fileBytes: number
    readonly quotaMb: number
    readonly dailyFiles: number
    readonly storedBytes?: number | undefined
    readonly concurrency: number
    readonly termDays: number
  }
  readonly termMaxDays: number
}

/** The anonymous tier: charged to the caller's address, and no term longer than its default. */
export function sponsoredTier(limits: TierLimits, principal: string): UploadTier {
  const { fileBytes, dailyBytes, dailyFiles, storedBytes, concurrency, termDays } = limits.sponsored
  return {
    name: 'sponsored',
    principal,
    owner: null,
    fileBytes,
    dailyBytes,
    dailyFiles,
    storedBytes,
    concurrency,
    defaultTermDays: termDays,
    maxTermDays: termDays,
    rights: undefined,
    withToken: { fileBytes: limits.token.fileBytes, dailyBytes: limits.token.quotaMb * BYTES_PER_MB },
  }
}

/** Who uploads, and what of it in a day. */
export interface Payer {
  readonly principal: string
  readonly owner: string
  readonly dailyBytes: number
  readonly token?: AskingToken | undefined
  readonly rights: ChangeRights
}

/** The token tier: charged to the user, and to the token, which has a daily quota of its own. */
export function tokenTier(limits: TierLimits, payer: Payer): UploadTier {
  const { fileBytes, dailyFiles, storedBytes, concurrency, termDays } = limits.token
  return {
    name: 'token',
    ...payer,
    fileBytes,
    dailyFiles,
    storedBytes,
    concurrency,
    defaultTermDays: termDays,
    maxTermDays: limits.termMaxDays,
  }
}

/**
 * The wallet tier: charged to the wallet, with what it holds for the day; a file may be as large as the disk takes. All wallets that use a
 * client address share what it has, or what the wallet that asks has, where that is more.
 *
 * @param address.principal - such as `ip:192.0.2.7`.
 */
export function walletTier(
  limits: TierLimits,
  payer: Omit<Payer, 'token'>,
  address: { readonly principal: string; readonly dailyBytes: number },
): UploadTier {
  const token = addressAsToken(address.principal, Math.max(address.dailyBytes, payer.dailyBytes))
  return { ...tokenTier(limits, { ...payer, token }), name: 'wallet', fileBytes: Number.MAX_SAFE_INTEGER }
}
