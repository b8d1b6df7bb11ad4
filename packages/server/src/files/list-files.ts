import { choiceText, LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import {
  FILE_KINDS,
  FILE_STATUSES,
  type FileKind,
  MAX_ENDS_WITHIN_DAYS,
  MAX_FILES_PER_PAGE,
  PART_MEDIA_TYPE,
} from '@lade/core/wire'
import type { ListFilesRequest, RecordStore } from '../records/record-store.ts'
import { type FilePage, filteredPage, pageOf, readPage, unknownStatus } from './page.ts'
import type { PageCursors } from './page-cursor.ts'
import { shownStatusFilter } from './shown-status.ts'

export interface ListFilesInput {
  readonly principal: string
  readonly now: number
  readonly cursors: PageCursors
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly q?: string | undefined
  readonly contentType?: string | undefined
  readonly kind?: string | undefined
  readonly endsWithinDays?: string | undefined
  readonly status?: string | undefined
}

/**
 * A page of the principal's files, newest first. Files staged while a listing is paged through do not shift its pages. Parts of files that
 * are being uploaded are left out, unless their media type is asked for. A page may have fewer files than its limit, or none, before a page
 * that follows.
 *
 * @throws {LadeError} `bad_request` for a limit, kind, number of days or status that is none; `invalid_cursor`.
 */
export async function listFiles(records: RecordStore, input: ListFilesInput): Promise<FilePage> {
  const listed = await listAll(records, input)
  if (input.contentType !== undefined) return listed
  return { ...listed, files: listed.files.filter(({ contentType }) => contentType !== PART_MEDIA_TYPE) }
}

async function listAll(records: RecordStore, input: ListFilesInput): Promise<FilePage> {
  const page = readPage(input, MAX_FILES_PER_PAGE)
  const selected = selectedBy(input.status)
  const filter = {
    ...selected,
    ...(input.q === undefined || input.q === '' ? {} : { search: input.q }),
    ...(input.contentType === undefined ? {} : { contentType: input.contentType }),
    ...(input.kind === undefined ? {} : { kind: kindOf(input.kind) }),
    ...(input.endsWithinDays === undefined ? {} : { endsUntil: input.now + daysOf(input.endsWithinDays) * DAY_MS }),
  }
  const { principal, now } = input
  const isOpen = selected.ended === 'live'
  const isFiltered = Object.keys(filter).length > 1
  // Live files have an index of their own, which every one of them is taken from.
  if (isOpen && !isFiltered) {
    return pageOf(await records.files.list({ ...page.request, principal, now, ended: 'live' }), page)
  }
  return filteredPage(records, { ...page, principal, isOpen }, (request) =>
    records.files.list({ ...request, ...filter, principal, now }),
  )
}

/** Files that ended are listed only when asked for. */
function selectedBy(
  status: string | undefined,
): Required<Pick<ListFilesRequest, 'ended'>> & Pick<ListFilesRequest, 'status' | 'isExpiring'> {
  if (status === undefined) return { ended: 'live' }
  if (status === 'composed') return { ended: status }
  const filter = shownStatusFilter(status)
  if (filter !== undefined) return filter
  throw unknownStatus(status, FILE_STATUSES)
}

function kindOf(text: string): FileKind {
  const kind = FILE_KINDS.find((one) => one === text)
  if (kind !== undefined) return kind
  throw refused('kind', text, choiceText(FILE_KINDS))
}

function daysOf(text: string): number {
  const days = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= MAX_ENDS_WITHIN_DAYS) return days
  throw refused('endsWithinDays', text, `a whole number from 1 to ${MAX_ENDS_WITHIN_DAYS}`)
}

function refused(parameter: string, text: string, expected: string): LadeError<'bad_request'> {
  const asked = JSON.stringify(text.slice(0, 20))
  return new LadeError('bad_request', {
    reason: `The query parameter ${parameter} is ${asked}, but it must be ${expected}.`,
  })
}
