import { parseContentId } from '@lade/core/content'
import { claimRequest, uploadResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { claimFile } from '../../../uploads/claim-file.ts'
import { callerOf } from '../../authenticate.ts'
import { exchangeOf } from '../../exchange.ts'
import { QUOTA_HEADERS } from '../../openapi/response-headers.ts'
import type { Service } from '../../service.ts'
import { cidParams, problems, type Routes, security, tokenQuery } from '../routes.ts'
import { overQuotaHeaders, quotaHeaders } from '../uploads/quota-headers.ts'
import { storedResult } from '../uploads/stored-result.ts'
import { accountTierOf } from '../uploads/tier-of.ts'

/** `POST /api/files/{cid}/claim`. */
export function claimFileRoutes(app: Routes, service: Service): void {
  const { placementJob } = service

  app.post(
    '/api/files/:cid/claim',
    {
      schema: {
        tags: ['files'],
        operationId: 'claimFile',
        summary: 'Take over a file uploaded without an account',
        description:
          'Scope put. For the secret whose SHA-256 was sent as X-Claim-Digest with the upload. The file gets the term of the account and is ' +
          'charged to its day; no bytes are sent again. If the quota has no room (429), the file stays as it was.',
        params: cidParams,
        querystring: tokenQuery,
        body: claimRequest,
        security,
        responseHeaders: { 200: QUOTA_HEADERS },
        response: {
          200: uploadResult.describe('The file of the account'),
          ...problems(400, 401, 403, 404, 413, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const caller = await callerOf(service, request.raw, 'put')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const tier = await accountTierOf(service, request.raw, caller)
      const { notes } = exchangeOf(request.raw)
      notes.cid = cid.text
      notes.tier = tier.name
      const deps = { ...service, isStorageBound: service.blobs !== undefined }
      const { secret } = request.body
      const { file, usedBytes, day } = await claimFile(deps, { tier, cid, secret }).catch((error: unknown) => {
        reply.headers(overQuotaHeaders(tier, error, service.now()))
        throw error
      })
      if (usedBytes !== undefined) {
        placementJob.wake()
        reply.headers(quotaHeaders(tier, day ?? { usedBytes }, service.now()))
      }
      return storedResult(service, request.raw, { file, cid: cid.text })
    },
  )
}
