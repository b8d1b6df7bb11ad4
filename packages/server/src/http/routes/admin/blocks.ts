import { parseContentId } from '@lade/core/content'
import { blockList, blockRequest, blockResult, blocksQuery, contentBlock, MAX_BLOCKS_PER_PAGE } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { readPage } from '../../../files/page.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import { blockContent, blockEntryOf, unblockContent } from '../../../moderation/block-content.ts'
import { deleteBytes } from '../../../uploads/delete-bytes.ts'
import { callerOf } from '../../authenticate.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import { cidParams, problems, type Routes, tokenQuery } from '../routes.ts'
import { adminSecurity } from './admin-security.ts'

/** `/api/admin/blocks`: content that the operator takes down. */
export function blockRoutes(app: Routes, service: Service): void {
  const { records, moderation, log } = service

  app.post(
    '/api/admin/blocks',
    {
      schema: {
        tags: ['admin'],
        operationId: 'blockContent',
        summary: 'Block content',
        description:
          'Scope admin. Within 2 seconds, every instance answers 451 under every known id of the content, and refuses to take it again. ' +
          'Provers release their copies. Blocking again replaces the reason.',
        querystring: tokenQuery,
        body: blockRequest,
        security: adminSecurity,
        response: { 200: blockResult.describe('It is blocked'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      const cid = parseContentId(request.body.cid, sha256Hex)
      const { result, deleted } = await blockContent(service, { cid, request: request.body, by })
      const { files, ended } = result
      log.warn({ cid: cid.text, reason: result.reason, by, files, ended }, 'content was blocked')
      await deleteBytes(service, deleted, (error) => logFailure(service, request.raw, error))
      return result
    },
  )

  app.get(
    '/api/admin/blocks',
    {
      schema: {
        tags: ['admin'],
        operationId: 'listBlocks',
        summary: 'List blocked content, newest first',
        description: 'Scope admin. Also shows the denylists that are in force.',
        querystring: blocksQuery,
        security: adminSecurity,
        response: { 200: blockList.describe('Blocked content'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'admin')
      const cursors = pageCursors(() => service.keys.current(), { listing: 'blocks', principal })
      const { limit, request: page } = readPage({ ...request.query, cursors }, MAX_BLOCKS_PER_PAGE)
      const before = page.beforeSequence === undefined ? {} : { before: page.beforeSequence }
      const found = await records.takedowns.list({ ...before, limit: limit + 1 })
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      const denylists = moderation.denylists().map(({ readAt, shown: _, ...list }) => ({
        ...list,
        readAt: new Date(readAt).toISOString(),
      }))
      const nextCursor = found.length > limit && last !== undefined ? cursors.write(last.id) : null
      return { blocks: shown.map(blockEntryOf), denylists, nextCursor }
    },
  )

  app.delete(
    '/api/admin/blocks/:cid',
    {
      schema: {
        tags: ['admin'],
        operationId: 'unblockContent',
        summary: 'Unblock content',
        description:
          'Scope admin. Files that were not ended are served again, and provers get them again. Any id of the content that was blocked will do.',
        params: cidParams,
        querystring: tokenQuery,
        security: adminSecurity,
        response: { 200: contentBlock.describe('It was blocked like this'), ...problems(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const { principal: by } = await callerOf(service, request.raw, 'admin')
      const cid = parseContentId(request.params.cid, sha256Hex)
      const entry = await unblockContent(service, { cid, by })
      log.warn({ cid: cid.text, by }, 'content was unblocked')
      return entry
    },
  )
}
