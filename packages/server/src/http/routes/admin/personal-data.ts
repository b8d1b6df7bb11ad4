import { Readable } from 'node:stream'
import { personalDataErased, personalDataRequest } from '@lade/core/wire'
import { erasePersonalData } from '../../../admin/erase-personal-data.ts'
import { exportPersonalData, noteExport } from '../../../admin/export-personal-data.ts'
import { findPerson } from '../../../admin/person.ts'
import { deleteBytes } from '../../../uploads/delete-bytes.ts'
import { callerOf } from '../../authenticate.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import { bytesOf, problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'

/** `/api/admin/personal-data`: what is kept of one person. The person is named in the body, since paths are logged. */
export function personalDataRoutes(app: Routes, service: Service): void {
  const { records, log, authorizer } = service

  app.post(
    '/api/admin/personal-data/export',
    {
      schema: {
        tags: ['admin'],
        operationId: 'exportPersonalData',
        summary: 'Export what is kept of a caller, as JSON lines',
        description:
          'Scope admin. Tokens, sessions, usage, files, ended ones among them, and entries of the audit log. Each line has its kind.',
        querystring: tokenQuery,
        body: personalDataRequest,
        security: adminSecurity,
        response: { 200: bytesOf('What is kept', 'application/jsonl'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request, reply) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      await authorizer.flushUses()
      const person = await findPerson(records, request.body.caller)
      await noteExport(service, person, by)
      reply.header('content-type', 'application/jsonl; charset=utf-8')
      reply.header('cache-control', 'no-store')
      return reply.send(Readable.from(exportPersonalData(service, person), { objectMode: false }))
    },
  )

  app.post(
    '/api/admin/personal-data/erase',
    {
      schema: {
        tags: ['admin'],
        operationId: 'erasePersonalData',
        summary: 'Erase what is kept of a caller',
        description:
          'Scope admin. Revokes tokens, signs out, ends files and deletes their bytes at once, and erases names, labels and email addresses. ' +
          'Bytes that another caller also uploaded are kept. It can be repeated.',
        querystring: tokenQuery,
        body: personalDataRequest,
        security: adminSecurity,
        response: { 200: personalDataErased.describe('What was erased and kept'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      await authorizer.flushUses()
      const person = await findPerson(records, request.body.caller)
      const onFailure = (error: unknown) => logFailure(service, request.raw, error)
      const deps = { ...service, deleteBytes: (digests: readonly string[]) => deleteBytes(service, digests, onFailure) }
      const erased = await erasePersonalData(deps, person, by)
      const { files, ended, tokens, sessions } = erased
      log.warn({ files, ended, tokens, sessions, by }, 'what was kept of a caller was erased')
      return erased
    },
  )
}
