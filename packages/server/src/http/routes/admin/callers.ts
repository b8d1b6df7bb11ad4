import { LadeError } from '@lade/core/errors'
import {
  adminLimits,
  adminLimitsRequest,
  adminPrincipal,
  adminPrincipalList,
  adminPrincipalParams,
  adminPrincipalsQuery,
  adminUploadList,
  BYTES_PER_MB,
} from '@lade/core/wire'
import { listPrincipals, listUploads, showPrincipal } from '../../../admin/list-principals.ts'
import { readPrincipal } from '../../../admin/read-principal.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'

/** `/api/admin/principals`, their limits, and `/api/admin/uploads`. */
export function adminCallerRoutes(app: Routes, service: Service): void {
  const { records, now } = service

  app.get(
    '/api/admin/principals',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listPrincipals',
        summary: 'List callers',
        description:
          'Scope admin. Users, wallets and addresses that have uploaded something, have a token, or have limits of their own.',
        querystring: adminPrincipalsQuery,
        security: adminSecurity,
        response: { 200: adminPrincipalList.describe('Callers'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'admin')
      await service.authorizer.flushUses()
      const cursors = pageCursors(() => service.keys.current(), { listing: 'admin principals', principal })
      return listPrincipals(service, { ...request.query, cursors, now: now() })
    },
  )

  app.get(
    '/api/admin/principals/:principal',
    {
      schema: {
        tags: ['admin'],
        operationId: 'getPrincipal',
        summary: 'Show a caller',
        description:
          'Scope admin. What it stores and was charged, its limits, running uploads and tokens, and whether it is blocked.',
        params: adminPrincipalParams,
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: adminPrincipal.describe('The caller'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      await callerOf(service, request.raw, 'admin')
      await service.authorizer.flushUses()
      return showPrincipal(service, { asked: request.params.principal, now: now() })
    },
  )

  app.put(
    '/api/admin/principals/:principal/limits',
    {
      schema: {
        tags: ['admin'],
        operationId: 'setLimits',
        summary: 'Set the limits of a caller',
        description:
          'Scope admin. Absent fields stay as they are; null returns to the limit of the tier. Holds from the next upload on, in every ' +
          'process; running uploads keep what they have reserved.',
        params: adminPrincipalParams,
        querystring: tokenQuery,
        body: adminLimitsRequest,
        security: adminSecurity,
        response: { 200: adminLimits.describe('The limits that are set now'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'admin')
      const principal = readPrincipal(request.params.principal)
      const { dailyMb, storedMb } = request.body
      if (dailyMb === undefined && storedMb === undefined) {
        throw new LadeError('bad_request', { reason: 'Name at least one of dailyMb and storedMb.' })
      }
      const { dailyBytes, storedBytes } = await records.limits.set({
        principal,
        dailyBytes: bytesOf(dailyMb),
        storedBytes: bytesOf(storedMb),
        now: now(),
        by: caller.principal,
      })
      return { principal, dailyBytes, storedBytes }
    },
  )

  app.get(
    '/api/admin/uploads',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listRunningUploads',
        summary: 'List running uploads',
        description: 'Scope admin. Uploads of all callers that have reserved their bytes, at most 1000.',
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: adminUploadList.describe('Uploads in flight'), ...problems(401, 403, 503) },
      },
    },
    async (request) => {
      await callerOf(service, request.raw, 'admin')
      return listUploads(records)
    },
  )
}

function bytesOf(megabytes: number | null | undefined): number | null | undefined {
  return typeof megabytes === 'number' ? megabytes * BYTES_PER_MB : megabytes
}
