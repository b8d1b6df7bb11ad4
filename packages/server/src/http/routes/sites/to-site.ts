import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { siteLabel } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { exchangeOf, requestIdOf } from '../../exchange.ts'
import { pathOf } from '../../query.ts'
import type { SiteHosts } from '../../site-hosts.ts'
import { GATEWAY_CORS } from '../gateway/gateway-cors.ts'
import { readTarget } from '../gateway/gateway-target.ts'
import { readSiteQuery } from './site-query.ts'

const PREFIX = '/ipfs/'
const RAW = 0x55
const DAG_PB = 0x70
/** The operator may take the setting back. */
const CACHE_SECONDS = 300

/** Sends a request for a content path to the host of its site; false leaves it to the gateway. */
export type SiteRouter = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Sends from `/ipfs/{cid}/…`, at the hosts that are for browsers, to the host of the site. Only the root is looked at: what follows it is kept as it
 * was sent, and is the site's.
 *
 * Left to the gateway is what is no UnixFS, what asks for blocks that the client verifies itself, and what is wrong.
 *
 * @see https://specs.ipfs.tech/http-gateways/subdomain-gateway/#use-in-interop-with-path-gateway
 */
export function siteRouter(sites: SiteHosts): SiteRouter {
  return (request, response) => {
    const { method, url = '', headers } = request
    if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith(PREFIX) || !sites.isRouter(request)) return false
    const path = pathOf(url)
    const end = path.indexOf('/', PREFIX.length)
    const label = labelOf(end === -1 ? path : path.slice(0, end), url, headers)
    if (label === undefined) return false
    exchangeOf(request).route = '/ipfs/{cid}'
    const below = end === -1 ? `/${url.slice(path.length)}` : url.slice(end)
    sendMoved(request, response, sites.originOf(request, label) + below, { ...GATEWAY_CORS, vary: 'Accept' })
    return true
  }
}

/** The name of the site that a request is for; undefined for one that the gateway answers or refuses. */
function labelOf(root: string, url: string, headers: IncomingMessage['headers']): string | undefined {
  if (headers['service-worker'] !== undefined) return undefined
  try {
    const { format } = readSiteQuery(url, headers.accept).asked
    const { cid } = readTarget(root)
    const isSite = (cid.code === RAW || cid.code === DAG_PB) && format !== 'raw' && format !== 'car'
    return isSite ? siteLabel(cid) : undefined
  } catch (error) {
    if (LadeError.is(error)) return undefined
    throw error
  }
}

/**
 * Sends from `/ipfs/?uri=ipfs://…` to the content path of the URI, as browsers ask where this gateway is their handler of `ipfs:`.
 *
 * @throws {LadeError} `bad_request` for what is no URI of IPFS; as `readTarget`.
 * @see https://specs.ipfs.tech/http-gateways/subdomain-gateway/#uri-router
 */
export function sendUriRedirect(
  request: IncomingMessage,
  response: ServerResponse,
  uri: string,
  headers: OutgoingHttpHeaders,
): void {
  const [, scheme, rest = ''] = /^(ipfs|ipns):\/\/(.+)$/.exec(uri) ?? []
  if (scheme === 'ipns') throw noIpns()
  if (scheme === undefined) throw new LadeError('bad_request', { reason: 'uri must begin with ipfs:// and a CID.' })
  const [path = ''] = rest.split(/[?#]/)
  const target = readTarget(`/ipfs/${path}`)
  const query = encodeURI(/\?[^#]*/.exec(rest)?.[0].toWellFormed() ?? '')
  sendMoved(request, response, target.path + (target.hasSlash ? '/' : '') + query, headers)
}

/** The refusal of names that lead to changing content. */
export function noIpns(): LadeError<'bad_request'> {
  return new LadeError('bad_request', {
    reason: 'This gateway resolves no IPNS names and no DNSLink names. Use the CID that the name leads to.',
  })
}

/** Sends to another address for good. @param location - what came in a request target, byte for byte; or ASCII. */
export function sendMoved(
  request: IncomingMessage,
  response: ServerResponse,
  location: string,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(301, {
    ...requestIdOf(request),
    location: location.replace(/[^\x21-\x7e]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`),
    'content-length': 0,
    'cache-control': `public, max-age=${CACHE_SECONDS}`,
    ...headers,
  })
  response.end()
}
