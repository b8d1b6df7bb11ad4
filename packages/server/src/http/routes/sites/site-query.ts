import { LadeError } from '@lade/core/errors'
import { parseFileName } from '@lade/core/wire'
import { pathOf, type Query } from '../../query.ts'
import { type AskedFormat, askedFormat, FORMAT_MEDIA_TYPES } from '../gateway/response-format.ts'

/** What the gateway reads for its own pages and downloads. */
const PAGE_PARAMETERS = ['download', 'after'] as const
/** What it reads for blocks. */
const BLOCK_PARAMETERS = ['dag-scope', 'entity-bytes', 'car-version', 'car-order', 'car-dups'] as const

/**
 * Reads the query of a request to a site, which is the site's own. What the gateway would not take for one of its parameters is not one, and
 * of a parameter that is there twice the first counts: scripts of the site may mean something else by it.
 *
 * @throws {LadeError} as `askedFormat`, for what `Accept` says.
 */
export function readSiteQuery(
  url: string,
  accept: string | undefined,
): { readonly query: Query; readonly asked: AskedFormat } {
  const sent = new URLSearchParams(url.slice(pathOf(url).length + 1))
  const query = new Map<string, string>()
  const keep = (name: string, isTaken: (value: string) => boolean = () => true): void => {
    const value = sent.get(name)
    if (value !== null && isTaken(value)) query.set(name, value)
  }
  keep('format', (value) => Object.hasOwn(FORMAT_MEDIA_TYPES, value))
  const asked = askedFormat(query, accept)
  for (const name of PAGE_PARAMETERS)
    keep(name, (value) => name !== 'download' || value === 'true' || value === 'false')
  // A name gives a file its type, too, which nobody but the site is to choose for a page of its origin.
  if (query.get('download') === 'true' || query.has('format')) keep('filename', isFileName)
  if (asked.format === 'raw' || asked.format === 'car') for (const name of BLOCK_PARAMETERS) keep(name)
  return { query, asked }
}

function isFileName(text: string): boolean {
  try {
    return parseFileName(encodeURIComponent(text)) !== undefined
  } catch (error) {
    if (LadeError.has(error, 'invalid_filename') || error instanceof URIError) return false
    throw error
  }
}
