import { LadeError } from '@lade/core/errors'
import {
  endSessionResult,
  type SessionWay,
  sessionList,
  sessionRequest,
  sessionResult,
  sessionState,
  signOutResult,
} from '@lade/core/wire'
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { openSession } from '../../../sessions/open-session.ts'
import { sessionEntryOf } from '../../../sessions/session-entry.ts'
import { sessionDigest } from '../../../sessions/session-secret.ts'
import { callerOf } from '../../authenticate.ts'
import { exchangeOf } from '../../exchange.ts'
import { isFromThisMachine } from '../../known-host.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import { sessionCookieOf } from '../../session-cookie.ts'
import { requireOwnPage, shownSession } from '../../session-request.ts'
import { walletAudienceOf, walletChainOf } from '../../wallet-request.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'

const cookie = [{ session: [] }]

/** `/api/session` and `/api/sessions`. */
export function sessionRoutes(app: Routes, service: Service): void {
  const { records, now } = service
  const clearCookie = (reply: FastifyReply): void => {
    reply.header('set-cookie', sessionCookieOf(service.publicUrl()).clear())
  }

  app.get(
    '/api/session',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'getSession',
        summary: 'Show the session of this browser',
        description: 'Also without a session, which is then null. A cookie whose session has ended is cleared.',
        security: [{}, ...cookie],
        response: { 200: sessionState.describe('The session, and how to sign in'), ...problems(401, 403, 503) },
      },
    },
    async (request, reply) => {
      const shown = await shownSession(service, request.raw)
      if (shown !== undefined && shown.session === undefined) clearCookie(reply)
      const { session } = shown ?? {}
      return {
        session: session === undefined ? null : sessionEntryOf(session, session.id),
        signIn: waysToSignIn(service),
      }
    },
  )

  app.post(
    '/api/session',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'openSession',
        summary: 'Sign in with a browser',
        description:
          'Sets the session cookie. Send one of: token; email, if signup is open; challenge and code, or email and code, after ' +
          '/api/auth/start; message and signature of a wallet. Only for pages of this service: Origin must be its own. A session that the ' +
          'browser has already ends.',
        body: sessionRequest,
        responseHeaders: { 200: ['Set-Cookie'] },
        response: { 200: sessionResult.describe('Signed in'), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      const { raw } = request
      // Also without a cookie: a page of somebody else must not sign its reader in as somebody else.
      requireOwnPage(service, raw)
      const { config, publicUrl } = service
      const isUnlimited = isFromThisMachine(raw, { host: config.host, publicUrl: publicUrl() })
      const rules = {
        signup: config.signup,
        quotaMb: config.token.quotaMb,
        signupsPerHour: isUnlimited ? Number.MAX_SAFE_INTEGER : config.signupsPerHour,
      }
      const before = await shownSession(service, raw)
      if (request.body.message !== undefined) service.budget.require(requestPrincipal(service, raw), 'chain')
      const opened = await openSession(
        { ...service, walletChain: () => walletChainOf(service, raw), walletAudience: () => walletAudienceOf(service) },
        rules,
        { request: request.body, address: addressPrincipal(service.clientAddress(raw)), replaced: before?.secret },
      )
      service.sessions.forget()
      const { secret, session } = opened
      exchangeOf(raw).notes.session = session.id
      const maxAgeSeconds = Math.ceil((session.endsAt - session.createdAt) / 1000)
      reply.header('set-cookie', sessionCookieOf(publicUrl()).set(secret, maxAgeSeconds))
      return { session: sessionEntryOf(session, session.id) }
    },
  )

  app.delete(
    '/api/session',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'closeSession',
        summary: 'Sign out',
        description: 'Ends the session and clears its cookie. Also without a session. Its share links stay.',
        security: [{}, ...cookie],
        responseHeaders: { 200: ['Set-Cookie'] },
        response: { 200: signOutResult.describe('Signed out'), ...problems(401, 403, 503) },
      },
    },
    async (request, reply) => {
      const shown = await shownSession(service, request.raw)
      if (shown?.secret !== undefined) {
        await records.sessions.signOut(sessionDigest(shown.secret))
        service.sessions.forget()
      }
      if (shown !== undefined) clearCookie(reply)
      return { session: null }
    },
  )

  app.get(
    '/api/sessions',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'listSessions',
        summary: 'List my sessions',
        description: 'Scope list. The browsers that are signed in, the one that was used last first.',
        querystring: tokenQuery,
        security: [...security, ...cookie],
        response: { 200: sessionList.describe('The sessions'), ...problems(401, 403, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      await service.sessions.flushUses()
      const sessions = await records.sessions.list({ sub: caller.userId, now: now() })
      return { sessions: sessions.map((session) => sessionEntryOf(session, caller.sessionId)) }
    },
  )

  app.delete(
    '/api/sessions/:sessionId',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'endSession',
        summary: 'End a session',
        description:
          'Any session or token of the same user can. Share links that were made in the session end with it, unless it was made from a ' +
          'token.',
        params: z.object({ sessionId: z.string().meta({ format: 'uuid' }) }),
        querystring: tokenQuery,
        security: [...security, ...cookie],
        response: { 200: endSessionResult.describe('Ended'), ...problems(400, 401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      const caller = await callerOf(service, request.raw)
      const { sessionId: id } = request.params
      const endedAt = now()
      if (!(await records.sessions.end({ id, sub: caller.userId, now: endedAt }))) {
        throw new LadeError('not_found', { reason: 'You have no such session. GET /api/sessions lists yours.' })
      }
      service.sessions.forget()
      service.authorizer.forget(id)
      if (id === caller.sessionId) clearCookie(reply)
      return { id, endedAt: new Date(endedAt).toISOString() }
    },
  )
}

/** How one can sign in to a service with these settings. */
function waysToSignIn({ config, mailer, walletChains }: Service): SessionWay[] {
  return [
    ...(config.signup === 'open' ? (['email'] as const) : []),
    ...(mailer === undefined ? [] : (['code'] as const)),
    ...(walletChains === undefined ? [] : (['wallet'] as const)),
    'token',
  ]
}
