import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'

/** Where a service is reached, and where it shows content of others. */
export interface OwnUrls {
  readonly publicUrl: string
  readonly contentUrl?: string | undefined
}

/**
 * Refuses what a page of another origin asks for by the cookie of this one. Browsers send `Origin` with every change, and no page can set it
 * or `Sec-Fetch-Site`; a cookie comes along whichever page asks.
 *
 * A page of this service is one of its public URL, or of the host that the request is sent to: the same service may be reached by several
 * names. Another port is another origin, and so is the host that shows content.
 *
 * @throws {LadeError} `foreign_origin`.
 */
export function requireOwnOrigin(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  urls: OwnUrls,
): void {
  const { origin, 'sec-fetch-site': site } = headers
  if (method === 'GET' || method === 'HEAD') {
    // Nobody but the browser's user asks for these with `none`, by typing the address, say.
    if (site === undefined || site === 'same-origin' || site === 'none') return
  } else if (isOwnOrigin(origin, headers.host, urls) && (site === undefined || site === 'same-origin')) return
  throw new LadeError('foreign_origin', { origin: origin ?? '' })
}

function isOwnOrigin(
  origin: string | undefined,
  host: string | undefined,
  { publicUrl, contentUrl }: OwnUrls,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false
  const own = new URL(publicUrl)
  if (origin === own.origin) return true
  const sent = new URL(origin)
  if (contentUrl !== undefined && sent.host === new URL(contentUrl).host) return false
  return origin === sent.origin && sent.protocol === own.protocol && sent.host === host?.toLowerCase()
}
