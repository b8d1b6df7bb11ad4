import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

export type ClientAddress = (request: IncomingMessage) => string

/**
 * Finds the address that a request is counted under.
 *
 * Without trusted proxies that is the peer, whatever the headers claim. Behind trusted proxies it is the rightmost
 * address of `X-Forwarded-For` that is not a trusted proxy itself; a header that is not a list of addresses counts as
 * absent, so that nobody can put himself, or others, under a name of his choosing.
 *
 * @param trustedProxies - addresses and CIDR blocks.
 */
export function clientAddressReader(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = addressTest(trustedProxies)

  return (request) => {
    const peer = peerOf(request)
    const forwarded = request.headers['x-forwarded-for']
    if (trustedProxies.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer
    const chain = (typeof forwarded === 'string' ? forwarded : forwarded.join(',')).split(',').map(bareAddress)
    let address = peer
    for (const hop of chain.reverse()) {
      if (hop === undefined) return peer
      address = hop
      if (!isTrusted(hop)) return hop
    }
    return address
  }
}

/** True for requests that a trusted proxy sent, whose other headers may then be believed, too. */
export function proxiedRequestTest(trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  const isTrusted = addressTest(trustedProxies)
  return (request) => isTrusted(peerOf(request))
}

/** Tells addresses that are in these: addresses and CIDR blocks. */
export function addressTest(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function peerOf(request: IncomingMessage): string {
  return withoutMapping(request.socket.remoteAddress ?? '0.0.0.0')
}

function bareAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const inBrackets = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(trimmed)?.[1]
  const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(trimmed)?.[1]
  const candidate = withoutMapping(inBrackets ?? withPort ?? trimmed)
  return isIP(candidate) === 0 || candidate.includes('%') ? undefined : candidate
}

/** An IPv4 address that a socket for both shows as IPv6, as IPv4. */
export function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  return mapped ?? address
}
