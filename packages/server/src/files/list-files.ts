import { LadeError } from '@lade/core/errors'
import { MAX_FILES_PER_PAGE } from '@lade/core/wire'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

const DEFAULT_PAGE = 100

export interface ListFilesInput {
  readonly principal: string
  readonly now: number
  readonly cursor?: string | undefined
  readonly limit?: string | undefined
  readonly q?: string | undefined
  readonly contentType?: string | undefined
  readonly status?: string | undefined
}

export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly nextCursor: string | null
}

/**
 * A page of the principal's files, newest first. Files staged while a listing is paged through do not shift its pages.
 *
 * @throws {LadeError} `bad_request` for a cursor, limit or status that is none.
 */
export async function listFiles(records: RecordStore, input: ListFilesInput): Promise<FilePage> {
  const limit = limitOf(input.limit)
  const beforeSequence = sequenceOf(input.cursor)
  const ended = endedOf(input.status)
  const found = await records.files.list({
    principal: input.principal,
    now: input.now,
    // One more than asked for tells whether another page follows.
    limit: limit + 1,
    ...(beforeSequence === undefined ? {} : { beforeSequence }),
    ...(input.q === undefined || input.q === '' ? {} : { search: input.q }),
    ...(input.contentType === undefined ? {} : { contentType: input.contentType }),
    ...(ended === undefined ? {} : { ended }),
  })
  const files = found.slice(0, limit)
  const last = files.at(-1)
  return { files, nextCursor: found.length > limit && last !== undefined ? last.sequence.toString(36) : null }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PAGE
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_FILES_PER_PAGE) throw refused(`limit is 1 to ${MAX_FILES_PER_PAGE}.`)
  return limit
}

function sequenceOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const sequence = /^[0-9a-z]{1,11}$/.test(cursor) ? Number.parseInt(cursor, 36) : Number.NaN
  if (!Number.isSafeInteger(sequence)) throw refused('cursor is the nextCursor of an earlier page.')
  return sequence
}

/** Files that ended are listed only when asked for. */
function endedOf(status: string | undefined): 'live' | 'expired' | 'removed' | undefined {
  switch (status) {
    case undefined:
    case 'staged':
      return 'live'
    case 'expired':
    case 'removed':
      return status
    default:
      throw refused('status is staged, expired or removed.')
  }
}

function refused(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
