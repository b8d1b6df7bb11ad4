import type { IncomingMessage, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { composeHeaders, composeQuery, composeRequest, MAX_COMPOSE_BODY_BYTES, uploadResult } from '@lade/core/wire'
import { uploadedDeal } from '../../../deals/uploaded-deal.ts'
import { uploadResultOf } from '../../../files/file-entry.ts'
import { composeFile } from '../../../uploads/compose-file.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { queryTokenHeaders } from '../../authenticate.ts'
import { exchangeOf } from '../../exchange.ts'
import { queryOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security } from '../routes.ts'
import { type ComposeHead, readComposeHead, readComposition } from './compose-request.ts'
import { tierOf } from './tier-of.ts'

/** `/api/compose`. */
export function composeRoutes(app: Routes, service: Service): void {
  const admitted = new WeakMap<IncomingMessage, { readonly head: ComposeHead; readonly tier: UploadTier }>()

  app.post(
    '/api/compose',
    {
      bodyLimit: MAX_COMPOSE_BODY_BYTES,
      schema: {
        tags: ['uploads'],
        summary: 'Make one file of several',
        description:
          'Needs the put scope. The parts are files of mine, in order; they end, and their bytes become those of the new ' +
          'file. Nothing is charged, since they were. Under a UnixFS cid or a piece CID no byte is read.',
        security: [{}, ...security],
        querystring: composeQuery,
        headers: composeHeaders,
        body: composeRequest,
        response: {
          200: uploadResult.describe('Composed'),
          ...problems(400, 401, 403, 409, 413, 422, 429, 502, 503),
        },
      },
      // As with uploads, the body is of interest only from those who may send it.
      onRequest: async (request, reply) => {
        const { raw } = request
        const query = queryOf(raw.url ?? '/')
        reply.headers(queryTokenHeaders(query, `${service.publicUrl()}/docs`))
        const head = readComposeHead(raw, query, service.config.opaqueIds)
        admitted.set(raw, { head, tier: await tierOf(service, raw, query) })
      },
    },
    async (request, reply) => {
      const known = admitted.get(request.raw)
      if (known === undefined) throw new TypeError('the head was not read')
      const { head, tier } = known
      const { notes } = exchangeOf(request.raw)
      notes.cid = head.cid.text
      notes.tier = tier.name
      notes.parts = request.body.parts.length
      const input = { tier, ...readComposition(head, request.body), signal: closedSignal(reply.raw) }
      const file = await composeFile(service, input)
      notes.sizeBytes = file.sizeBytes
      notes.dealId = file.dealId
      const deal = await uploadedDeal({ records: service.records, dealWaitMs: 0 }, file)
      return uploadResultOf(file, deal, head.cid.text, service.retrievalUrl, service.filesNow())
    },
  )
}

/** Aborts when the client goes before it has its answer: reading gigabytes for nobody is in everybody's way. */
function closedSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) {
      controller.abort(new LadeError('bad_request', { reason: 'The connection was closed before the answer.' }))
    }
  })
  return controller.signal
}
