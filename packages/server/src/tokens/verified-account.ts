import { LadeError } from '@lade/core/errors'

/** What decides whether tokens belong to whom they name. */
export interface AccountRules {
  readonly signup: 'open' | 'email' | 'closed'
  /** True when only this machine reaches the service. */
  readonly isLoopbackOnly: boolean
}

/**
 * Whether a caller is known to be who it says: a wallet by its signature; a user where addresses are confirmed, or where only this machine
 * reaches the service. With open signup, everybody else gets a token for any address, and reads its private files.
 */
export function isVerifiedAccount(tier: 'token' | 'wallet', { signup, isLoopbackOnly }: AccountRules): boolean {
  return tier === 'wallet' || signup !== 'open' || isLoopbackOnly
}

/** @throws {LadeError} `unverified_account`. */
export function requireVerified({ isVerified }: { readonly isVerified: boolean }): void {
  if (!isVerified) throw new LadeError('unverified_account', { setting: 'LADE_SIGNUP' })
}
