import { MAX_DEALS_PER_PAGE } from '@lade/core/wire'
import { type FilePage, filteredPage, readPage, refused } from '../files/page.ts'
import type { ListDealsRequest, RecordStore } from '../records/record-store.ts'

export interface ListDealsInput {
  readonly principal: string
  readonly now: number
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly status?: string | undefined
}

/**
 * A page of the principal's deals, newest first, those that have ended among them unless a status is asked for. It may have fewer deals
 * than its limit, or none, before a page that follows.
 *
 * @returns the files of the deals.
 * @throws {LadeError} `bad_request` for a cursor, limit or status that is none.
 */
export async function listDeals(records: RecordStore, input: ListDealsInput): Promise<FilePage> {
  const { principal, now } = input
  const page = readPage(input, MAX_DEALS_PER_PAGE)
  const filter = asked(input.status)
  return filteredPage(records, { ...page, principal, isOpen: filter.ended === 'live' }, (request) =>
    records.files.listDeals({ ...request, ...filter, principal, now }),
  )
}

/** What a status asks of the records; `expiring` is what is active and about to end. */
function asked(status: string | undefined): Pick<ListDealsRequest, 'ended' | 'status' | 'isExpiring'> {
  switch (status) {
    case undefined:
      return {}
    case 'staged':
    case 'proposed':
    case 'failed':
      return { ended: 'live', status }
    case 'active':
      return { ended: 'live', status, isExpiring: false }
    case 'expiring':
      return { ended: 'live', status: 'active', isExpiring: true }
    case 'expired':
    case 'removed':
      return { ended: status }
    default:
      throw refused('status must be staged, proposed, active, expiring, failed, expired or removed.')
  }
}
