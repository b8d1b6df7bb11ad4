import { MAX_FILES_PER_PAGE } from '@lade/core/wire'
import type { FileEnd, RecordStore } from '../records/record-store.ts'
import { type FilePage, filteredPage, pageOf, readPage, refused } from './page.ts'

export interface ListFilesInput {
  readonly principal: string
  readonly now: number
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly q?: string | undefined
  readonly contentType?: string | undefined
  readonly status?: string | undefined
}

/**
 * A page of the principal's files, newest first. Files staged while a listing is paged through do not shift its pages. One with a
 * filter may have fewer files than its limit, or none, before a page that follows.
 *
 * @throws {LadeError} `bad_request` for a cursor, limit or status that is none.
 */
export async function listFiles(records: RecordStore, input: ListFilesInput): Promise<FilePage> {
  const page = readPage(input, MAX_FILES_PER_PAGE)
  const ended = endedOf(input.status)
  const filter = {
    ...(input.q === undefined || input.q === '' ? {} : { search: input.q }),
    ...(input.contentType === undefined ? {} : { contentType: input.contentType }),
  }
  const { principal, now } = input
  const isOpen = ended === 'live'
  // Live files have an index of their own, which every one of them is taken from.
  if (isOpen && Object.keys(filter).length === 0) {
    return pageOf(await records.files.list({ ...page.request, principal, now, ended }), page.limit)
  }
  return filteredPage(records, { ...page, principal, isOpen }, (request) =>
    records.files.list({ ...request, ...filter, principal, now, ended }),
  )
}

/** Files that ended are listed only when asked for. */
function endedOf(status: string | undefined): 'live' | FileEnd {
  switch (status) {
    case undefined:
    case 'staged':
      return 'live'
    case 'expired':
    case 'removed':
    case 'composed':
      return status
    default:
      throw refused('status must be staged, expired, removed or composed.')
  }
}
