import type { Moderation } from '../moderation/moderation.ts'
import { userPrincipal } from '../quotas/principal.ts'
import { userIdOf } from './email.ts'

/** @param email - normalized. @throws {LadeError} `caller_blocked` for the address of a blocked user. */
export function refuseBlockedEmail({ callers }: Pick<Moderation, 'callers'>, email: string): void {
  const refusal = callers.ofPrincipal(userPrincipal(userIdOf(email)))
  if (refusal !== undefined) throw refusal
}
