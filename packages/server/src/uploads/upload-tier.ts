import { BYTES_PER_MB } from '@lade/core/wire'
import { userPrincipal } from '../quotas/principal.ts'
import type { TokenClaims } from '../tokens/token-claims.ts'

/** What one caller may upload, and who is charged. */
export interface UploadTier {
  readonly name: 'sponsored' | 'token'
  readonly principal: string
  /** The user's email; null for sponsored uploads. */
  readonly owner: string | null
  readonly fileBytes: number
  readonly dailyBytes: number
  readonly concurrency: number
  readonly defaultTermDays: number
  readonly maxTermDays: number
}

/** The limits of the tiers, as configured. */
export interface TierLimits {
  readonly sponsored: {
    readonly fileBytes: number
    readonly dailyBytes: number
    readonly concurrency: number
    readonly termDays: number
  }
  readonly token: { readonly fileBytes: number; readonly concurrency: number; readonly termDays: number }
  readonly termMaxDays: number
}

/** The anonymous tier: charged to the caller's address, and no term longer than its default. */
export function sponsoredTier(limits: TierLimits, principal: string): UploadTier {
  const { fileBytes, dailyBytes, concurrency, termDays } = limits.sponsored
  return {
    name: 'sponsored',
    principal,
    owner: null,
    fileBytes,
    dailyBytes,
    concurrency,
    defaultTermDays: termDays,
    maxTermDays: termDays,
  }
}

/** The token tier: charged to the user, with the daily quota that the token carries. */
export function tokenTier(limits: TierLimits, claims: TokenClaims): UploadTier {
  const { fileBytes, concurrency, termDays } = limits.token
  return {
    name: 'token',
    principal: userPrincipal(claims.sub),
    owner: claims.email,
    fileBytes,
    dailyBytes: claims.quotaMb * BYTES_PER_MB,
    concurrency,
    defaultTermDays: termDays,
    maxTermDays: limits.termMaxDays,
  }
}
