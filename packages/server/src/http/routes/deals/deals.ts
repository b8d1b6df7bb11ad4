import { type DealEntry, dealEntry, dealList, dealsQuery } from '@lade/core/wire'
import * as z from 'zod'
import { dealEntryOf } from '../../../deals/deal-entry.ts'
import { fullDeals } from '../../../deals/full-deals.ts'
import { listDeals } from '../../../deals/list-deals.ts'
import { ownDeal } from '../../../deals/own-deal.ts'
import { pageCursors } from '../../../files/page-cursor.ts'
import type { FileRecord } from '../../../records/record-store.ts'
import { callerOf } from '../../authenticate.ts'
import type { Service } from '../../service.ts'
import { problems, type Routes, security, tokenQuery } from '../routes.ts'

export const dealParams = z.object({ dealId: z.string().describe('A dealId, or a syntheticDealId') })

/** `/api/deals` and `/api/deals/{dealId}`. */
export function dealRoutes(app: Routes, service: Service): void {
  const { records, retrievalUrl, filesNow } = service

  app.get(
    '/api/deals',
    {
      schema: {
        tags: ['files'],
        operationId: 'listDeals',
        summary: 'List your deals, newest first',
        description: 'Scope list. Includes deals that have ended, unless status is set.',
        querystring: dealsQuery,
        security,
        response: { 200: dealList.describe('The deals'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      const at = filesNow()
      const { principal } = caller
      const cursors = pageCursors(() => service.keys.current(), { listing: 'deals', principal })
      const page = await listDeals(records, { ...request.query, principal, cursors, now: at })
      const found = await fullDeals(records, page.files)
      const deals = found.map((deal) => dealEntryOf(deal, retrievalUrl, at))
      return { userId: caller.userId, email: caller.email, count: deals.length, deals, nextCursor: page.nextCursor }
    },
  )

  app.get(
    '/api/deals/:dealId',
    {
      schema: {
        tags: ['files'],
        operationId: 'getDeal',
        summary: 'Show a deal',
        description: 'Scope list. Also returns a deal that has ended; see its status.',
        params: dealParams,
        querystring: tokenQuery,
        security,
        response: { 200: dealEntry.describe('The deal'), ...problems(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const caller = await callerOf(service, request.raw, 'list')
      const { dealId } = request.params
      const file = await ownDeal(records, { principal: caller.principal, dealId })
      return showDeal(service, file)
    },
  )
}

/** The deal of a file as it is shown. */
export async function showDeal({ records, retrievalUrl, filesNow }: Service, file: FileRecord): Promise<DealEntry> {
  const [deal] = await fullDeals(records, [file])
  if (deal === undefined) throw new TypeError('a deal was asked for and none was answered')
  return dealEntryOf(deal, retrievalUrl, filesNow())
}
