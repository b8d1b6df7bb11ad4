import type { IncomingMessage } from 'node:http'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { requireScope } from '../../../tokens/authorize.ts'
import { sponsoredTier, tokenTier, type UploadTier, walletTier } from '../../../uploads/upload-tier.ts'
import { findCaller } from '../../authenticate.ts'
import type { Caller } from '../../caller.ts'
import { rightsOf } from '../../caller-rights.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'

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
  return tierOfCaller(service, caller)
}

/** @throws {LadeError} `chain_offline`, `over_budget`. */
export async function tierOfCaller(service: Service, caller: Caller): Promise<UploadTier> {
  const { principal, owner } = caller
  const rights = rightsOf(service, caller)
  const payer = { principal, owner, rights, dailyBytes: await caller.quotaBytes() }
  return caller.tier === 'wallet' ? walletTier(service.config, payer) : tokenTier(service.config, payer)
}
