import { MAX_DEALS_PER_PAGE } from '@lade/core/wire'
import { type FilePage, pageOf, readPage, refused } from '../files/page.ts'
import type { ListDealsRequest, RecordStore } from '../records/record-store.ts'

export interface ListDealsInput {
  readonly principal: string
  readonly now: number
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly status?: string | undefined
}

/**
 * A page of the principal's deals, newest first, those that have ended among them unless a status is asked for.
 *
 * @returns the files of the deals.
 * @throws {LadeError} `bad_request` for a cursor, limit or status that is none.
 */
export async function listDeals(records: RecordStore, input: ListDealsInput): Promise<FilePage> {
  const { principal, now } = input
  const page = readPage(input, MAX_DEALS_PER_PAGE)
  const ended = endedOf(input.status)
  const found = await records.files.listDeals({
    ...page.request,
    principal,
    now,
    ...(ended === undefined ? {} : { ended }),
  })
  return pageOf(found, page.limit)
}

function endedOf(status: string | undefined): ListDealsRequest['ended'] {
  switch (status) {
    case undefined:
      return undefined
    case 'staged':
      return 'live'
    case 'expired':
    case 'removed':
      return status
    default:
      throw refused('status is staged, expired or removed.')
  }
}
