import { parseContentId } from '@lade/core/content'
import { fileEntry, fileList, filesQuery, shareRequest, shareResult, usageQuery, usageResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { fileEntryOf } from '../../../files/file-entry.ts'
import { listFiles } from '../../../files/list-files.ts'
import { ownFile, ownLiveFile } from '../../../files/own-file.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { placedStatusesOf, placedStatusOf } from '../../../files/placed-status.ts'
import { removeFile } from '../../../files/remove-file.ts'
import { readUsage } from '../../../quotas/read-usage.ts'
import { signShareLink } from '../../../tokens/share-link.ts'
import { discardDigest } from '../../../uploads/discard-objects.ts'
import { callerOf } from '../../authenticate.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import { sharedFolderUrl } from '../retrieval/shared-folder.ts'
import { cidParams, problems, type Routes, security, tokenQuery } from '../routes.ts'
import { accountTierOf } from '../uploads/tier-of.ts'

/** `/api/files`, `/api/files/{cid}`, `/api/files/{cid}/share` and `/api/usage`. */
export function fileRoutes(app: Routes, service: Service): void {
  const { records, retrievalUrl, now, filesNow } = service
  const { content } = service.moderation

  app.get(
    '/api/files',
    {
      schema: {
        tags: ['files'],
        operationId: 'listFiles',
        summary: 'List your files, newest first',
        description:
          'Scope list. Files that have ended are listed only if status selects them. A cursor works for the caller that ' +
          'it was returned to.',
        querystring: filesQuery,
        security,
        response: { 200: fileList.describe('The files'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      const at = filesNow()
      const { principal } = caller
      const cursors = pageCursors(() => service.keys.current(), { listing: 'files', principal })
      const page = await listFiles(records, { ...request.query, principal, cursors, now: at })
      const placed = await placedStatusesOf(records, page.files)
      const blocks = await Promise.all(page.files.map((file) => content.ofFile(file)))
      const files = page.files.map((file, index) =>
        fileEntryOf(file, placed.get(file.sequence), retrievalUrl, at, blocks[index]),
      )
      return { userId: caller.userId, email: caller.email, count: files.length, files, nextCursor: page.nextCursor }
    },
  )

  app.get(
    '/api/files/:cid',
    {
      schema: {
        tags: ['files'],
        operationId: 'getFile',
        summary: 'Show a file',
        description: 'Scope list. Also returns a file that has ended; see its status.',
        params: cidParams,
        querystring: tokenQuery,
        security,
        response: { 200: fileEntry.describe('The file'), ...problems(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const at = filesNow()
      const file = await ownFile(records, { principal: caller.principal, cid, now: at })
      return fileEntryOf(file, await placedStatusOf(records, file), retrievalUrl, at, await content.ofFile(file))
    },
  )

  app.delete(
    '/api/files/:cid',
    {
      schema: {
        tags: ['files'],
        operationId: 'removeFile',
        summary: 'Remove a file',
        description:
          'Scope pin. Downloads stop at once. The bytes are deleted when no other file needs them. ' +
          'The quota of the day is not refunded.',
        params: cidParams,
        querystring: tokenQuery,
        security,
        response: { 200: fileEntry.describe('The file'), ...problems(400, 401, 403, 404, 410, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'pin')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const at = now()
      const file = await removeFile(records, { principal: caller.principal, cid, now: at })
      const { blobs, instanceId, removing } = service
      // The file has ended, whatever becomes of its bytes; upkeep tries again to remove what could not be, and removes what
      // was only needed for parts.
      if (blobs !== undefined && file.sha256 !== null) {
        await discardDigest({ records, blobs, instanceId, now, removing }, file.sha256).catch((error: unknown) =>
          logFailure(service, request.raw, error),
        )
      }
      return fileEntryOf(file, await placedStatusOf(records, file), retrievalUrl, filesNow())
    },
  )

  app.post(
    '/api/files/:cid/share',
    {
      schema: {
        tags: ['files'],
        operationId: 'shareFile',
        summary: 'Create a link to a private file',
        description:
          'Scope get. Anyone with the link can download the file until it expires, after at most 30 days, without an ' +
          'account. The link ends if the token that created it is revoked.',
        params: cidParams,
        querystring: tokenQuery,
        body: shareRequest,
        security,
        response: { 200: shareResult.describe('The link'), ...problems(400, 401, 403, 404, 410, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'get')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const { principal, jti = caller.sessionId } = caller
      const at = now()
      const file = await ownLiveFile(records, { principal, cid, now: filesNow() })
      const expiresAt = new Date(Math.floor((at + request.body.ttlSeconds * 1000) / 1000) * 1000)
      const key = service.keys.current()
      const share = signShareLink({ key, cid: cid.key, principal, fileId: String(file.sequence), expiresAt, jti })
      const address = retrievalUrl(cid.text)
      const url =
        (file.folder?.memberBytes ?? 0) === 0 ? `${address}?${share}` : sharedFolderUrl(address, cid.text, share)
      return { url, expiresAt: expiresAt.toISOString() }
    },
  )

  app.get(
    '/api/usage',
    {
      schema: {
        tags: ['files'],
        operationId: 'getUsage',
        summary: 'Show your usage',
        description: 'Scope list. An upload counts on the UTC day on which it was admitted.',
        querystring: usageQuery,
        security,
        response: { 200: usageResult.describe('The usage'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      const { principal, userId, email } = caller
      const tier = await accountTierOf(service, request.raw, caller)
      return readUsage(records, {
        principal,
        userId,
        email,
        quotaBytes: tier.dailyBytes,
        quotaFiles: tier.dailyFiles,
        storedBytes: tier.storedBytes,
        token: tier.token,
        now: now(),
        days: request.query.days,
      })
    },
  )
}
