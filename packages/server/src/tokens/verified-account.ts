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

/**
 * Refuses the scope `admin` where anyone can sign up from another machine: tokens there say nothing about who has them.
 *
 * @throws {LadeError} `admin_refused`.
 */
export function requireAdminAllowed(rules: AccountRules): void {
  if (!isVerifiedAccount('token', rules)) throw new LadeError('admin_refused', { setting: 'LADE_SIGNUP' })
}

/** @throws {LadeError} `unverified_account`. */
export function requireVerified({ isVerified }: { readonly isVerified: boolean }): void {
  if (!isVerified) throw new LadeError('unverified_account', { setting: 'LADE_SIGNUP' })
}
