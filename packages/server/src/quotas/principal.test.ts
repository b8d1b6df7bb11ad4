import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressPrincipal, userPrincipal, walletPrincipal } from './principal.ts'

describe('addressPrincipal', () => {
  it.each([
    ['192.0.2.7', 'ip:192.0.2.7'],
    ['0.0.0.0', 'ip:0.0.0.0'],
    ['::ffff:192.0.2.7', 'ip:192.0.2.7'],
    ['::FFFF:192.0.2.7', 'ip:192.0.2.7'],
    ['::ffff:c000:207', 'ip:192.0.2.7'],
    ['0:0:0:0:0:ffff:c000:0207', 'ip:192.0.2.7'],
    ['64:ff9b::192.0.2.7', 'ip:192.0.2.7'],
    ['64:ff9b::c000:207', 'ip:192.0.2.7'],
    ['64:FF9B:0:0:0:0:192.0.2.7', 'ip:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', 'ip:2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', 'ip:2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', 'ip:2001:db8:1:2::/64'],
    ['2001:db8::1', 'ip:2001:db8:0:0::/64'],
    ['::1', 'ip:0:0:0:0::/64'],
    ['::', 'ip:0:0:0:0::/64'],
    ['fe80::1%eth0', 'ip:fe80:0:0:0::/64'],
    ['1::', 'ip:1:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', 'ip:1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', 'ip:0:2:3:4::/64'],
    ['2001:db8::192.0.2.7', 'ip:2001:db8:0:0::/64'],
    // An address that only resembles a mapped one is not one.
    ['::192.0.2.7', 'ip:0:0:0:0::/64'],
    ['::fffe:192.0.2.7', 'ip:0:0:0:0::/64'],
    ['64:ff9b:1::192.0.2.7', 'ip:64:ff9b:1:0::/64'],
  ])('charges %s as %s', (address, principal) => {
    expect(addressPrincipal(address)).toBe(principal)
  })

  it.each(['', 'unknown', '192.0.2', '192.0.2.256', '1:2:3', ':::', '[::1]', '192.0.2.7:80', 'localhost'])(
    'error: %j is no IP address',
    (address) => expect(() => addressPrincipal(address)).toThrow(TypeError),
  )

  it('charges every address of a /64 as one', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.tuple(group, group, group, group), (low) => {
        const host = low.map((value) => value.toString(16)).join(':')
        expect(addressPrincipal(`2001:db8:1:2:${host}`)).toBe('ip:2001:db8:1:2::/64')
      }),
    )
  })

  it('charges addresses of different /64s apart, however they are written', () => {
    const group = fc.integer({ min: 1, max: 0xffff })
    fc.assert(
      fc.property(fc.tuple(group, group, group, group), (high) => {
        const prefix = high.map((value) => value.toString(16))
        const full = prefix.map((text) => text.padStart(4, '0').toUpperCase()).join(':')
        expect(addressPrincipal(`${full}::9`)).toBe(`ip:${prefix.join(':')}::/64`)
      }),
    )
  })

  it('charges an IPv4 address the same in each of its three forms', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressPrincipal(`::ffff:${address}`)).toBe(`ip:${address}`)
        expect(addressPrincipal(`64:ff9b::${address}`)).toBe(`ip:${address}`)
        expect(addressPrincipal(address)).toBe(`ip:${address}`)
      }),
    )
  })
})

describe('walletPrincipal', () => {
  it('charges an account on one chain, which no user and no address can resemble', () => {
    const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    expect(walletPrincipal({ chainId: 8453, address })).toBe(`wallet:8453:${address}`)
    expect(walletPrincipal({ chainId: 1, address })).not.toBe(walletPrincipal({ chainId: 8453, address }))
  })
})

describe('userPrincipal', () => {
  it('charges a user by the id, which no address can resemble', () => {
    expect(userPrincipal('973dfe463ec85785')).toBe('user:973dfe463ec85785')
  })
})
