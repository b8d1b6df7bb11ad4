import type { IncomingMessage } from 'node:http'
import { BYTES_PER_MB } from '@lade/core/wire'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { requireScope } from '../../../tokens/authorize.ts'
import { sponsoredTier, tokenTier, type UploadTier, walletTier } from '../../../uploads/upload-tier.ts'
import { findCaller } from '../../authenticate.ts'
import type { Caller } from '../../caller.ts'
import { rightsOf } from '../../caller-rights.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'

/** What a user is charged by that shows no token. */
const NO_TOKEN = '-'

/**
 * The tier of whoever asks to put something: the token's or the wallet's, or the sponsored one without either.
 *
 * @throws {LadeError} `insufficient_scope`, `chain_offline`, and what looking at credentials can.
 */
export async function tierOf(service: Service, request: IncomingMessage, query: Query): Promise<UploadTier> {
  const caller = await findCaller(service, request, query)
  if (caller === undefined) {
    return sponsoredTier(service.config, addressPrincipal(service.clientAddress(request)))
  }
  requireScope(caller, 'put')
  return accountTierOf(service, request, caller)
}

/** The tier of a caller with credentials. @throws {LadeError} `chain_offline`, `over_budget`. */
export async function accountTierOf(service: Service, request: IncomingMessage, caller: Caller): Promise<UploadTier> {
  const { principal, owner } = caller
  const rights = rightsOf(service, caller)
  const dailyBytes = await caller.quotaBytes()
  if (caller.tier === 'wallet') {
    const address = {
      principal: addressPrincipal(service.clientAddress(request)),
      dailyBytes: service.config.chain?.addressBytes ?? 0,
    }
    return walletTier(service.config, { principal, owner, rights, dailyBytes }, address)
  }
  const token = { id: caller.jti ?? NO_TOKEN, capBytes: dailyBytes }
  const ofUser = Math.max(dailyBytes, service.config.token.quotaMb * BYTES_PER_MB)
  return tokenTier(service.config, { principal, owner, rights, dailyBytes: ofUser, token })
}
