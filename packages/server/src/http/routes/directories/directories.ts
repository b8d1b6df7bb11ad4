import type { IncomingMessage } from 'node:http'
import { parseContentId } from '@lade/core/content'
import {
  composeHeaders,
  directoryQuery,
  directoryRequest,
  entriesPage,
  entriesQuery,
  MAX_DIRECTORY_BODY_BYTES,
  uploadResult,
} from '@lade/core/wire'
import { TurnsOfBodies } from '@lade/node/budget/body-turns'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { changeFolder } from '../../../directories/change-directory.ts'
import { directoryRootOf } from '../../../directories/directory-reading.ts'
import { listEntries } from '../../../directories/list-entries.ts'
import { type DirectoryHead, makeDirectory } from '../../../directories/make-directory.ts'
import { BlockSource } from '../../../retrieval/block-source.ts'
import { spending } from '../../../uploads/spending.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { queryTokenHeaders } from '../../authenticate.ts'
import { exchangeOf } from '../../exchange.ts'
import { queryOf } from '../../query.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import { visibleFile } from '../retrieval/visible-file.ts'
import { cidParams, problems, type Routes, security } from '../routes.ts'
import { type BodyTurn, openBodyTurn } from '../uploads/body-turn.ts'
import { overQuotaHeaders } from '../uploads/quota-headers.ts'
import { storedResult } from '../uploads/stored-result.ts'
import { tierOf } from '../uploads/tier-of.ts'
import { pageAfter, pageCursor, pageLimitOf, segmentsOf } from './entries-page.ts'
import { folderNameOf, readAskedDirectory, readDirectoryHead } from './read-directory.ts'

/** Directories whose bodies are read and which are made at once: a big one takes memory by its entries. */
const BODIES = 2
const BODIES_OF_PRINCIPAL = 1
/** Decoding and validating an entry of the body, before it is looked at. */
const PARSE_MS_PER_ENTRY = 0.003

interface Admitted extends BodyTurn {
  readonly head: Omit<DirectoryHead, 'filename'>
  readonly tier: UploadTier
}

/** `/api/directories`, and `/api/files/{cid}/entries`. */
export function directoryRoutes(app: Routes, service: Service): void {
  const turns = new TurnsOfBodies({
    work: 'links',
    budget: service.budget,
    slots: BODIES,
    slotsPerPrincipal: BODIES_OF_PRINCIPAL,
  })
  const admitted = new WeakMap<IncomingMessage, Admitted>()

  app.post(
    '/api/directories',
    {
      bodyLimit: MAX_DIRECTORY_BODY_BYTES,
      schema: {
        tags: ['uploads'],
        operationId: 'makeDirectory',
        summary: 'Make a folder of files that are stored here',
        description:
          'Scope put. No file byte is sent: the entries are your files, or public ones. The directories are those of the import profile ' +
          'unixfs-v1-2025. Charged are the blocks of the directories, and public files of others as if you had sent them. The folder is one ' +
          'file of yours, and keeps all files in it.',
        security: [{}, ...security],
        querystring: directoryQuery,
        headers: composeHeaders,
        body: directoryRequest,
        response: {
          200: uploadResult.describe('The folder'),
          ...problems(400, 401, 403, 404, 409, 413, 422, 429, 451, 503, 507),
        },
      },
      onRequest: async (request, reply) => {
        const { raw } = request
        const query = queryOf(raw.url ?? '/')
        reply.headers(queryTokenHeaders(query, `${service.publicUrl()}/docs`))
        const head = readDirectoryHead(raw, query)
        const tier = await tierOf(service, raw, query)
        service.budget.require(tier.principal, 'links')
        admitted.set(raw, { head, tier, ...(await openBodyTurn(turns, tier.principal, reply.raw)) })
      },
    },
    async (request, reply) => {
      const known = admitted.get(request.raw)
      if (known === undefined) throw new TypeError('the head was not read')
      const { head, tier, signal, turn } = known
      await turn.take()
      const { body } = request
      const { budget, records, blobs, now, moderation } = service
      const spender = { budget, principal: tier.principal, work: 'links' } as const
      const count = (body.entries?.length ?? 0) + (body.put?.length ?? 0)
      budget.spend({ ...spender, processorMs: count * PARSE_MS_PER_ENTRY })
      const asked = spending(spender, () => readAskedDirectory(body))
      const input = { tier, head: { ...head, filename: folderNameOf(body) }, signal }
      const readBlock = async (cid: Parameters<BlockSource['get']>[0], within: string) => {
        const source = new BlockSource({ records, blobs, now, moderation, within })
        return source.get(cid).finally(() => source.close())
      }
      const deps = { ...service, readBlock }
      const made =
        'entries' in asked ? makeDirectory(deps, { ...input, ...asked }) : changeFolder(deps, { ...input, ...asked })
      const file = await made.catch((error: unknown) => {
        reply.headers(overQuotaHeaders(tier, error, service.now()))
        throw error
      })
      const { notes } = exchangeOf(request.raw)
      notes.cid = file.cid
      notes.tier = tier.name
      return storedResult(service, request.raw, { file, cid: head.cid?.text ?? file.cid })
    },
  )

  app.get(
    '/api/files/:cid/entries',
    {
      schema: {
        tags: ['files'],
        operationId: 'listEntries',
        summary: 'List what is in a folder',
        description:
          'For anyone who can retrieve the folder: a private one needs a token of its owner with the scope get, or a share link. Entries have ' +
          'the order of the directory, which in a big one is that of hashes of the names.',
        params: cidParams,
        querystring: entriesQuery,
        security: [{}, ...security],
        response: {
          200: entriesPage.describe('A page of the folder'),
          ...problems(400, 401, 403, 404, 406, 410, 429, 451, 503),
        },
      },
    },
    async (request) => {
      const { path = '', cursor, limit } = request.query
      const cid = parseContentId(request.params.cid, sha256Hex)
      const root = directoryRootOf(cid)
      const segments = segmentsOf(path)
      const { file } = await visibleFile(service, request.raw, cid, queryOf(request.raw.url ?? '/'), { isWhole: false })
      const page = await listEntries(service, {
        file,
        root,
        principal: requestPrincipal(service, request.raw),
        segments,
        after: pageAfter(cursor),
        limit: pageLimitOf(limit),
      })
      return {
        cid: page.cid.toString(),
        path: segments.join('/'),
        entries: [...page.entries],
        nextCursor: page.next === undefined ? null : pageCursor(page.next),
      }
    },
  )
}
