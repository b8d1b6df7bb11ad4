import { BlockList, isIPv6 } from 'node:net'

/** Everything of IPv4 that is not reachable from the whole internet. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const PRIVATE_IPV4 = blockListOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
])
/** What is given out of IPv6 at all. Addresses that carry one of IPv4, such as ::ffff:10.0.0.1, lie outside or below. */
const GLOBAL_IPV6 = blockListOf('ipv6', [['2000::', 3]])
/** @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const PRIVATE_IPV6 = blockListOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])

/**
 * True for an address that is reachable from the whole internet: not the machine itself, its networks or its neighbours.
 *
 * @example
 * isPublicAddress('169.254.169.254') // false
 */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !PRIVATE_IPV4.check(address, 'ipv4')
  return GLOBAL_IPV6.check(address, 'ipv6') && !PRIVATE_IPV6.check(address, 'ipv6')
}

function blockListOf(
  family: 'ipv4' | 'ipv6',
  ranges: readonly (readonly [network: string, prefix: number])[],
): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family)
  return list
}
