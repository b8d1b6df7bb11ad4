import { blockCallerRequest, blockedCaller, blockedCallerList, blocksQuery, MAX_BLOCKS_PER_PAGE } from '@lade/core/wire'
import * as z from 'zod'
import { readPage } from '../../../files/page.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { blockCaller, blockedCallerEntryOf, unblockCaller } from '../../../moderation/block-caller.ts'
import { removeFilesOfBlocked } from '../../../moderation/remove-files-of-blocked.ts'
import { normalizeEmail, userIdOf } from '../../../tokens/email.ts'
import { callerOf } from '../../authenticate.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'

const callerParams = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .describe('The number of the blocked caller'),
})

/** `/api/admin/blocked-callers`: callers that the operator refuses. */
export function blockedCallerRoutes(app: Routes, service: Service): void {
  const { records, log } = service

  app.post(
    '/api/admin/blocked-callers',
    {
      schema: {
        tags: ['admin'],
        operationId: 'blockCaller',
        summary: 'Block a caller',
        description:
          'Scope admin. A user, a wallet, an IP address or a network. Within 2 seconds, every instance refuses its requests with 403 ' +
          'caller_blocked before it reads a body. Blocking again replaces the reason.',
        querystring: tokenQuery,
        body: blockCallerRequest,
        security: adminSecurity,
        response: { 200: blockedCaller.describe('It is blocked'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      const deps = { ...service, userIdOf: (email: string) => userIdOf(normalizeEmail(email)) }
      const caller = await blockCaller(deps, { request: request.body, by })
      const { id, kind, files, reason } = caller
      log.warn({ id, kind, files, reason, by }, 'a caller was blocked')
      // Upkeep goes on with what cannot be removed now.
      if (caller.isRemoving) {
        await removeFilesOfBlocked(service).catch((error: unknown) => logFailure(service, request.raw, error))
      }
      return blockedCallerEntryOf(caller)
    },
  )

  app.get(
    '/api/admin/blocked-callers',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listBlockedCallers',
        summary: 'List blocked callers, newest first',
        description: 'Scope admin.',
        querystring: blocksQuery,
        security: adminSecurity,
        response: { 200: blockedCallerList.describe('Blocked callers'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'admin')
      const cursors = pageCursors(() => service.keys.current(), { listing: 'blocked-callers', principal })
      const { limit, request: page } = readPage({ ...request.query, cursors }, MAX_BLOCKS_PER_PAGE)
      const before = page.beforeSequence === undefined ? {} : { before: page.beforeSequence }
      const found = await records.blockedCallers.list({ ...before, limit: limit + 1 })
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      const nextCursor = found.length > limit && last !== undefined ? cursors.write(last.id) : null
      return { callers: shown.map(blockedCallerEntryOf), nextCursor }
    },
  )

  app.delete(
    '/api/admin/blocked-callers/:id',
    {
      schema: {
        tags: ['admin'],
        operationId: 'unblockCaller',
        summary: 'Unblock a caller',
        description: 'Scope admin. Files that were removed stay removed.',
        params: callerParams,
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: blockedCaller.describe('It was blocked like this'), ...problems(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      const caller = await unblockCaller(service, { id: Number(request.params.id), by })
      log.warn({ id: caller.id, kind: caller.kind, by }, 'a caller was unblocked')
      return blockedCallerEntryOf(caller)
    },
  )
}
