import { parseContentId } from '@lade/core/content'
import { challengeRequest, challengeResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { closedSignal } from '../../closed-signal.ts'
import { queryOf } from '../../query.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import { cidParams, problems, type Routes } from '../routes.ts'
import { retrievalQuery } from './retrieval.ts'
import { visibleFile } from './visible-file.ts'

/** `POST /p/{cid}/challenge`. */
export function challengeRoutes(app: Routes, service: Service): void {
  app.post(
    '/p/:cid/challenge',
    {
      schema: {
        tags: ['retrieval'],
        operationId: 'challengeContent',
        summary: 'Request a proof that a file is stored',
        description:
          'For anyone who can download the file. A prover proves leaves of its piece, selected by the nonce. The response can ' +
          'be checked with the piece CID alone.',
        params: cidParams,
        querystring: retrievalQuery.pick({ share: true }),
        body: challengeRequest,
        response: {
          200: challengeResult.describe('The proofs, also checked by the service'),
          ...problems(400, 401, 403, 404, 409, 410, 429, 451, 502, 503),
        },
      },
    },
    async (request, reply) => {
      const cid = parseContentId(request.params.cid, sha256Hex)
      const { nonce } = request.body
      const principal = requestPrincipal(service, request.raw)
      const signal = closedSignal(reply.raw)
      const { file } = await visibleFile(service, request.raw, cid, queryOf(request.raw.url ?? '/'))
      const proven = await service.proveFile({
        file: file.sequence,
        visibility: file.visibility,
        nonce,
        principal,
        signal,
      })
      return { cid: cid.text, nonce, inclusion: null, ...proven }
    },
  )
}
