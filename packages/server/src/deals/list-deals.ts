import { DEAL_STATUSES, MAX_DEALS_PER_PAGE, PART_MEDIA_TYPE } from '@lade/core/wire'
import { type FilePage, filteredPage, readPage, unknownStatus } from '../files/page.ts'
import type { PageCursors } from '../files/page-cursor.ts'
import { shownStatusFilter } from '../files/shown-status.ts'
import type { ListDealsRequest, RecordStore } from '../records/record-store.ts'

export interface ListDealsInput {
  readonly principal: string
  readonly now: number
  readonly cursors: PageCursors
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly status?: string | undefined
}

/**
 * A page of the principal's deals, newest first, those that have ended among them unless a status is asked for. It may have fewer deals
 * than its limit, or none, before a page that follows.
 *
 * @returns the files of the deals.
 * @throws {LadeError} `bad_request` for a limit or status that is none; `invalid_cursor`.
 */
export async function listDeals(records: RecordStore, input: ListDealsInput): Promise<FilePage> {
  const { principal, now } = input
  const page = readPage(input, MAX_DEALS_PER_PAGE)
  const filter = asked(input.status)
  const found = await filteredPage(records, { ...page, principal, isOpen: filter.ended === 'live' }, (request) =>
    records.files.listDeals({ ...request, ...filter, principal, now }),
  )
  // Parts have deals of their own until they are composed.
  return { ...found, files: found.files.filter(({ contentType }) => contentType !== PART_MEDIA_TYPE) }
}

function asked(status: string | undefined): Pick<ListDealsRequest, 'ended' | 'status' | 'isExpiring'> {
  if (status === undefined) return {}
  const filter = shownStatusFilter(status)
  if (filter !== undefined) return filter
  throw unknownStatus(status, DEAL_STATUSES)
}
