import type { IncomingMessage } from 'node:http'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { requireScope } from '../../../tokens/authorize.ts'
import { sponsoredTier, tokenTier, type UploadTier } from '../../../uploads/upload-tier.ts'
import { credentialsOf } from '../../authenticate.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'

/**
 * The tier of whoever asks to put something: the token's, or the sponsored one without a token.
 *
 * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `insufficient_scope`.
 */
export async function tierOf(service: Service, request: IncomingMessage, query: Query): Promise<UploadTier> {
  const credentials = credentialsOf(request, query, service.config.queryToken)
  if (credentials === undefined) {
    return sponsoredTier(service.config, addressPrincipal(service.clientAddress(request)))
  }
  const claims = await service.authorizer.authorize(credentials.token)
  requireScope(claims, 'put')
  return tokenTier(service.config, claims)
}
