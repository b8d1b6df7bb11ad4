import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { type ChangeRequest, changeRequest, fileEntry, parseMediaType } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { changeFile, type WantedFile } from '../../../files/change-file.ts'
import { fileEntryOf } from '../../../files/file-entry.ts'
import { ownLiveFile } from '../../../files/own-file.ts'
import { placedStatusOf } from '../../../files/placed-status.ts'
import type { FileRecord } from '../../../records/record-store.ts'
import { callerOf } from '../../authenticate.ts'
import { rightsOf } from '../../caller-rights.ts'
import { plainFileName } from '../../plain-file-name.ts'
import type { Service } from '../../service.ts'
import { cidParams, problems, type Routes, security, tokenQuery } from '../routes.ts'

/** `PATCH /api/files/{cid}`. */
export function changeFileRoutes(app: Routes, service: Service): void {
  const { records, retrievalUrl, config, filesNow, placementJob } = service

  app.patch(
    '/api/files/:cid',
    {
      schema: {
        tags: ['files'],
        operationId: 'changeFile',
        summary: 'Change a file',
        description:
          'Scope put; a longer term also needs pin, and private to public get. Changes only the given fields. Nothing is ' +
          'charged.',
        params: cidParams,
        querystring: tokenQuery,
        body: changeRequest,
        security,
        response: { 200: fileEntry.describe('The updated file'), ...problems(400, 401, 403, 404, 409, 410, 413, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'put')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const { principal } = caller
      const now = filesNow()
      const before = await ownLiveFile(records, { principal, cid, now })
      const wanted = readChange(request.body, before)
      const rights = rightsOf(service, caller)
      const file = await changeFile(records, { file: before, wanted, rights, maxTermDays: config.termMaxDays, now })
      if (file !== before) placementJob.wake()
      return fileEntryOf(file, await placedStatusOf(records, file), retrievalUrl, now)
    },
  )
}

/** @throws {LadeError} `bad_request`, `invalid_content_type`, `invalid_filename`, `invalid_term`. */
function readChange(body: ChangeRequest, file: FileRecord): WantedFile {
  const { visibility, contentType, filename, termDays } = body
  if (Object.keys(body).length === 0) {
    throw new LadeError('bad_request', {
      reason: 'Name at least one of visibility, contentType, filename and termDays.',
    })
  }
  if (termDays !== undefined && termDays < file.termDays) {
    throw new LadeError('invalid_term', {
      reason: `The term is ${file.termDays} days and cannot be shortened. Remove the file to end it.`,
    })
  }
  return {
    visibility,
    termDays,
    contentType: contentType === undefined ? undefined : parseMediaType(contentType),
    filename: filename === undefined || filename === null ? filename : plainFileName(filename),
  }
}
