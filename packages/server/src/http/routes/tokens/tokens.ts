import { LadeError } from '@lade/core/errors'
import { revokeRequest, revokeResult, tokenList } from '@lade/core/wire'
import { tokenEntryOf } from '../../../tokens/token-entry.ts'
import { callerOf } from '../../authenticate.ts'
import { isAdmin } from '../../caller-rights.ts'
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
          response: { 200: tokenList.describe('The tokens'), ...problems(401, 403, 503) },
        },
      },
      async (request) => {
        const caller = await callerOf(service, request.raw, 'list')
        await service.authorizer.flushUses()
        const tokens = await records.tokens.list({ sub: caller.userId })
        return {
          tokens: tokens.map((token) =>
            tokenEntryOf(token, { isWallet: caller.tier === 'wallet', current: token.jti === caller.jti }),
          ),
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
          'end with it, unless keepLinks is true. This cannot be undone. A token with the scope admin revokes any token; only it, ' +
          'or the operator, revokes one that has this scope.',
        querystring: tokenQuery,
        body: revokeRequest,
        security,
        response: { 200: revokeResult.describe('Revoked'), ...problems(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw)
      const jti = request.body.jti.toLowerCase()
      const { keepLinks: keepsLinks = false } = request.body
      // The token of this request can be one that could not be recorded: while the disk is full, say.
      const revoked =
        jti === caller.jti || isAdmin(service, caller)
          ? await records.tokens.revokeAny({ jti, now: now(), keepsLinks, by: caller.principal })
          : await records.tokens.revoke({ jti, sub: caller.userId, now: now(), keepsLinks, by: caller.principal })
      if (revoked === 'admin_only') {
        throw new LadeError('insufficient_scope', { required: 'admin', scopes: caller.scopes })
      }
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
