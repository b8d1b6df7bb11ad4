import {
  dealEntry,
  dealProofs as dealProofsShape,
  extendHeaders,
  extendRequest,
  HEADER,
  redundancyRequest,
} from '@lade/core/wire'
import { dealProofs } from '../../../deals/deal-proofs.ts'
import { extendDeal } from '../../../deals/extend-deal.ts'
import { ownDeal } from '../../../deals/own-deal.ts'
import { setRedundancy } from '../../../deals/set-redundancy.ts'
import { callerOf } from '../../authenticate.ts'
import { singleHeader } from '../../framing.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'
import { dealParams, showDeal } from './deals.ts'
import { onceBy, readTermChange } from './extension.ts'

/** `/api/deals/{dealId}/proofs`, `…/extend` and `…/redundancy`. */
export function dealActionRoutes(app: Routes, service: Service): void {
  const { records, provers, filesNow, config, placementJob } = service

  app.get(
    '/api/deals/:dealId/proofs',
    {
      schema: {
        tags: ['files'],
        operationId: 'getDealProofs',
        summary: 'Show the audits of a deal',
        description:
          'Scope list. The latest audits, newest first. The last audit of each copy has the seed and the response of the ' +
          'prover, so that anyone can check it; for a file in an aggregate, also the proof of inclusion.',
        params: dealParams,
        querystring: tokenQuery,
        security,
        response: { 200: dealProofsShape.describe('The proofs'), ...problems(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'list')
      return dealProofs(service, await ownDeal(records, { principal, dealId: request.params.dealId }))
    },
  )

  app.post(
    '/api/deals/:dealId/extend',
    {
      schema: {
        tags: ['files'],
        operationId: 'extendDeal',
        summary: 'Extend a deal',
        description:
          'Scope pin. Makes the term longer, up to the longest that the service allows: by days, until a time, or to ' +
          'termDays in all. Onchain deals are extended after it. until and termDays can be repeated safely; days can with an ' +
          'Idempotency-Key.',
        params: dealParams,
        querystring: tokenQuery,
        headers: extendHeaders,
        body: extendRequest,
        security,
        response: { 200: dealEntry.describe('The updated deal'), ...problems(400, 401, 403, 404, 409, 422, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'pin')
      const { dealId } = request.params
      const term = readTermChange(request.body)
      const now = filesNow()
      const file = await extendDeal(records, {
        principal,
        dealId,
        term,
        maxTermDays: config.termMaxDays,
        now,
        once: onceBy(singleHeader(request.raw, HEADER.idempotencyKey), { dealId, term }, now),
      })
      placementJob.wake()
      return showDeal(service, file)
    },
  )

  app.put(
    '/api/deals/:dealId/redundancy',
    {
      schema: {
        tags: ['files'],
        operationId: 'setRedundancy',
        summary: 'Set the number of copies of a deal',
        description:
          'Scope pin. Sets how many provers store the file. Copies are added or dropped after the response. 409 ' +
          'not_enough_provers has the number of available provers.',
        params: dealParams,
        querystring: tokenQuery,
        body: redundancyRequest,
        security,
        response: { 200: dealEntry.describe('The updated deal'), ...problems(400, 401, 403, 404, 409, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'pin')
      const { dealId } = request.params
      const { copies } = request.body
      const file = await setRedundancy({ records, provers }, { principal, dealId, copies, now: filesNow() })
      placementJob.wake()
      return showDeal(service, file)
    },
  )
}
