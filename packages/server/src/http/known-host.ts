import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { LadeError } from '@lade/core/errors'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.ts'
import { addressTest } from './client-address.ts'

/** What is wrong with the host that a request is sent to; undefined when nothing is. */
export type HostCheck = (request: IncomingMessage) => LadeError<'misdirected_request'> | undefined

const isLoopbackAddress = addressTest(['127.0.0.0/8', '::1'])

/**
 * Refuses requests for hosts that are not this service's, while it listens on a loopback address.
 *
 * Any site can have a name of its own lead to 127.0.0.1 (DNS rebinding). A page of it would then speak to the service of whoever looks at
 * it, and read the answers. The browser says in `Host` which name it was.
 *
 * @param sites - the hosts of sites, which are the service's, too. With them, other hosts are path gateways.
 *
 * @example
 * const hostProblem = hostCheck({ host: '127.0.0.1', trustedHosts: [] })
 * hostProblem(request) // misdirected_request for `Host: example.com`, undefined for `Host: localhost:8080`
 */
export function hostCheck(
  config: Pick<Config, 'host' | 'publicUrl' | 'contentUrl' | 'trustedHosts'>,
  sites?: { isNamed(hostname: string): boolean },
): HostCheck {
  if (!isLoopback(config.host)) return () => undefined
  const urls = [config.publicUrl, config.contentUrl].filter((url) => url !== undefined)
  const known = new Set([...urls.map((url) => hostnameOf(new URL(url).host)), ...config.trustedHosts])
  /** Nearly all requests are for the same host. */
  let lastKnown: string | undefined
  return ({ headers: { host }, method, url = '' }) => {
    // HTTP/1.0 has none, and no browser speaks that.
    if (host === undefined || host === lastKnown) return undefined
    const hostname = hostnameOf(host)
    const isKnown = isLoopback(hostname) || known.has(hostname) || sites?.isNamed(hostname) === true
    if (!isKnown) {
      // A gateway with sites is a path gateway at every other host. Pages of all origins can read there, whatever it is called.
      if (sites !== undefined && (method === 'GET' || method === 'HEAD') && url.startsWith('/ipfs/')) return undefined
      return new LadeError('misdirected_request', { host })
    }
    lastKnown = host
    return undefined
  }
}

/** Where a service listens, and what it calls itself to its clients. */
interface OwnAddress {
  readonly host: string
  readonly publicUrl: string
}

/** What {@link isLoopbackOnly} found, by host and URL: every upload asks about the same ones. */
const knownAddresses = new LRUCache<string, boolean>({ max: 100 })

/** True when the service listens on a loopback address, and names one to its clients: nobody on another machine reaches it. */
export function isLoopbackOnly({ host, publicUrl }: OwnAddress): boolean {
  const key = `${host} ${publicUrl}`
  const known = knownAddresses.get(key)
  if (known !== undefined) return known
  const found = isLoopback(host) && isLoopback(new URL(publicUrl).hostname)
  knownAddresses.set(key, found)
  return found
}

/** True for a page of another site, by the `Origin` that browsers send; false without one. */
export function isOfForeignOrigin(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { publicUrl, contentUrl }: { readonly publicUrl: string; readonly contentUrl?: string | undefined },
): boolean {
  const { origin, host } = headers
  if (origin === undefined) return false
  const originHost = URL.canParse(origin) ? new URL(origin).host : undefined
  // What is shown under the address for content is anybody's.
  if (contentUrl !== undefined && originHost === new URL(contentUrl).host) return true
  return originHost !== new URL(publicUrl).host && originHost !== host?.toLowerCase()
}

/** A host without its port, in lower case. */
export function hostnameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
}

/** What a proxy adds to the requests that it passes on. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** True for a request from this machine to a service that only this machine reaches, as where one tries it. */
export function isFromThisMachine({ headers }: Pick<IncomingMessage, 'headers'>, service: OwnAddress): boolean {
  return isLoopbackOnly(service) && FORWARDING.every((name) => headers[name] === undefined)
}

/** True for a name or an address that leads to this machine alone; IPv6 with or without brackets. */
export function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) !== 0) return isLoopbackAddress(address)
  return address === 'localhost' || address.endsWith('.localhost')
}
