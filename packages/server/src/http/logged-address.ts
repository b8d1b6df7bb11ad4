import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import { ipv6Groups } from '../quotas/principal.ts'

/** How much of an address the log has: all of it, its network, or nothing. */
export type LoggedAddresses = 'full' | 'network' | 'none'

const ADDRESS_PRINCIPAL = 'ip:'

/**
 * The log with as much of each address as is allowed, in `address` and in a `principal` that is one. A network is the /24 of an IPv4
 * address and the /48 of an IPv6 address.
 *
 * @example
 * hidingAddresses(log, 'network').info({ address: '192.0.2.7', principal: 'ip:192.0.2.7' }) // '192.0.2.0/24', 'ip:192.0.2.0/24'
 */
export function hidingAddresses(log: Logger, shown: LoggedAddresses): Logger {
  if (shown === 'full') return log
  const networkIfShown = shown === 'network' ? networkOfAddress : () => undefined
  return log.child(
    {},
    {
      formatters: {
        log(line) {
          const { address, principal } = line as { readonly address?: unknown; readonly principal?: unknown }
          if (typeof address !== 'string' && !isAddressPrincipal(principal)) return line
          const hidden: Record<string, unknown> = { ...line }
          if (typeof address === 'string') hidden.address = networkIfShown(address)
          if (isAddressPrincipal(principal)) {
            const network = networkIfShown(principal.slice(ADDRESS_PRINCIPAL.length))
            hidden.principal = network === undefined ? 'ip' : `${ADDRESS_PRINCIPAL}${network}`
          }
          return hidden
        },
      },
    },
  )
}

function isAddressPrincipal(principal: unknown): principal is string {
  return typeof principal === 'string' && principal.startsWith(ADDRESS_PRINCIPAL)
}

/** The /24 or /48 of an address, or of a principal's prefix; undefined for what is neither. */
function networkOfAddress(address: string): string | undefined {
  const [a, b, c, d] = address.split('.')
  if (d !== undefined) return `${a}.${b}.${c}.0/24`
  const [ipv6 = ''] = address.split('/')
  if (!isIPv6(ipv6)) return undefined
  const groups = ipv6Groups(ipv6).slice(0, 3)
  return `${groups.map((group) => group.toString(16)).join(':')}::/48`
}
