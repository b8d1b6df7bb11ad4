import { LadeError } from '@lade/core/errors'
import { revokeRequest, revokeResult, SCOPES, tokenList } from '@lade/core/wire'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'
import { jwksRoute } from './jwks.ts'
import { signUpRoutes } from './sign-up.ts'

/** `/api/auth`, `/api/tokens` and `/.well-known/jwks.json`. */
export function tokenRoutes(app: Routes, service: Service): void {
  const { records, now } = service
  signUpRoutes(app, service)
  jwksRoute(app, service)

  for (const url of ['/api/tokens', '/api/tokens/list']) {
    app.get(
      url,
      {
        schema: {
          tags: ['tokens'],
          operationId: 'listTokens',
          summary: 'List my tokens',
          description:
            'Scope list. Never shows the tokens themselves. A token that was not made by signup, such as one of lade keys mint or of a ' +
            "wallet's sign-in, is listed from its first use on.",
          querystring: tokenQuery,
          security,
          response: { 200: tokenList.describe('My tokens'), ...problems(401, 403, 503) },
        },
      },
      async (request) => {
        const caller = await callerOf(service, request.raw, 'list')
        await service.authorizer.flushUses()
        const tokens = await records.tokens.list({ sub: caller.userId })
        return {
          tokens: tokens.map((token) => ({
            jti: token.jti,
            label: token.label,
            scopes: SCOPES.filter((scope) => token.scopes.includes(scope)),
            quotaMb: caller.tier === 'wallet' ? null : token.quotaMb,
            issuedAt: timeText(token.issuedAt),
            createdAt: timeText(token.issuedAt),
            expiresAt: timeText(token.expiresAt),
            lastUsedAt: token.lastUsedAt === null ? null : timeText(token.lastUsedAt),
            revokedAt: token.revokedAt === null ? null : timeText(token.revokedAt),
            current: token.jti === caller.jti,
            isCurrent: token.jti === caller.jti,
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
        operationId: 'revokeToken',
        summary: 'Revoke a token',
        description:
          'Needs any valid token of the same user. A token can always revoke itself. A second call returns the time of the first. The share links of the token ' +
          'end with it, unless keepLinks is true. This cannot be undone.',
        querystring: tokenQuery,
        body: revokeRequest,
        security,
        response: { 200: revokeResult.describe('Revoked'), ...problems(400, 401, 404, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw)
      const jti = request.body.jti.toLowerCase()
      const { keepLinks: keepsLinks = false } = request.body
      // The token of this request can be one that could not be recorded: while the disk is full, say.
      const revoked =
        jti === caller.jti
          ? await records.tokens.revokeAny({ jti, now: now(), keepsLinks })
          : await records.tokens.revoke({ jti, sub: caller.userId, now: now(), keepsLinks })
      if (revoked === undefined) {
        throw new LadeError('not_found', { reason: `You have no token ${jti}. GET /api/tokens lists yours.` })
      }
      service.authorizer.forget(jti)
      service.sessions.forget()
      return { jti, revokedAt: timeText(revoked.revokedAt) }
    },
  )
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
