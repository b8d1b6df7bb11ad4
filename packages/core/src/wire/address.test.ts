import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checksumAddress, isChecksummedAddress, isZeroAddress } from './address.ts'

/** The vectors of EIP-55: all capitals, all lower case, and mixed. */
const VECTORS = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

describe('checksumAddress', () => {
  it.each(VECTORS)('gives %s of any spelling', (address) => {
    expect(checksumAddress(address)).toBe(address)
    expect(checksumAddress(address.toLowerCase())).toBe(address)
    expect(checksumAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(address)
  })

  it('changes nothing but the case, and once', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const lower = `0x${Buffer.from(bytes).toString('hex')}`
        const checksummed = checksumAddress(lower)
        expect(checksummed.toLowerCase()).toBe(lower)
        expect(checksumAddress(checksummed)).toBe(checksummed)
        expect(isChecksummedAddress(checksummed)).toBe(true)
      }),
    )
  })

  it.each([
    '',
    '0x',
    '52908400098527886E0F7030069857D2E4169EE7',
    `0X${'a'.repeat(40)}`,
    `0x${'a'.repeat(39)}`,
    `0x${'g'.repeat(40)}`,
  ])('error: %j is a TypeError', (text) => expect(() => checksumAddress(text)).toThrow(TypeError))
})

describe('isChecksummedAddress', () => {
  it('is false for another case, and for what is no address', () => {
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    expect(isChecksummedAddress(address)).toBe(true)
    for (const text of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`, `${address} `, '']) {
      expect(isChecksummedAddress(text)).toBe(false)
    }
  })
})

describe('isZeroAddress', () => {
  it('knows the address of nobody', () => {
    expect(isZeroAddress(`0x${'0'.repeat(40)}`)).toBe(true)
    expect(isZeroAddress(`0x${'0'.repeat(39)}1`)).toBe(false)
  })
})
