import { describe, expect, test } from 'vitest'
import { addressFileOf, parseAddressFile } from './address-file.ts'

const MARKETPLACE = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const USDC = `0x${'12'.repeat(20)}` as const

describe('an address file', () => {
  test('is read as it was written', () => {
    const facts = {
      chainId: 31_337,
      marketplace: MARKETPLACE,
      usdc: USDC,
      version: 2,
      firstDealId: 2n ** 60n,
      deployedAtBlock: 7n,
    } as const
    expect(parseAddressFile(addressFileOf(facts))).toEqual(facts)
  })

  test('needs chain and marketplace only, and may say more', () => {
    const text = JSON.stringify({ chainId: 1, marketplace: MARKETPLACE, firstDealId: 5, from: 'somebody' })
    expect(parseAddressFile(text)).toEqual({ chainId: 1, marketplace: MARKETPLACE, firstDealId: 5n })
  })

  test.each([
    ['{', 'is not JSON'],
    ['7', 'is not a JSON object'],
    ['{}', 'has no chainId'],
    [`{"chainId":"1","marketplace":"${MARKETPLACE}"}`, 'has no chainId'],
    ['{"chainId":1,"marketplace":"0x12"}', 'has no address of a marketplace'],
    [`{"chainId":1,"marketplace":"0x${'0'.repeat(40)}"}`, 'has no address of a marketplace'],
  ])('%s is refused', (text, because) => {
    expect(() => parseAddressFile(text)).toThrow(because)
  })
})
