import { isIP } from 'node:net'

/** An address as a multiaddr, and the names of the protocols in it. */
export interface GatewayAddress {
  readonly multiaddr: string
  /** With `https`, by which filters ask for TLS and HTTP together. */
  readonly protocols: ReadonlySet<string>
}

/**
 * The public URL of a service as a multiaddr; undefined for a URL with a path, which a multiaddr cannot have.
 *
 * @example
 * gatewayAddress('https://lade.example')?.multiaddr // '/dns4/lade.example/tcp/443/tls/http'
 */
export function gatewayAddress(publicUrl: string): GatewayAddress | undefined {
  const { protocol, hostname, port, pathname } = new URL(publicUrl)
  if (pathname !== '/') return undefined
  const isTls = protocol === 'https:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const hostProtocol = ({ 4: 'ip4', 6: 'ip6' } as Record<number, string>)[isIP(host)] ?? 'dns4'
  const layers = isTls ? ['tls', 'http'] : ['http']
  return {
    multiaddr: `/${hostProtocol}/${host}/tcp/${port === '' ? (isTls ? 443 : 80) : port}/${layers.join('/')}`,
    protocols: new Set([hostProtocol, 'tcp', ...layers, ...(isTls ? ['https'] : [])]),
  }
}
