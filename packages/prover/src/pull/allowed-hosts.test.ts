import { describe, expect, test } from 'vitest'
import { isHostEntry, reachOf } from './allowed-hosts.ts'
import { isPublicAddress } from './public-address.ts'

const reach = (url: string, allowed: Parameters<typeof reachOf>[1]) => reachOf(new URL(url), allowed)

describe('reachOf', () => {
  test('allows nothing that is not said', () => {
    expect(reach('https://stage.example/piece/x', {})).toBeUndefined()
    expect(reach('https://other.example/', { publicHosts: ['stage.example'] })).toBeUndefined()
    expect(reach('https://astage.example/', { publicHosts: ['stage.example', '*.stage.example'] })).toBeUndefined()
    expect(reach('https://stage.example.evil.example/', { publicHosts: ['stage.example'] })).toBeUndefined()
  })

  test('reads patterns for public hosts only', () => {
    expect(reach('https://a.b.example/', { publicHosts: ['*.b.example'] })).toBe('public')
    expect(reach('https://b.example/', { publicHosts: ['*.b.example'] })).toBeUndefined()
    expect(reach('https://whatever.example/', { publicHosts: ['*'] })).toBe('public')
    expect(reach('https://whatever.example/', { privateHosts: ['*', '*.example'] })).toBeUndefined()
  })

  test('wants https of public hosts, and takes http of private ones', () => {
    expect(reach('http://stage.example/', { publicHosts: ['*', 'stage.example'] })).toBeUndefined()
    expect(reach('http://lade/', { privateHosts: ['lade'] })).toBe('private')
    expect(reach('https://lade/', { privateHosts: ['lade'] })).toBe('private')
    for (const scheme of ['ftp', 'file', 'gopher', 'ws', 'data']) {
      expect(reach(`${scheme}://lade/`, { publicHosts: ['*'], privateHosts: ['lade:*'] })).toBeUndefined()
    }
  })

  test('compares ports', () => {
    expect(reach('https://stage.example:8443/', { publicHosts: ['stage.example', '*'] })).toBeUndefined()
    expect(reach('https://stage.example:8443/', { publicHosts: ['stage.example:8443'] })).toBe('public')
    expect(reach('https://stage.example/', { publicHosts: ['stage.example:443'] })).toBe('public')
    expect(reach('http://127.0.0.1:4321/', { privateHosts: ['127.0.0.1:*'] })).toBe('private')
    expect(reach('http://127.0.0.1:4321/', { privateHosts: ['127.0.0.1'] })).toBeUndefined()
  })

  test('knows a host in every spelling, and never one with credentials', () => {
    for (const host of ['127.1', '0x7f000001', '017700000001', '127.0.0.1', '%31%32%37.0.0.1']) {
      expect(reach(`http://${host}/`, { privateHosts: ['127.0.0.1'] })).toBe('private')
      expect(reach(`http://${host}/`, { privateHosts: ['localhost'] })).toBeUndefined()
    }
    expect(reach('http://[::1]:80/', { privateHosts: ['[::1]'] })).toBe('private')
    expect(reach('http://LADE/', { privateHosts: ['Lade'] })).toBe('private')
    expect(reach('http://user@lade/', { privateHosts: ['lade'] })).toBeUndefined()
    expect(reach('http://:secret@lade/', { privateHosts: ['lade'] })).toBeUndefined()
  })
})

describe('isHostEntry', () => {
  test('takes names, addresses and patterns with or without a port, and nothing else', () => {
    for (const entry of ['*', '*.example', 'stage.example:443', 'lade:*', '[::1]:80', '10.0.0.1']) {
      expect(isHostEntry(entry)).toBe(true)
    }
    for (const entry of ['', 'https://stage.example', 'a.*.example', 'a/b', '::1', 'a:b', 'user@a', '*:x', '.a']) {
      expect(isHostEntry(entry)).toBe(false)
    }
  })
})

describe('isPublicAddress', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
  ])('is false for %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'is true for %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )
})
