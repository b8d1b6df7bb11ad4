import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openFakeChain } from '../chain/fake-chain.ts'
import { ALICE } from './testing-wallets.ts'
import { quotaBytesOf, usdcText, walletQuotaBytes } from './wallet-quota.ts'

const GIB = 1_073_741_824

describe('quotaBytesOf', () => {
  it.each<[bigint, bigint, number]>([
    [0n, 1_000_000n, 0],
    [1n, 1_000_000n, 1073],
    [999_999n, 1_000_000n, 1_073_740_750],
    [1_000_000n, 1_000_000n, GIB],
    [1_000_001n, 1_000_000n, GIB + 1073],
    [2_500_000n, 1_000_000n, 2.5 * GIB],
    [1n, 2_000_000_000n, 0],
    [2n, 2_000_000_000n, 1],
    [1_000_000n, 1n, GIB * 1_000_000],
    [10n ** 30n, 1n, Number.MAX_SAFE_INTEGER],
  ])('%d at %d for a GiB are %d bytes', (balance, price, bytes) => {
    expect(quotaBytesOf(balance, price)).toBe(bytes)
  })

  it('is the most that the balance pays for, and not a byte more', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 18n })
    fc.assert(
      fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 15n }), (balance, price) => {
        const bytes = quotaBytesOf(balance, price)
        expect(Number.isSafeInteger(bytes)).toBe(true)
        if (bytes === Number.MAX_SAFE_INTEGER) return
        expect(BigInt(bytes) * price <= balance * BigInt(GIB)).toBe(true)
        expect((BigInt(bytes) + 1n) * price > balance * BigInt(GIB)).toBe(true)
      }),
    )
  })
})

describe('walletQuotaBytes', () => {
  it('asks the chain what the wallet holds, each time', async () => {
    const chain = openFakeChain()
    const wallet = { chainId: chain.chainId, address: ALICE.address }
    const quota = () => walletQuotaBytes({ chain, microUsdcPerGib: 2_000_000n }, wallet)
    expect(await quota()).toBe(0)
    chain.setBalance(ALICE.address, 3_000_000n)
    expect(await quota()).toBe(1.5 * GIB)
    chain.setOnline(false)
    await expect(quota()).rejects.toMatchObject({ code: 'chain_offline' })
  })
})

describe('usdcText', () => {
  it.each([
    [1_000_000n, '1'],
    [250_000n, '0.25'],
    [1n, '0.000001'],
    [123_456_789n, '123.456789'],
    [10_000_000n, '10'],
  ])('writes %d as %s', (amount, text) => expect(usdcText(amount)).toBe(text))
})
