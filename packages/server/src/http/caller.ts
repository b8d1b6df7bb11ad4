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
  /** Of the token; undefined for a signature. */
  readonly jti: string | undefined
  /** What may be uploaded in a day. @throws {LadeError} `chain_offline`, `over_budget`. */
  quotaBytes(): Promise<number>
}

export function userCaller({ sub, email, scopes, quotaMb, jti }: TokenClaims): Caller {
  return {
    principal: userPrincipal(sub),
    tier: 'token',
    userId: sub,
    email,
    owner: email,
    scopes,
    jti,
    quotaBytes: async () => quotaMb * BYTES_PER_MB,
  }
}

/** @param token - what the token says, where the wallet shows one. */
export function walletCaller(
  wallet: Wallet,
  rules: { readonly chain: WalletChain; readonly microUsdcPerGib: bigint },
  token: { readonly jti?: string; readonly scopes?: readonly Scope[] } = {},
): Caller {
  return {
    principal: walletPrincipal(wallet),
    tier: 'wallet',
    userId: walletUserId(wallet),
    email: null,
    owner: wallet.address,
    scopes: token.scopes ?? SCOPES,
    jti: token.jti,
    quotaBytes: () => walletQuotaBytes(rules, wallet),
  }
}
