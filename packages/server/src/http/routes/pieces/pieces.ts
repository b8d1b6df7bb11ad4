import type { IncomingMessage } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import {
  cidText,
  MAX_PIECE_CIDS_BODY_BYTES,
  MAX_PIECE_CIDS_PER_BODY,
  MAX_PIECE_CIDS_PER_QUERY,
  type PieceCidsResult,
  pieceCidsQuery,
  pieceCidsRequest,
  pieceCidsResult,
} from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import * as z from 'zod'
import { listPieces } from '../../../pieces/list-pieces.ts'
import { requireCaller } from '../../authenticate.ts'
import { pathOf, type Query, queryOf } from '../../query.ts'
import type { ResponseCache } from '../../response-cache.ts'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { getFile } from '../retrieval/get-file.ts'
import { offloadOf } from '../retrieval/offload.ts'
import { ANY_TYPE, RETRIEVAL_RESPONSE_HEADERS, retrievalHeaders, retrievalQuery } from '../retrieval/retrieval.ts'
import { bytesOf, emptyResponse, problems, type Routes, security, takenOver, tokenQuery } from '../routes.ts'
import { requirePieceCid } from './piece-form.ts'
import { readCids } from './read-cids.ts'
import { sendPiece } from './send-piece.ts'

const REPEATABLE = ['cid']

export function pieceHandler(service: Service, responseCache: ResponseCache | undefined): RawHandler {
  // Provers that pull take a redirect for a refusal.
  const offload = offloadOf(service.config, { mayRedirect: false })
  return async (request, response, { query, headers }) => {
    const cidText = pathOf(request.url ?? '/').slice('/piece/'.length)
    try {
      await getFile(service, responseCache, request, response, { cidText, query, headers, offload }, requirePieceCid)
    } catch (error) {
      const { blobs } = service
      const isNoFile = LadeError.has(error, 'not_found') || LadeError.has(error, 'gone')
      if (!isNoFile || blobs === undefined || response.headersSent) throw error
      const cid = parseContentId(cidText, sha256Hex)
      // What is gone stays gone, unless it is a piece of something that is not.
      if (!(await sendPiece({ ...service, blobs }, request, response, { cid, headers }))) throw error
    }
  }
}

/** `/piece/{pieceCid}` and `/api/piece-cids`. */
export function pieceRoutes(app: Routes, service: Service, responseCache: ResponseCache | undefined): void {
  const onRequest = rawRoute(service, pieceHandler(service, responseCache))
  app.route({
    method: ['GET', 'HEAD'],
    url: '/piece/:pieceCid',
    schema: {
      tags: ['retrieval'],
      operationId: 'getPiece',
      summary: 'Retrieve a piece',
      description:
        'The bytes with this piece commitment, without padding, exactly as uploaded. Provers pull from here. ' +
        'Otherwise as `/p/{cid}`.',
      params: z.object({ pieceCid: cidText.describe('A piece CID of version 1 or 2') }),
      querystring: retrievalQuery,
      headers: retrievalHeaders,
      security: [{}, ...security],
      responseHeaders: RETRIEVAL_RESPONSE_HEADERS,
      response: {
        200: bytesOf('The bytes', ...ANY_TYPE),
        206: bytesOf('The requested range', ...ANY_TYPE),
        304: emptyResponse('If-None-Match or If-Modified-Since: the client has these bytes'),
        ...problems(400, 401, 403, 404, 410, 412, 416, 451, 503),
      },
    },
    onRequest,
    handler: takenOver,
  })
  // Whatever else stands under /piece/ is no piece CID, and is told so.
  app.route({ method: ['GET', 'HEAD'], url: '/piece/*', schema: { hide: true }, onRequest, handler: takenOver })

  const answer = async (
    request: IncomingMessage,
    query: Query,
    cids: readonly ContentId[],
  ): Promise<PieceCidsResult> => {
    const { principal } = await requireCaller(service, request, query, 'list')
    return listPieces(service.records, { cids, now: service.now(), principal })
  }
  const about = {
    tags: ['files'],
    description: 'Scope list. Works for public files and your own. Accepts every kind of content id.',
    security,
    response: { 200: pieceCidsResult.describe('The pieces'), ...problems(400, 401, 403, 503) },
  }

  app.get(
    '/api/piece-cids',
    {
      config: { repeatable: REPEATABLE },
      schema: {
        ...about,
        operationId: 'listPieceCids',
        summary: 'Get the piece CIDs of files',
        querystring: pieceCidsQuery,
      },
    },
    async (request) => {
      const cids = readCids(request.query.cid, MAX_PIECE_CIDS_PER_QUERY)
      return answer(request.raw, queryOf(request.raw.url ?? '/', REPEATABLE), cids)
    },
  )

  app.post(
    '/api/piece-cids',
    {
      bodyLimit: MAX_PIECE_CIDS_BODY_BYTES,
      schema: {
        ...about,
        operationId: 'findPieceCids',
        summary: 'Get the piece CIDs of many files',
        querystring: tokenQuery,
        body: pieceCidsRequest,
        response: { ...about.response, ...problems(413) },
      },
    },
    async (request) => {
      const cids = readCids(request.body.cids, MAX_PIECE_CIDS_PER_BODY)
      return answer(request.raw, queryOf(request.raw.url ?? '/'), cids)
    },
  )
}
