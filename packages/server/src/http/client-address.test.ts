import { describe, expect, it } from 'vitest'
import { addressPrincipal } from '../quotas/principal.ts'
import { clientAddressReader, proxiedRequestTest } from './client-address.ts'
import { requestOf } from './testing-request.ts'

const PROXIES = ['10.0.0.0/8', '192.0.2.1', '2001:db8:aaaa::/48', '::1']

function addressFor(trusted: readonly string[], peer: string | undefined, lines: readonly string[]): string {
  return clientAddressReader(trusted)(requestOf({ peer, lines }))
}

const forwarded = (...values: readonly string[]) => values.flatMap((value) => ['X-Forwarded-For', value])

describe('clientAddressReader without trusted proxies', () => {
  it.each([
    ['203.0.113.9', []],
    ['203.0.113.9', forwarded('198.51.100.1')],
    ['203.0.113.9', forwarded('198.51.100.1, 198.51.100.2')],
    ['203.0.113.9', forwarded('127.0.0.1')],
    ['203.0.113.9', forwarded('unknown')],
    ['203.0.113.9', ['Forwarded', 'for=198.51.100.1']],
    ['203.0.113.9', ['X-Real-IP', '198.51.100.1']],
    ['203.0.113.9', ['CF-Connecting-IP', '198.51.100.1']],
    ['203.0.113.9', ['True-Client-IP', '198.51.100.1']],
    ['203.0.113.9', ['X-Client-IP', '198.51.100.1']],
    ['10.0.0.1', forwarded('198.51.100.1')],
    ['127.0.0.1', forwarded('198.51.100.1')],
    ['::1', forwarded('198.51.100.1')],
    ['2001:db8::7', forwarded('198.51.100.1')],
  ])('counts %s as itself whatever %j claims', (peer, lines) => {
    expect(addressFor([], peer, lines)).toBe(peer)
  })

  it('counts an IPv4 peer of a dual-stack socket as the IPv4 address', () => {
    expect(addressFor([], '::ffff:203.0.113.9', [])).toBe('203.0.113.9')
  })
})

