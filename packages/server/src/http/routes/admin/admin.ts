import { adminOverview } from '@lade/core/wire'
import { readOverview } from '../../../admin/read-overview.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'
import { auditLogRoutes } from './audit-log.ts'
import { blockedCallerRoutes } from './blocked-callers.ts'
import { blockRoutes } from './blocks.ts'

/** `/api/admin`: what operators read. */
export function adminRoutes(app: Routes, service: Service): void {
  const { records, now, version } = service
  auditLogRoutes(app, service)
  blockRoutes(app, service)
  blockedCallerRoutes(app, service)

  app.get(
    '/api/admin/overview',
    {
      schema: {
        tags: ['admin'],
        operationId: 'getAdminOverview',
        summary: 'Show what the service stores',
        description: 'Scope admin. Totals over all callers, running uploads, and what was staged in the last 30 days.',
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: adminOverview.describe('Totals and trend'), ...problems(401, 403, 503) },
      },
    },
    async (request) => {
      await callerOf(service, request.raw, 'admin')
      return readOverview(records, { version, now: now() })
    },
  )
}
