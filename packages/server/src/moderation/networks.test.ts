import { describe, expect, it } from 'vitest'
import { NetworkMap, networkText, parseNetwork } from './networks.ts'

describe('parseNetwork', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7/32'],
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['10.255.255.255/8', '10.0.0.0/8'],
    ['2001:DB8:0:0::7', '2001:db8::7/128'],
    ['2001:db8:1:2:3::/64', '2001:db8:1:2::/64'],
    ['2001:db8::/16', '2001::/16'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['64:ff9b::192.0.2.7', '192.0.2.7/32'],
  ])('%s is %s', (text, written) => {
    const network = parseNetwork(text)
    expect(network && networkText(network)).toBe(written)
  })

  it.each([
    '',
    'example.org',
    '192.0.2',
    '192.0.2.0/',
    '192.0.2.0/33',
    '192.0.2.0/24/24',
    '10.0.0.0/7',
    '2000::/15',
    '::/0',
    'fe80::1%eth0',
    '192.0.2.0/-1',
  ])('%j is none', (text) => expect(parseNetwork(text)).toBeUndefined())
})

describe('NetworkMap', () => {
  it('finds the networks that an address is in, and passes over longer ones where that is asked for', () => {
    const networks = new NetworkMap<string>()
    for (const text of ['192.0.2.0/24', '2001:db8::/32', '2001:db9:1:2::5']) {
      const network = parseNetwork(text)
      if (network !== undefined) networks.set(network, text)
    }
    expect(networks.size).toBe(3)
    expect(networks.find('192.0.2.255')).toBe('192.0.2.0/24')
    expect(networks.find('::ffff:192.0.2.1')).toBe('192.0.2.0/24')
    expect(networks.find('2001:db8:ffff::1')).toBe('2001:db8::/32')
    expect(networks.find('2001:db9:1:2::5')).toBe('2001:db9:1:2::5')
    expect(networks.find('2001:db9:1:2::5', 64)).toBeUndefined()
    for (const other of ['192.0.3.0', '2001:db9::', 'no address', '']) expect(networks.find(other)).toBeUndefined()
    networks.clear()
    expect(networks.find('192.0.2.255')).toBeUndefined()
  })
})
