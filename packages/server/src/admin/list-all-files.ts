import { MAX_ADMIN_PER_PAGE } from '@lade/core/wire'
import { type FilePage, pageOf, readPage } from '../files/page.ts'
import type { PageCursors } from '../files/page-cursor.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { readPrincipal } from './read-principal.ts'

/** Files that a page looks at. */
const MOST_LOOKED_AT = 10_000

/**
 * A page of the live files of everybody, or of one caller, newest first. It may have fewer files than its limit, or none, before a page that
 * follows.
 *
 * @throws {LadeError} `bad_request` for a limit or a caller that is none; `invalid_cursor`, `invalid_email`.
 */
export async function listAllFiles(
  records: Pick<RecordStore, 'admin' | 'files'>,
  asked: {
    readonly cursor?: string | undefined
    readonly limit?: string | undefined
    readonly q?: string | undefined
    readonly principal?: string | undefined
    readonly cursors: PageCursors
    readonly now: number
  },
): Promise<FilePage> {
  const page = readPage(asked, MAX_ADMIN_PER_PAGE)
  const { now, q: search = '', principal } = asked
  if (principal !== undefined && principal !== '') {
    const own = { principal: readPrincipal(principal), now, ended: 'live' } as const
    return pageOf(await records.files.list({ ...page.request, ...own, ...(search !== '' && { search }) }), page)
  }
  const newest = (await records.files.newest())?.sequence ?? 0
  const before = Math.min(page.request.beforeSequence ?? Number.MAX_SAFE_INTEGER, newest + 1)
  const from = Math.max(0, before - MOST_LOOKED_AT)
  const found: readonly FileRecord[] = await records.admin.files({
    now,
    before,
    from,
    limit: page.request.limit,
    search,
  })
  const { files, nextCursor } = pageOf(found, page)
  return { files, nextCursor: nextCursor ?? (from > 1 ? page.cursors.write(from) : null) }
}
