import { LadeError } from '@lade/core/errors'
import type { FileRecord } from '../records/record-store.ts'

const DEFAULT_PAGE = 100

export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly nextCursor: string | null
}

/** Which page is asked for, and what that means for the records. */
export interface AskedPage {
  readonly limit: number
  readonly request: { readonly limit: number; readonly beforeSequence?: number }
}

/**
 * Reads which page of a listing is asked for.
 *
 * @throws {LadeError} `bad_request` for a cursor or limit that is none.
 */
export function readPage(
  asked: { readonly cursor?: string | undefined; readonly limit?: string | undefined },
  maximum: number,
): AskedPage {
  const limit = limitOf(asked.limit, maximum)
  const beforeSequence = sequenceOf(asked.cursor)
  // One more than asked for tells whether another page follows.
  const request = { limit: limit + 1, ...(beforeSequence === undefined ? {} : { beforeSequence }) }
  return { limit, request }
}

/** The page, of what was found for it. */
export function pageOf(found: readonly FileRecord[], limit: number): FilePage {
  const files = found.slice(0, limit)
  const last = files.at(-1)
  return { files, nextCursor: found.length > limit && last !== undefined ? last.sequence.toString(36) : null }
}

function limitOf(text: string | undefined, maximum: number): number {
  if (text === undefined) return DEFAULT_PAGE
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maximum) throw refused(`limit is 1 to ${maximum}.`)
  return limit
}

function sequenceOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const sequence = /^[0-9a-z]{1,11}$/.test(cursor) ? Number.parseInt(cursor, 36) : Number.NaN
  if (!Number.isSafeInteger(sequence)) throw refused('cursor is the nextCursor of an earlier page.')
  return sequence
}

export function refused(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
