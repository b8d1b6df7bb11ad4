import { describe, expect, it } from 'vitest'
import { gatewayAddress } from './gateway-address.ts'
import { isWanted } from './provider-filter.ts'

describe('gatewayAddress', () => {
  it.each([
    ['https://lade.example', '/dns4/lade.example/tcp/443/tls/http'],
    ['https://lade.example:8443', '/dns4/lade.example/tcp/8443/tls/http'],
    ['http://lade.example', '/dns4/lade.example/tcp/80/http'],
    ['http://127.0.0.1:8080', '/ip4/127.0.0.1/tcp/8080/http'],
    ['https://[2001:db8::1]', '/ip6/2001:db8::1/tcp/443/tls/http'],
  ])('%s is %s', (url, multiaddr) => expect(gatewayAddress(url)?.multiaddr).toBe(multiaddr))

  it('has none for a URL with a path, which a multiaddr cannot have', () => {
    expect(gatewayAddress('https://lade.example/files')).toBeUndefined()
  })

  it.each([
    ['', true],
    ['https', true],
    ['tls', true],
    ['http', true],
    ['DNS4, quic-v1', true],
    ['!quic-v1', true],
    ['quic-v1', false],
    ['!tcp', false],
    ['https,!dns4', false],
    ['unknown', false],
    // What Helia asks for.
    ['https,webtransport,webrtc,webrtc-direct,wss,tls', true],
  ])('of an https URL passes the filter %j: %s', (filter, passes) => {
    expect(isWanted(gatewayAddress('https://lade.example')?.protocols ?? new Set(), filter)).toBe(passes)
  })
})
