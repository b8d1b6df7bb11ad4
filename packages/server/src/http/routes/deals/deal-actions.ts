import { dealEntry, dealProofs as dealProofsShape, extendRequest, redundancyRequest } from '@lade/core/wire'
import { dealProofs } from '../../../deals/deal-proofs.ts'
import { extendDeal } from '../../../deals/extend-deal.ts'
import { ownDeal } from '../../../deals/own-deal.ts'
import { setRedundancy } from '../../../deals/set-redundancy.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'
import { dealParams, showDeal } from './deals.ts'

/** `/api/deals/{dealId}/proofs`, `…/extend` and `…/redundancy`. */
export function dealActionRoutes(app: Routes, service: Service): void {
  const { records, provers, filesNow, config, placementJob } = service

  app.get(
    '/api/deals/:dealId/proofs',
    {
      schema: {
        tags: ['files'],
        summary: 'What provers have proved of one of my deals',
        description:
          'Needs the list scope. Every audit that is kept, newest first, with what the prover answered, so that anybody ' +
          'can check it again; for a file in an aggregate also that it is in there.',
        params: dealParams,
        querystring: tokenQuery,
        security,
        response: { 200: dealProofsShape.describe('The proofs'), ...problems(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'list')
      return dealProofs(records, await ownDeal(records, { principal, dealId: request.params.dealId }))
    },
  )

  app.post(
    '/api/deals/:dealId/extend',
    {
      schema: {
        tags: ['files'],
        summary: 'Let one of my deals end later',
        description:
          'Needs the pin scope. Adds days to the term, up to the longest that is granted. Deals on the chain are extended ' +
          'after it.',
        params: dealParams,
        querystring: tokenQuery,
        body: extendRequest,
        security,
        response: { 200: dealEntry.describe('The deal as it is now'), ...problems(400, 401, 403, 404, 409, 503) },
      },
    },
    async (request) => {
      const { principal } = await callerOf(service, request.raw, 'pin')
      const { dealId } = request.params
      const { days } = request.body
      const file = await extendDeal(records, {
        principal,
        dealId,
        days,
        maxTermDays: config.termMaxDays,
        now: filesNow(),
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
        summary: 'Say how many provers hold one of my files',
        description:
          'Needs the pin scope. More copies are made, and those too many released, after the answer. 409 ' +
          'not_enough_provers says how many there are.',
        params: dealParams,
        querystring: tokenQuery,
        body: redundancyRequest,
        security,
        response: { 200: dealEntry.describe('The deal as it is now'), ...problems(400, 401, 403, 404, 409, 503) },
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
