import { BYTES_PER_MB, SCOPES, type Scope } from '@lade/core/wire'
import { userPrincipal, walletPrincipal } from '../quotas/principal.ts'
import type { TokenClaims } from '../tokens/token-claims.ts'
import { type Wallet, walletUserId } from '../wallets/wallet.ts'
import type { WalletChain } from '../wallets/wallet-chains.ts'
import { walletQuotaBytes } from '../wallets/wallet-quota.ts'

/** Who asks, however it was shown: a user by a token, a wallet by a signature or by a token that it signed in for. */
export interface Caller {
  /** Whose files and quota these are. */
  readonly principal: string
  /** The tier that uploads are in. */
  readonly tier: 'token' | 'wallet'
  readonly userId: string
  /** Null for a wallet. */
  readonly email: string | null
  /** What its files show: the email, or the address. */
  readonly owner: string
  readonly scopes: readonly Scope[]
  /** Of the token, or of the one that the session was made from; undefined for a signature, and for other sessions. */
  readonly jti: string | undefined
  /** Undefined unless the caller is known by the cookie of a session. */
  readonly sessionId: string | undefined
  /** What may be uploaded in a day. @throws {LadeError} `chain_offline`, `over_budget`. */
  quotaBytes(): Promise<number>
}

/** What a user's token says, or a session of a user. */
export interface UserFacts extends Pick<TokenClaims, 'sub' | 'email' | 'scopes' | 'quotaMb'> {
  readonly jti: string | undefined
  readonly sessionId?: string | undefined
}

export function userCaller({ sub, email, scopes, quotaMb, jti, sessionId }: UserFacts): Caller {
  return {
    principal: userPrincipal(sub),
    tier: 'token',
    userId: sub,
    email,
    owner: email,
    scopes,
    jti,
    sessionId,
    quotaBytes: async () => quotaMb * BYTES_PER_MB,
  }
}

/** What limits a wallet that shows a token or a session. */
export interface WalletFacts {
  readonly jti?: string | undefined
  readonly scopes?: readonly Scope[] | undefined
  readonly sessionId?: string | undefined
}

/** @param shown - what the token or the session says, where the wallet shows one. */
export function walletCaller(
  wallet: Wallet,
  rules: { readonly chain: WalletChain; readonly microUsdcPerGib: bigint },
  shown: WalletFacts = {},
): Caller {
  return {
    principal: walletPrincipal(wallet),
    tier: 'wallet',
    userId: walletUserId(wallet),
    email: null,
    owner: wallet.address,
    scopes: shown.scopes ?? SCOPES,
    jti: shown.jti,
    sessionId: shown.sessionId,
    quotaBytes: () => walletQuotaBytes(rules, wallet),
  }
}
