import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { siteHosts } from './site-hosts.ts'

const PROXY = '192.0.2.1'
const CONFIG = { sitesUrl: 'https://*.ipfs.sites.example', trustedProxies: [PROXY] }

function requestTo(host: string | undefined, headers: Record<string, string> = {}, peer = PROXY): IncomingMessage {
  return {
    headers: { ...(host && { host }), ...headers },
    socket: { remoteAddress: peer },
  } as unknown as IncomingMessage
}

function hosts(more: Partial<Parameters<typeof siteHosts>[0]> = {}) {
  const sites = siteHosts({ ...CONFIG, ...more })
  if (sites === undefined) throw new TypeError('no sites')
  return sites
}

describe('siteHosts', () => {
  it('has none without the setting', () => expect(siteHosts({ trustedProxies: [] })).toBeUndefined())

  it.each([
    ['bafkqaaa.ipfs.sites.example', { namespace: 'ipfs', label: 'bafkqaaa' }],
    ['BAFKQAAA.ipfs.Sites.example.:8443', { namespace: 'ipfs', label: 'bafkqaaa' }],
    ['a.b.ipfs.sites.example', { namespace: 'ipfs', label: 'a.b' }],
    ['.ipfs.sites.example', { namespace: 'ipfs', label: '' }],
    ['en-x-org.ipns.sites.example', { namespace: 'ipns', label: 'en-x-org' }],
    ['ipfs.sites.example', undefined],
    ['sites.example', undefined],
    ['bafkqaaa.ipfs.sites.example.evil.example', undefined],
    ['bafkqaaaxipfs.sites.example', undefined],
    ['bafkqaaa.ipfs.evilsites.example', undefined],
    ['', undefined],
  ])('reads %s as %j', (host, expected) => {
    expect(hosts().siteOf(requestTo(host))).toEqual(expected)
    expect(hosts().isNamed(host.toLowerCase())).toBe(
      expected?.label === 'bafkqaaa' ? host === host.toLowerCase() : expected !== undefined || host === 'sites.example',
    )
  })

  const own = { publicUrl: 'https://lade.example', contentUrl: 'https://files.example:8443' }
  it.each([
    ['the domain of the sites', 'sites.example', {}, true],
    ['the same with a port', 'sites.example:8443', {}, true],
    ['the public URL', 'lade.example', {}, true],
    ['the content URL', 'FILES.example', {}, true],
    ['another name', 'other.example', {}, false],
    ['the domain, said by a proxy', 'other.example', { 'x-forwarded-host': 'sites.example' }, true],
    ['another name, said by a proxy', 'sites.example', { 'x-forwarded-host': 'other.example' }, false],
    ['no host', undefined, {}, false],
  ] as const)('leads from /ipfs/ at %s to sites: %#', (_what, host, headers, expected) => {
    expect(hosts(own).isRouter(requestTo(host, headers))).toBe(expected)
  })

  it('believes nobody else than a trusted proxy', () => {
    const headers = { 'x-forwarded-host': 'sites.example', 'x-forwarded-proto': 'http' }
    const request = requestTo('other.example', headers, '192.0.2.9')
    expect(hosts().isRouter(request)).toBe(false)
    expect(hosts().originOf(request, 'x')).toBe('https://x.ipfs.sites.example')
    expect(hosts().originOf(requestTo('x', headers), 'x')).toBe('http://x.ipfs.sites.example')
    expect(hosts().originOf(requestTo('x', { 'x-forwarded-proto': 'javascript' }), 'x')).toMatch(/^https:/)
  })

  it('stays a path gateway at addresses, which programs ask', () => {
    for (const publicUrl of ['http://127.0.0.1:8080', 'http://[::1]:8080']) {
      const sites = hosts({ publicUrl })
      expect(sites.isRouter(requestTo(new URL(publicUrl).host))).toBe(false)
      expect(sites.gatewayHost).toBe('sites.example')
    }
    expect(hosts(own).gatewayHost).toBe('lade.example')
    expect(hosts({ sitesUrl: 'http://*.ipfs.localhost:8080' }).gatewayHost).toBe('localhost:8080')
  })
})
