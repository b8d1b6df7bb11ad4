import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { siteLabel } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { longLabelRefusal } from '../../../gateway/long-label-refusal.ts'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import { exchangeOf } from '../../exchange.ts'
import { asLadeError } from '../../problem.ts'
import { pathOf } from '../../query.ts'
import { sendProblem } from '../../respond.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import type { SiteHosts, SiteName } from '../../site-hosts.ts'
import { turnOf } from '../../unanswered.ts'
import { answerGateway, refuseBlockedTarget } from '../gateway/answer-gateway.ts'
import { answerGatewayOptions, GATEWAY_CORS } from '../gateway/gateway-cors.ts'
import { type GatewayTarget, readTarget } from '../gateway/gateway-target.ts'
import { PAGE_OF_SERVICE_POLICY } from '../gateway/html.ts'
import { publicCachingOf } from '../gateway/public-caching.ts'
import { siteProblem } from './site-problem.ts'
import { readSiteQuery } from './site-query.ts'
import { noIpns, sendMoved } from './to-site.ts'

/** What metrics and logs call all paths of all sites. */
const SITE_ROUTE = '{cid}.ipfs/{path}'
/** The same for sites whose rules cannot be read, which is an error of their authors that has a status of the service's. */
const BROKEN_SITE_ROUTE = '{cid}.ipfs/_redirects'
const METHODS = ['GET', 'HEAD', 'OPTIONS'] as const

/**
 * Headers of every answer of a site. It is an origin of its own, and its pages may do there whatever pages do: there is no policy. Other sites of
 * the domain are kept out of its process.
 */
const SITE_HEADERS: Readonly<Record<string, string>> = {
  ...GATEWAY_CORS,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'origin-agent-cluster': '?1',
  vary: 'Accept',
}

/** Answers a request to the host of a site, whatever its path: nothing of the service itself is there. */
export type SiteHandler = (request: IncomingMessage, response: ServerResponse, site: SiteName) => void

/**
 * `GET|HEAD` at `{cid}.ipfs.example.org`: public content by the Subdomain Gateway specification, with the rules of `_redirects`.
 *
 * @see https://specs.ipfs.tech/http-gateways/subdomain-gateway/
 */
export function siteHandler(service: Service, sites: SiteHosts): SiteHandler {
  return (request, response, site) => {
    if (request.method === 'OPTIONS') answerGatewayOptions(request, response)
    exchangeOf(request).route = SITE_ROUTE
    if (request.method !== 'OPTIONS') void answer(service, sites, request, response, site)
  }
}

/** Why a site does not take a method; undefined for those that it takes. */
export function siteMethodProblem({ method = '' }: IncomingMessage): LadeError<'method_not_allowed'> | undefined {
  if (METHODS.some((allowed) => allowed === method)) return undefined
  return new LadeError('method_not_allowed', { allow: METHODS, method })
}

async function answer(
  service: Service,
  sites: SiteHosts,
  request: IncomingMessage,
  response: ServerResponse,
  site: SiteName,
): Promise<void> {
  const headers: OutgoingHttpHeaders = { ...SITE_HEADERS }
  const { url = '/' } = request
  try {
    const problem = siteMethodProblem(request)
    if (problem !== undefined) throw problem
    const turn = request.method === 'GET' ? turnOf(response) : undefined
    if (turn !== undefined) {
      await turn
      if (response.destroyed) return
    }
    await answerSite(service, sites, request, response, { site, headers })
  } catch (error) {
    if (LadeError.has(error, 'invalid_redirects')) exchangeOf(request).route = BROKEN_SITE_ROUTE
    else logFailure(service, request, error)
    headers['content-security-policy'] = PAGE_OF_SERVICE_POLICY
    const form = siteProblem(`/${site.namespace}/${site.label}${url}`)
    sendProblem(request, response, asLadeError(error), headers, form)
  }
}

async function answerSite(
  service: Service,
  sites: SiteHosts,
  request: IncomingMessage,
  response: ServerResponse,
  { site, headers }: { readonly site: SiteName; readonly headers: OutgoingHttpHeaders },
): Promise<void> {
  if (site.namespace === 'ipns') throw noIpns()
  const { url = '/' } = request
  const target = targetOf(site.label, pathOf(url))
  const label = siteLabel(target.cid)
  // One origin for each root, whichever way its CID is written.
  if (label !== site.label) return sendMoved(request, response, sites.originOf(request, label) + url, headers)
  const { query, asked } = readSiteQuery(url, request.headers.accept)
  refuseBlockedTarget(service, target)
  const cachingOf = (blocks: readonly FoundBlock[]) => publicCachingOf(service, blocks)
  const gateway = `//${sites.gatewayHost}`
  await answerGateway({ service, request, response, target, asked, query, headers, cachingOf, prefix: '/', gateway })
}

/** @throws {LadeError} as `readTarget`; `bad_request` for a CID that is too long for a host. */
function targetOf(label: string, path: string): GatewayTarget {
  try {
    return readTarget(`/ipfs/${label}${path}`)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    const tooLong = longLabelRefusal(label)
    if (tooLong !== undefined) throw tooLong
    const name = label.length > 100 ? `${label.slice(0, 100)}…` : label
    const reason = `The host name begins with ${JSON.stringify(name)}, which is not a CID in base32 or base36.`
    throw new LadeError('invalid_cid', { reason }, { cause: error })
  }
}
