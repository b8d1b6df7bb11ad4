import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { requestIdOf } from '../../exchange.ts'
import { pathOf } from '../../query.ts'
import { type GatewayTarget, readTarget } from '../gateway/gateway-target.ts'
import type { AskedFormat } from '../gateway/response-format.ts'

const RAW = 0x55
const DAG_PB = 0x70
/** The operator may take the setting back. */
const CACHE_SECONDS = 300

/** True for what has a host of its own: UnixFS, unless the client asks for blocks that it verifies itself. */
export function isForSites({ cid: { code } }: GatewayTarget, { format }: AskedFormat): boolean {
  return (code === RAW || code === DAG_PB) && format !== 'raw' && format !== 'car'
}

/** Sends from `/ipfs/{cid}` to the host of a site. What follows the CID is kept as it was sent, and looked at there. */
export function sendSiteRedirect(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  headers: OutgoingHttpHeaders,
): void {
  const { url = '' } = request
  const path = pathOf(url)
  const end = path.indexOf('/', '/ipfs/'.length)
  const below = end === -1 ? '/' : path.slice(end)
  sendMoved(request, response, origin + below + url.slice(path.length), headers)
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
