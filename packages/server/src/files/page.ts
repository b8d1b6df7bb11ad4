import { choiceText, LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { PageCursors } from './page-cursor.ts'

const DEFAULT_PAGE = 100
/** Files that a page looks at, so that a filter which few pass takes milliseconds, however many files somebody has. */
const MOST_LOOKED_AT = 10_000

/** A page of files; `nextCursor` is null on the last one. */
export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly nextCursor: string | null
}

/** Which page is asked for, and what that means for the records. */
export interface AskedPage {
  readonly cursors: PageCursors
  readonly limit: number
  readonly request: { readonly limit: number; readonly beforeSequence?: number }
}

/**
 * Reads which page of a listing is asked for.
 *
 * @throws {LadeError} `bad_request` for a limit that is none; `invalid_cursor`.
 */
export function readPage(
  asked: {
    readonly cursor?: string | undefined
    readonly limit?: string | undefined
    readonly cursors: PageCursors
  },
  maximum: number,
): AskedPage {
  const { cursors } = asked
  const limit = limitOf(asked.limit, maximum)
  const beforeSequence = asked.cursor === undefined ? undefined : cursors.read(asked.cursor)
  // One more than asked for tells whether another page follows.
  const request = { limit: limit + 1, ...(beforeSequence === undefined ? {} : { beforeSequence }) }
  return { cursors, limit, request }
}

/** Whose files a filter goes through: all, or only those that have not been ended. */
export interface FilteredPage extends AskedPage {
  readonly principal: string
  readonly isOpen: boolean
  /** @default 10_000 */
  readonly mostLookedAt?: number
}

/**
 * A page of files that pass a filter. It looks at so many at most, and may have fewer files than its limit for that, or none, though
 * a page follows.
 *
 * @param list - answers the files of the filter within the bounds that it is given.
 */
export async function filteredPage(
  records: RecordStore,
  { cursors, principal, isOpen, limit, request, mostLookedAt = MOST_LOOKED_AT }: FilteredPage,
  list: (request: AskedPage['request'] & { readonly fromSequence?: number }) => Promise<readonly FileRecord[]>,
): Promise<FilePage> {
  const { beforeSequence } = request
  const bounds = {
    principal,
    isOpen,
    count: mostLookedAt,
    ...(beforeSequence === undefined ? {} : { beforeSequence }),
  }
  const fromSequence = await records.files.countBack(bounds)
  const found = await list(fromSequence === undefined ? request : { ...request, fromSequence })
  const page = pageOf(found, { cursors, limit })
  if (page.nextCursor !== null || fromSequence === undefined) return page
  return { ...page, nextCursor: cursors.write(fromSequence) }
}

/** The page, of what was found for it. */
export function pageOf(
  found: readonly FileRecord[],
  { cursors, limit }: Pick<AskedPage, 'cursors' | 'limit'>,
): FilePage {
  const files = found.slice(0, limit)
  const last = files.at(-1)
  return { files, nextCursor: found.length > limit && last !== undefined ? cursors.write(last.sequence) : null }
}

function limitOf(text: string | undefined, maximum: number): number {
  if (text === undefined) return DEFAULT_PAGE
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maximum)
    throw refused(`The query parameter limit is ${JSON.stringify(text.slice(0, 20))}, but it must be 1 to ${maximum}.`)
  return limit
}

/** What a list answers to a status that it does not know. */
export function unknownStatus(status: string, statuses: readonly string[]): LadeError<'bad_request'> {
  const asked = JSON.stringify(status.slice(0, 20))
  return refused(`The query parameter status is ${asked}, but it must be ${choiceText(statuses)}.`)
}

function refused(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
