/**
 * The /48 of an IPv6 principal, which one customer of a provider commands with its 65,536 /64s; undefined for all others.
 *
 * @example
 * networkOf('ip:2001:db8:1:2::/64') // 'ip:2001:db8:1::/48'
 * networkOf('ip:192.0.2.7') // undefined
 */
export function networkOf(principal: string): string | undefined {
  if (!principal.endsWith('::/64')) return undefined
  return `${principal.split(':').slice(0, 4).join(':')}::/48`
}

/** The principals of a network are those between these two, in the order of their characters. */
export function principalsOf(network: string): readonly [after: string, before: string] {
  const groups = network.slice(0, -'::/48'.length)
  return [`${groups}:`, `${groups};`]
}
