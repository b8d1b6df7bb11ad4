import type { IncomingMessage } from 'node:http'
import { composeHeaders, composeQuery, composeRequest, MAX_COMPOSE_BODY_BYTES, uploadResult } from '@lade/core/wire'
import { TurnsOfBodies } from '@lade/node/budget/body-turns'
import { FairQueue } from '@lade/node/budget/fair-queue'
import { composeFile } from '../../../uploads/compose-file.ts'
import { spending } from '../../../uploads/spending.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { queryTokenHeaders } from '../../authenticate.ts'
import { exchangeOf } from '../../exchange.ts'
import { queryOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security } from '../routes.ts'
import { type BodyTurn, openBodyTurn } from './body-turn.ts'
import { type ComposeHead, checkDeclaredBody, checkTerm, readComposeHead, readComposition } from './compose-request.ts'
import { overQuotaHeaders } from './quota-headers.ts'
import { storedResult } from './stored-result.ts'
import { tierOf } from './tier-of.ts'

/** Compositions whose bodies are read and whose parts are found at once: thousands of parts take a few milliseconds at a stretch. */
const BODIES = 4
const BODIES_OF_PRINCIPAL = 2
/** Compositions whose parts are read at once: each keeps several cores busy, which uploads need as well. */
const READINGS = 2
/** Compositions of one principal that wait for the one whose parts are read. */
const READINGS_WAITING = 32
/** Decoding and validating a part's cid in the body, before it is looked at. */
const PARSE_MS_PER_PART = 0.001

interface Admitted extends BodyTurn {
  readonly head: ComposeHead
  readonly tier: UploadTier
}

/** `/api/compose`. */
export function composeRoutes(app: Routes, service: Service): void {
  const readings = new FairQueue({
    work: 'compose',
    budget: service.budget,
    slots: READINGS,
    slotsPerPrincipal: 1,
    waitingPerPrincipal: READINGS_WAITING,
  })
  const turns = new TurnsOfBodies({
    work: 'compose',
    budget: service.budget,
    slots: BODIES,
    slotsPerPrincipal: BODIES_OF_PRINCIPAL,
  })
  const admitted = new WeakMap<IncomingMessage, Admitted>()

  app.post(
    '/api/compose',
    {
      bodyLimit: MAX_COMPOSE_BODY_BYTES,
      schema: {
        tags: ['uploads'],
        operationId: 'composeFile',
        summary: 'Compose one file of several',
        description:
          'Scope put. The parts are your files, in order. The new file gets their bytes and replaces them. Only ' +
          'repeated parts are charged. With a UnixFS cid or a piece CID, no bytes are read.',
        security: [{}, ...security],
        querystring: composeQuery,
        headers: composeHeaders,
        body: composeRequest,
        response: {
          200: uploadResult.describe('Composed'),
          ...problems(400, 401, 403, 409, 413, 422, 429, 451, 502, 503),
        },
      },
      // As with uploads, the body is of interest only from those who may send it.
      onRequest: async (request, reply) => {
        const { raw } = request
        const query = queryOf(raw.url ?? '/')
        reply.headers(queryTokenHeaders(query, `${service.publicUrl()}/docs`))
        const head = readComposeHead(raw, query, service.config.opaqueIds)
        const tier = await tierOf(service, raw, query)
        service.budget.require(tier.principal, 'compose')
        checkDeclaredBody(raw, tier)
        checkTerm(head, tier)
        admitted.set(raw, { head, tier, ...(await openBodyTurn(turns, tier.principal, reply.raw)) })
      },
    },
    async (request, reply) => {
      const known = admitted.get(request.raw)
      if (known === undefined) throw new TypeError('the head was not read')
      const { head, tier, signal, turn } = known
      await turn.take()
      const { notes } = exchangeOf(request.raw)
      notes.cid = head.cid.text
      notes.tier = tier.name
      notes.parts = request.body.parts.length
      const { budget } = service
      const spender = { budget, principal: tier.principal, work: 'compose' } as const
      budget.spend({ ...spender, processorMs: request.body.parts.length * PARSE_MS_PER_PART })
      const composition = spending(spender, () => readComposition(head, request.body, tier.fileBytes))
      const input = { tier, ...composition, signal, onFound: () => turn.end() }
      const file = await composeFile({ ...service, readings }, input).catch((error) => {
        reply.headers(overQuotaHeaders(tier, error, service.now()))
        throw error
      })
      return storedResult(service, request.raw, { file, cid: head.cid.text })
    },
  )
}
