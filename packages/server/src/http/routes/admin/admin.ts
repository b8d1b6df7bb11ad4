import { adminFileList, adminFilesQuery, adminJobs, adminOverview } from '@lade/core/wire'
import { listAllFiles } from '../../../admin/list-all-files.ts'
import { readJobs } from '../../../admin/read-jobs.ts'
import { readOverview } from '../../../admin/read-overview.ts'
import { fileEntryOf } from '../../../files/file-entry.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { placedStatusesOf } from '../../../files/placed-status.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'
import { auditLogRoutes } from './audit-log.ts'
import { blockedCallerRoutes } from './blocked-callers.ts'
import { blockRoutes } from './blocks.ts'
import { adminCallerRoutes } from './callers.ts'
import { personalDataRoutes } from './personal-data.ts'

/** `/api/admin`: what operators read, and the limits that they set. */
export function adminRoutes(app: Routes, service: Service): void {
  const { records, now, filesNow, version, provers, retrievalUrl, moderation } = service
  blockRoutes(app, service)
  blockedCallerRoutes(app, service)
  personalDataRoutes(app, service)

  app.get(
    '/api/admin/overview',
    {
      schema: {
        tags: ['admin'],
        operationId: 'getAdminOverview',
        summary: 'Show what the service stores',
        description: 'Scope admin. Totals over all callers, running uploads, and the last 30 days.',
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

  adminCallerRoutes(app, service)

  app.get(
    '/api/admin/files',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listAllFiles',
        summary: 'List the files of anybody, newest first',
        description:
          'Scope admin. Live files. A page with q may have fewer files than its limit, or none, before a page that follows.',
        querystring: adminFilesQuery,
        security: adminSecurity,
        response: { 200: adminFileList.describe('Files'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'admin')
      const at = filesNow()
      const cursors = pageCursors(() => service.keys.current(), { listing: 'admin files', principal })
      const page = await listAllFiles(records, { ...request.query, cursors, now: at })
      const placed = await placedStatusesOf(records, page.files)
      const blocks = await Promise.all(page.files.map((file) => moderation.content.ofFile(file)))
      const files = page.files.map((file, index) => ({
        ...fileEntryOf(file, placed.get(file.sequence), retrievalUrl, at, blocks[index]),
        principal: file.principal,
        owner: file.owner,
      }))
      return { files, nextCursor: page.nextCursor }
    },
  )

  app.get(
    '/api/admin/jobs',
    {
      schema: {
        tags: ['admin'],
        operationId: 'getAdminJobs',
        summary: 'Show jobs, provers and damage',
        description:
          'Scope admin. Leases and processes, copies by prover, deals, removals that wait, the scrub, and objects that are known to be damaged.',
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: adminJobs.describe('Jobs'), ...problems(401, 403, 503) },
      },
    },
    async (request) => {
      await callerOf(service, request.raw, 'admin')
      return readJobs(records, { provers: provers.map(({ name }) => name), now: now() })
    },
  )

  auditLogRoutes(app, service)
}
