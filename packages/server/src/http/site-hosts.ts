import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Config } from '../config/config.ts'
import { proxiedRequestTest } from './client-address.ts'
import { hostnameOf } from './known-host.ts'

/** The hosts of `LADE_SITES_URL`, of which each root has one of its own. */
export interface SiteHosts {
  /** Which site a request is sent to; undefined for a request to any other host. */
  siteOf(request: Pick<IncomingMessage, 'headers'>): SiteName | undefined
  /** True for a name that the setting names: that of a site, and the one below which sites are. */
  isNamed(hostname: string): boolean
  /**
   * True where paths of `/ipfs/` lead to sites: at the domain of the sites, and at the names that the service has by its other settings. Other names
   * and addresses stay path gateways. What `X-Forwarded-Host` of a trusted proxy says comes before `Host`.
   */
  isRouter(request: IncomingMessage): boolean
  /** The origin of a site, by the scheme that the client used as far as a trusted proxy says it. */
  originOf(request: IncomingMessage, label: string): string
  /** Where content paths are opened that are not below the root of a site: a host, and its port. */
  readonly gatewayHost: string
}

/** What a host is called that is a site's. */
export interface SiteName {
  readonly namespace: 'ipfs' | 'ipns'
  /** In lower case; of an IPFS site its CID, unless the sender made something up. */
  readonly label: string
}

/**
 * Tells the hosts of sites apart from the others; undefined where the service has no sites.
 *
 * @example
 * const sites = siteHosts({ sitesUrl: 'https://*.ipfs.example.org', trustedProxies: [] })
 * sites?.siteOf({ headers: { host: 'bafy….ipfs.example.org' } }) // { namespace: 'ipfs', label: 'bafy…' }
 */
export function siteHosts({
  sitesUrl,
  publicUrl,
  contentUrl,
  trustedProxies,
}: Pick<Config, 'sitesUrl' | 'publicUrl' | 'contentUrl' | 'trustedProxies'>): SiteHosts | undefined {
  if (sitesUrl === undefined) return undefined
  const { protocol, host, hostname } = new URL(sitesUrl.replace('*.ipfs.', ''))
  const isProxied = proxiedRequestTest(trustedProxies)
  const ownNames = [publicUrl, contentUrl].flatMap((url) => {
    const name = url === undefined ? undefined : new URL(url).hostname
    // Programs reach an address, and browsers a name.
    return name === undefined || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ? [] : [name]
  })
  const routers = new Set([hostname, ...ownNames])
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl)

  function siteNamed(name: string): SiteName | undefined {
    for (const namespace of ['ipfs', 'ipns'] as const) {
      const suffix = `.${namespace}.${hostname}`
      if (name.endsWith(suffix)) return { namespace, label: name.slice(0, -suffix.length) }
    }
    return undefined
  }

  return {
    gatewayHost: publicHost !== undefined && routers.has(publicHost.hostname) ? publicHost.host : host,
    siteOf: ({ headers }) => (headers.host === undefined ? undefined : siteNamed(hostnameOf(headers.host))),
    isNamed: (name) => name === hostname || siteNamed(name) !== undefined,
    isRouter(request) {
      const { host: sent = '', 'x-forwarded-host': forwarded } = request.headers
      const isForwarded = typeof forwarded === 'string' && isProxied(request)
      return routers.has(hostnameOf(isForwarded ? forwarded : sent))
    },
    originOf(request, label) {
      const scheme = request.headers['x-forwarded-proto']
      const isKnown = (scheme === 'http' || scheme === 'https') && isProxied(request)
      return `${isKnown ? `${scheme}:` : protocol}//${label}.ipfs.${host}`
    },
  }
}
