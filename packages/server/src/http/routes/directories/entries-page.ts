import { LadeError } from '@lade/core/errors'
import { MAX_ENTRIES_PER_PAGE } from '@lade/core/wire'
import { decodeBase64url } from '../../../tokens/token-jwt-base64url.ts'

const DEFAULT_ENTRIES = 100

/** The names of a path in a folder; a slash at either end is ignored. */
export function segmentsOf(path: string): string[] {
  const inner = path.replace(/^\//, '').replace(/\/$/, '')
  return inner === '' ? [] : inner.split('/')
}

/** @throws {LadeError} `bad_request`. */
export function pageLimitOf(limit: string | undefined): number {
  if (limit === undefined) return DEFAULT_ENTRIES
  const entries = /^[1-9][0-9]{0,3}$/.test(limit) ? Number(limit) : Number.NaN
  if (entries <= MAX_ENTRIES_PER_PAGE) return entries
  throw new LadeError('bad_request', { reason: `limit must be a whole number from 1 to ${MAX_ENTRIES_PER_PAGE}.` })
}

/** The name behind which a page begins. @throws {LadeError} `invalid_cursor`. */
export function pageAfter(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const bytes = decodeBase64url(cursor)
  const name = bytes === undefined ? undefined : decodeUtf8(bytes)
  if (name === undefined || name === '') throw new LadeError('invalid_cursor', {})
  return name
}

/** @param name - of the last entry of the page. */
export function pageCursor(name: string): string {
  return Buffer.from(name).toString('base64url')
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  const name = Buffer.from(bytes).toString()
  return Buffer.compare(Buffer.from(name), bytes) === 0 ? name : undefined
}
