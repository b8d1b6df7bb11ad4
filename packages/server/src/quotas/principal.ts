import { isIPv4, isIPv6 } from 'node:net'

/**
 * Who is charged for an anonymous upload: an IPv4 address, or the /64 of an IPv6 address, since one host commands a
 * whole /64. IPv4-mapped and NAT64 addresses count as the IPv4 address inside.
 *
 * @throws {TypeError} when `address` is no IP address.
 *
 * @example
 * addressPrincipal('::ffff:192.0.2.7') // 'ip:192.0.2.7'
 * addressPrincipal('2001:db8:1:2:3:4:5:6') // 'ip:2001:db8:1:2::/64'
 */
export function addressPrincipal(address: string): string {
  if (isIPv4(address)) return `ip:${address}`
  if (!isIPv6(address)) throw new TypeError(`not an IP address: ${address}`)
  const groups = ipv6Groups(address)
  const embedded = embeddedIPv4(groups)
  if (embedded !== undefined) return `ip:${embedded}`
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return `ip:${prefix.join(':')}::/64`
}

/** Who is charged for a token's uploads. */
export function userPrincipal(sub: string): string {
  return `user:${sub}`
}

/**
 * Who is charged for a wallet's uploads.
 *
 * @param wallet.address - in the mixed case of EIP-55, so that one account is one principal.
 */
export function walletPrincipal({ chainId, address }: { readonly chainId: number; readonly address: string }): string {
  return `wallet:${chainId}:${address}`
}

/** The eight 16-bit groups of an IPv6 address, in any spelling that `isIPv6` accepts. */
export function ipv6Groups(address: string): number[] {
  const [withoutZone = ''] = address.split('%')
  const [head = '', tail] = withoutZone.split('::')
  const front = groupsOf(head)
  const back = tail === undefined ? [] : groupsOf(tail)
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => 0)
  return [...front, ...zeros, ...back]
}

function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function embeddedIPv4(groups: readonly number[]): string | undefined {
  const high = groups[6] ?? 0
  const low = groups[7] ?? 0
  const head = groups.slice(0, 6).join(':')
  // ::ffff:0:0/96 (RFC 4291) and 64:ff9b::/96 (RFC 6052).
  if (head !== '0:0:0:0:0:65535' && head !== `${0x64}:${0xff9b}:0:0:0:0`) return undefined
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
