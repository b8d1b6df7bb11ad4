import { LadeError } from '@lade/core/errors'
import { revokeRequest, revokeResult, SCOPES, signupRequest, signupResult, tokenList } from '@lade/core/wire'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { signUp } from '../../../tokens/sign-up.ts'
import { claimsOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'

/** `/api/auth/signup` and `/api/tokens`. */
export function tokenRoutes(app: Routes, service: Service): void {
  const { records, config, now } = service

  app.post(
    '/api/auth/signup',
    {
      schema: {
        tags: ['tokens'],
        summary: 'Get a token',
        description:
          'Mints a token for an email address; calling again mints another, and earlier ones stay valid. The token is ' +
          'shown only in this response.',
        body: signupRequest,
        response: { 200: signupResult.describe('The token, shown this once'), ...problems(400, 403, 429, 503) },
      },
    },
    async (request) => {
      const rules = { signup: config.signup, quotaMb: config.token.quotaMb, signupsPerHour: config.signupsPerHour }
      const address = addressPrincipal(service.clientAddress(request.raw))
      return signUp(service, rules, { request: request.body, address })
    },
  )

  for (const url of ['/api/tokens', '/api/tokens/list']) {
    app.get(
      url,
      {
        schema: {
          tags: ['tokens'],
          summary: 'List my tokens',
          description: 'Needs the list scope. Never shows a token itself.',
          querystring: tokenQuery,
          security,
          response: { 200: tokenList.describe('My tokens'), ...problems(401, 403, 503) },
        },
      },
      async (request) => {
        const claims = await claimsOf(service, request.raw, 'list')
        await service.authorizer.flushUses()
        const tokens = await records.tokens.list({ sub: claims.sub })
        return {
          tokens: tokens.map((token) => ({
            jti: token.jti,
            label: token.label,
            scopes: SCOPES.filter((scope) => token.scopes.includes(scope)),
            quotaMb: token.quotaMb,
            issuedAt: timeText(token.issuedAt),
            expiresAt: timeText(token.expiresAt),
            lastUsedAt: token.lastUsedAt === null ? null : timeText(token.lastUsedAt),
            revokedAt: token.revokedAt === null ? null : timeText(token.revokedAt),
            current: token.jti === claims.jti,
          })),
        }
      },
    )
  }

  app.post(
    '/api/tokens/revoke',
    {
      schema: {
        tags: ['tokens'],
        summary: 'Revoke one of my tokens',
        description: 'Any valid token of the same user will do. Revoking twice answers the first time.',
        querystring: tokenQuery,
        body: revokeRequest,
        security,
        response: { 200: revokeResult.describe('Revoked'), ...problems(400, 401, 404, 503) },
      },
    },
    async (request) => {
      const claims = await claimsOf(service, request.raw)
      const jti = request.body.jti.toLowerCase()
      const revoked = await records.tokens.revoke({ jti, sub: claims.sub, now: now() })
      if (revoked === undefined) throw new LadeError('not_found', {})
      service.authorizer.forget(jti)
      return { jti, revokedAt: timeText(revoked.revokedAt) }
    },
  )
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
