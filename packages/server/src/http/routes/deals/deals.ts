import { dealEntry, dealList, dealsQuery } from '@lade/core/wire'
import * as z from 'zod'
import { dealEntryOf } from '../../../deals/deal-entry.ts'
import { listDeals } from '../../../deals/list-deals.ts'
import { ownDeal } from '../../../deals/own-deal.ts'
import { userPrincipal } from '../../../quotas/principal.ts'
import { claimsOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'

const dealParams = z.object({ dealId: z.string().describe('As the upload answered it') })

/** `/api/deals` and `/api/deals/{dealId}`. */
export function dealRoutes(app: Routes, service: Service): void {
  const { records, retrievalUrl, now } = service

  app.get(
    '/api/deals',
    {
      schema: {
        tags: ['files'],
        summary: 'List my deals, newest first',
        description: 'Needs the list scope. Those that have ended are among them, unless a status is asked for.',
        querystring: dealsQuery,
        security,
        response: { 200: dealList.describe('My deals'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const claims = await claimsOf(service, request.raw, 'list')
      const at = now()
      const page = await listDeals(records, { ...request.query, principal: userPrincipal(claims.sub), now: at })
      const deals = page.files.map((file) => dealEntryOf(file, retrievalUrl, at))
      return { userId: claims.sub, email: claims.email, count: deals.length, deals, nextCursor: page.nextCursor }
    },
  )

  app.get(
    '/api/deals/:dealId',
    {
      schema: {
        tags: ['files'],
        summary: 'One of my deals',
        description: 'Needs the list scope. Answers a deal that has ended, too; its status says so.',
        params: dealParams,
        querystring: tokenQuery,
        security,
        response: { 200: dealEntry.describe('The deal'), ...problems(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const claims = await claimsOf(service, request.raw, 'list')
      const { dealId } = request.params
      const file = await ownDeal(records, { principal: userPrincipal(claims.sub), dealId })
      return dealEntryOf(file, retrievalUrl, now())
    },
  )
}
