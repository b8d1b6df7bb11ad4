import type { ChangeRights } from '../files/change-file.ts'
import { type AccountRules, isVerifiedAccount } from '../tokens/verified-account.ts'
import type { Caller } from './caller.ts'
import { isLoopbackOnly } from './known-host.ts'
import type { Service } from './service.ts'

/** What a caller may change of its files. */
export function rightsOf(service: Service, { tier, scopes }: Pick<Caller, 'tier' | 'scopes'>): ChangeRights {
  return { scopes, isVerified: isVerifiedAccount(tier, accountRulesOf(service)) }
}

/** What decides whether tokens of this service belong to whom they name. */
export function accountRulesOf(service: Pick<Service, 'config' | 'publicUrl'>): AccountRules {
  const { signup, host } = service.config
  return { signup, isLoopbackOnly: isLoopbackOnly({ host, publicUrl: service.publicUrl() }) }
}

/** Whether a caller may act as the operator here. */
export function isAdmin(service: Service, { scopes }: Pick<Caller, 'scopes'>): boolean {
  return scopes.includes('admin') && isVerifiedAccount('token', accountRulesOf(service))
}
