import type { ChangeRights } from '../files/change-file.ts'
import { isVerifiedAccount } from '../tokens/verified-account.ts'
import type { Caller } from './caller.ts'
import { isLoopbackOnly } from './known-host.ts'
import type { Service } from './service.ts'

/** What a caller may change of its files. */
export function rightsOf(service: Service, { tier, scopes }: Pick<Caller, 'tier' | 'scopes'>): ChangeRights {
  const { signup, host } = service.config
  const isLocal = isLoopbackOnly({ host, publicUrl: service.publicUrl() })
  return { scopes, isVerified: isVerifiedAccount(tier, { signup, isLoopbackOnly: isLocal }) }
}