describe('clientAddressReader with trusted proxies', () => {
  it.each([
    ['203.0.113.9', forwarded('198.51.100.1')],
    ['192.0.2.2', forwarded('198.51.100.1')],
    ['11.0.0.1', forwarded('198.51.100.1')],
    ['2001:db8:aaab::1', forwarded('198.51.100.1')],
    ['2001:db8:a::1', forwarded('198.51.100.1, 10.0.0.1')],
  ])('counts an untrusted peer %s as itself whatever %j claims', (peer, lines) => {
    expect(addressFor(PROXIES, peer, lines)).toBe(peer)
  })

  it.each([
    ['one address', '10.0.0.1', forwarded('198.51.100.1'), '198.51.100.1'],
    ['the rightmost untrusted address', '10.0.0.1', forwarded('1.1.1.1, 198.51.100.1'), '198.51.100.1'],
    ['past trusted hops', '10.0.0.1', forwarded('1.1.1.1, 198.51.100.1, 10.9.9.9'), '198.51.100.1'],
    ['past several trusted hops', '10.0.0.1', forwarded('198.51.100.1, 10.1.1.1, 192.0.2.1'), '198.51.100.1'],
    ['not past an untrusted hop', '10.0.0.1', forwarded('198.51.100.1, 192.0.2.2, 10.1.1.1'), '192.0.2.2'],
    ['several header lines in order', '10.0.0.1', forwarded('1.1.1.1', '198.51.100.1'), '198.51.100.1'],
    ['a trusted line last', '10.0.0.1', forwarded('198.51.100.1', '10.2.2.2'), '198.51.100.1'],
    ['a single trusted address', '192.0.2.1', forwarded('198.51.100.1'), '198.51.100.1'],
    ['a mapped trusted peer', '::ffff:10.0.0.1', forwarded('198.51.100.1'), '198.51.100.1'],
    ['a trusted IPv6 peer', '2001:db8:aaaa::5', forwarded('198.51.100.1'), '198.51.100.1'],
    ['a loopback peer', '::1', forwarded('2001:db8::7'), '2001:db8::7'],
    ['a port', '10.0.0.1', forwarded('198.51.100.1:4711'), '198.51.100.1'],
    ['brackets', '10.0.0.1', forwarded('[2001:db8::7]'), '2001:db8::7'],
    ['brackets and a port', '10.0.0.1', forwarded('[2001:db8::7]:443'), '2001:db8::7'],
    ['a mapped address', '10.0.0.1', forwarded('::ffff:198.51.100.1'), '198.51.100.1'],
    ['a mapped address in brackets', '10.0.0.1', forwarded('[::ffff:198.51.100.1]:80'), '198.51.100.1'],
    ['a mapped trusted hop', '10.0.0.1', forwarded('198.51.100.1, ::ffff:10.3.3.3'), '198.51.100.1'],
    ['wide white space', '10.0.0.1', forwarded('  198.51.100.1 \t,\t10.3.3.3  '), '198.51.100.1'],
    ['only trusted hops', '10.0.0.1', forwarded('10.7.7.7, 10.8.8.8'), '10.7.7.7'],
    ['garbage left of the answer', '10.0.0.1', forwarded('unknown, 198.51.100.1'), '198.51.100.1'],
  ])('finds the client: %s', (_title, peer, lines, expected) => {
    expect(addressFor(PROXIES, peer, lines)).toBe(expected)
  })

  it.each([
    'unknown',
    '_hidden',
    '',
    ',',
    '198.51.100.1,',
    '198.51.100.1,,10.0.0.2',
    '198.51.100.256',
    '198.51.100',
    '0x7f.1',
    '017700000001',
    '2130706433',
    '198.51.100.01',
    '198.51.100.1:',
    '198.51.100.1:port',
    '198.51.100.1:123456',
    '[2001:db8::7',
    '2001:db8::7]',
    '[2001:db8::7]443',
    '[2001:db8::7]:',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '2001:db8::7::1',
    '2001:db8:::7',
    'for=198.51.100.1',
    '"198.51.100.1"',
    'example.org',
    'unknown, 10.0.0.2',
    '198.51.100.1/32',
    '１９８.51.100.1',
    'a'.repeat(10_000),
  ])('counts the peer when the header is %j', (value) => {
    expect(addressFor(PROXIES, '10.0.0.1', forwarded(value))).toBe('10.0.0.1')
  })

  it.each([
    ['Forwarded', 'for=198.51.100.1'],
    ['X-Real-IP', '198.51.100.1'],
    ['CF-Connecting-IP', '198.51.100.1'],
  ])('reads no other header: %s', (name, value) => {
    expect(addressFor(PROXIES, '10.0.0.1', [name, value])).toBe('10.0.0.1')
  })

  it('counts a link-local peer as itself, zone or not', () => {
    const address = addressFor(PROXIES, 'fe80::1%eth0', forwarded('198.51.100.1'))
    expect(addressPrincipal(address)).toBe('ip:fe80:0:0:0::/64')
  })

  it('answers an address that can be charged for every header', () => {
    for (const value of ['198.51.100.1', '::ffff:c633:6401', '2001:db8::7', 'x', '0.0.0.0', '::']) {
      expect(addressPrincipal(addressFor(PROXIES, '10.0.0.1', forwarded(value)))).toMatch(/^ip:/)
    }
  })

  it('trusts a hop that is written as a mapped address in hex', () => {
    expect(addressFor(PROXIES, '10.0.0.1', forwarded('198.51.100.1, ::ffff:a00:3'))).toBe('198.51.100.1')
  })
})

describe('proxiedRequestTest', () => {
  it.each([
    ['10.0.0.1', true],
    ['::ffff:10.0.0.1', true],
    ['::1', true],
    ['192.0.2.2', false],
    ['fe80::1%eth0', false],
    [undefined, false],
  ])('answers of the peer %s: %s, whatever the headers claim', (peer, expected) => {
    expect(proxiedRequestTest(PROXIES)(requestOf({ peer, lines: forwarded('10.0.0.1') }))).toBe(expected)
    expect(proxiedRequestTest([])(requestOf({ peer, lines: forwarded('10.0.0.1') }))).toBe(false)
  })
})
