import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { hostnameOf } from './known-host.ts'
import { pathOf } from './query.ts'

/** What is reached at a host that shows content: the content itself, and what browsers and proxies ask any host for. */
const PATHS: ReadonlySet<string> = new Set(['/healthz', '/favicon.ico'])
const PREFIXES = ['/p/', '/share/', '/piece/', '/ipfs/'] as const
/** The same at the domain of sites, which leads to them. */
const DOMAIN_PREFIXES = ['/ipfs/'] as const

/** What is wrong with a request to a host that shows content; undefined for all other requests. */
export type ContentHostCheck = (request: Pick<IncomingMessage, 'headers' | 'url'>) => LadeError<'not_found'> | undefined

/**
 * Keeps everything but retrieval away from the host of `LADE_CONTENT_URL`, where pages of anybody run: there is no API that they could ask
 * as their own origin, and no page of the service that they could look like.
 *
 * The same holds for the domain of `LADE_SITES_URL`, where the service has another name for itself: browsers take a domain and what is below it for
 * one site.
 *
 * @example
 * const problem = contentHostCheck({ publicUrl: 'https://lade.example', contentUrl: 'https://files.example' })
 * problem(request) // not_found for `GET /api/info` with `Host: files.example`
 */
export function contentHostCheck(urls: {
  readonly publicUrl?: string | undefined
  readonly contentUrl?: string | undefined
  readonly sitesUrl?: string | undefined
}): ContentHostCheck {
  const { contentUrl, publicUrl } = urls
  const isContentHost = contentUrl === undefined ? undefined : contentHostTest(contentUrl, publicUrl)
  const domain = siteDomainOf(urls)
  if (isContentHost === undefined && domain === undefined) return () => undefined
  return ({ headers: { host }, url = '' }) => {
    if (host === undefined) return undefined
    const isOfContent = isContentHost?.(host) === true
    if (!isOfContent && hostnameOf(host) !== domain) return undefined
    const path = pathOf(url)
    const prefixes = isOfContent ? PREFIXES : DOMAIN_PREFIXES
    if (PATHS.has(path) || prefixes.some((prefix) => path.startsWith(prefix))) return undefined
    return new LadeError('not_found', { reason: `Only files are served at ${hostnameOf(host)}.` })
  }
}

/** The domain of sites, where it is neither the name of the service nor that of its content. */
function siteDomainOf({ publicUrl, contentUrl, sitesUrl }: Parameters<typeof contentHostCheck>[0]): string | undefined {
  if (sitesUrl === undefined || publicUrl === undefined) return undefined
  const { hostname } = new URL(sitesUrl.replace('*.ipfs.', ''))
  const ownNames = [publicUrl, contentUrl].map((url) => (url === undefined ? undefined : new URL(url).hostname))
  return ownNames.includes(hostname) ? undefined : hostname
}

/** By name, whatever the port, unless both URLs have the same name. */
function contentHostTest(contentUrl: string, publicUrl: string | undefined): (host: string) => boolean {
  const content = new URL(contentUrl)
  const isNamedAlike = publicUrl !== undefined && new URL(publicUrl).hostname === content.hostname
  if (!isNamedAlike) return (host) => hostnameOf(host) === content.hostname
  return (host) => {
    const sent = `${content.protocol}//${host}`
    return URL.canParse(sent) && new URL(sent).host === content.host
  }
}
