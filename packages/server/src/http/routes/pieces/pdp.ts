import { parseContentId, pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { findPieceQuery, findPieceResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { blockedError } from '../../../moderation/content-block.ts'
import { offeredPiece } from '../../../placement/offered-piece.ts'
import type { Service } from '../../service.ts'
import { emptyResponse, problems, type Routes } from '../routes.ts'
import { requirePieceCid } from './piece-form.ts'

/** `/pdp/ping` and `GET /pdp/piece`: what the clients of Filecoin's providers ask before they download from `/piece/`. */
export function pdpRoutes(app: Routes, service: Service): void {
  app.get(
    '/pdp/ping',
    {
      schema: {
        tags: ['retrieval'],
        operationId: 'pingPieces',
        summary: 'Check that pieces can be downloaded',
        description: 'For clients of Filecoin Onchain Cloud, such as Synapse.',
        response: { 200: emptyResponse('Pieces can be downloaded'), ...problems(503) },
      },
    },
    async (_request, reply) => {
      if (service.blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
      return reply.send()
    },
  )

  app.get(
    '/pdp/piece',
    {
      schema: {
        tags: ['retrieval'],
        operationId: 'findPiece',
        summary: 'Find out whether a piece can be downloaded',
        description:
          'For clients of Filecoin Onchain Cloud, such as Synapse. The piece is at /piece/{pieceCid}. Public pieces only.',
        querystring: findPieceQuery,
        response: { 200: findPieceResult.describe('It can be downloaded'), ...problems(400, 404, 451, 503) },
      },
    },
    async (request) => {
      const cid = parseContentId(request.query.pieceCid, sha256Hex)
      requirePieceCid(cid)
      const { records, blobs, now } = service
      const { content } = service.moderation
      if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
      if (content.ofId(cid) !== undefined) throw blockedError()
      const serving = await records.files.serving({ key: cid.key, now: now() })
      if (serving.outcome === 'found') {
        if ((await content.ofFile(serving.file)) !== undefined) throw blockedError()
        const { pieceRoot, sizeBytes } = serving.file
        return { pieceCid: pieceRoot === null ? cid.text : pieceCidOf({ pieceRoot, sizeBytes }) }
      }
      const offered = cid.form === 'piece-v2' ? await offeredPiece({ ...service, blobs }, cid.text) : undefined
      // Clients try again after this, and after no other refusal.
      if (offered === undefined) throw new LadeError('not_found', {})
      return { pieceCid: cid.text }
    },
  )
}
