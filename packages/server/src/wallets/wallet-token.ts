import { LadeError } from '@lade/core/errors'
import { SCOPES } from '@lade/core/wire'
import type { WalletClaims } from '../tokens/wallet-claims.ts'
import { type Wallet, walletOfUserId, walletUserId } from './wallet.ts'

/** How long a token that a wallet signed in for is good. A wallet gets the next one by another signature, so it is short. */
const MAXIMUM_SECONDS = 15 * 60

/** What makes a token good here and nowhere else. */
export interface WalletAudience {
  /** Scheme and authority of this service. */
  readonly origin: string
  readonly chainId: number
}

/**
 * The claims of the token that a wallet gets for signing in: all scopes, 15 minutes.
 *
 * @param notAfter - epoch milliseconds beyond which the wallet does not want to be signed in.
 */
export function walletClaims(
  wallet: Wallet,
  { origin, now, notAfter, jti }: { origin: string; now: number; notAfter: number; jti: string },
): WalletClaims {
  const iat = Math.floor(now / 1000)
  const exp = Math.min(iat + MAXIMUM_SECONDS, Math.floor(notAfter / 1000))
  return { sub: walletUserId(wallet), aud: origin, scopes: SCOPES, iat, exp, jti }
}

/**
 * The wallet that a token was given to.
 *
 * @throws {LadeError} `invalid_token` for a token of another service or another chain, which signed with the same key.
 */
export function walletOfClaims({ sub, aud }: WalletClaims, audience: WalletAudience | undefined): Wallet {
  const wallet = walletOfUserId(sub)
  if (wallet === undefined || audience?.origin !== aud || audience.chainId !== wallet.chainId)
    throw new LadeError('invalid_token', {})
  return wallet
}
