import { Readable } from 'node:stream'
import { auditPage, auditQuery } from '@lade/core/wire'
import { auditLogLines, readAuditPage } from '../../../admin/read-audit-log.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { bytesOf, problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'

/** `/api/admin/audit` and `/api/admin/audit.jsonl`. */
export function auditLogRoutes(app: Routes, service: Service): void {
  const { records } = service

  app.get(
    '/api/admin/audit',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listAuditLog',
        summary: 'List the audit log, newest first',
        description:
          'Scope admin. A page with q may have fewer entries than its limit, or none, before a page that follows.',
        querystring: auditQuery,
        security: adminSecurity,
        response: { 200: auditPage.describe('Entries'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'admin')
      const cursors = pageCursors(() => service.keys.current(), { listing: 'audit', principal })
      return readAuditPage(records, { ...request.query, cursors })
    },
  )

  app.get(
    '/api/admin/audit.jsonl',
    {
      schema: {
        tags: ['admin'],
        operationId: 'exportAuditLog',
        summary: 'Export the audit log as JSON lines',
        description:
          'Scope admin. All entries, oldest first. Each line has the SHA-256 of the line before it, without its line break, as previous.',
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: bytesOf('The audit log', 'application/jsonl'), ...problems(401, 403, 503) },
      },
    },
    async (request, reply) => {
      await callerOf(service, request.raw, 'admin')
      reply.header('content-type', 'application/jsonl; charset=utf-8')
      reply.header('cache-control', 'no-store')
      return reply.send(Readable.from(auditLogLines(records), { objectMode: false }))
    },
  )
}
