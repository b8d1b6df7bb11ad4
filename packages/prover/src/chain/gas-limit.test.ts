import { describe, expect, test } from 'vitest'
import { dealsWithin, gasLimitOf, mostGasOf } from './gas-limit.ts'

const HEAD = { gasLimit: 30_000_000n }

describe('the gas of a transaction', () => {
  test('is the estimate and a margin, within a bound', () => {
    expect(gasLimitOf(100_000n, 1_000_000n)).toBe(130_001n)
    expect(gasLimitOf(900_000n, 1_000_000n)).toBe(1_000_000n)
    expect(gasLimitOf(1_000_001n, 1_000_000n)).toBeUndefined()
  })

  test('is bounded by the block for one deal, and by a quarter of it and the setting for many', () => {
    expect(mostGasOf(1, HEAD, 5n)).toBe(30_000_000n)
    expect(mostGasOf(2, HEAD, 2n ** 24n)).toBe(7_500_000n)
    expect(mostGasOf(2, HEAD, 5_000_000n)).toBe(5_000_000n)
  })

  test('is enough for at least one deal', () => {
    expect(dealsWithin(100_000n, HEAD, 2n ** 24n)).toBe(57)
    expect(dealsWithin(100_000n, HEAD, 1n)).toBe(1)
    expect(dealsWithin(0n, HEAD, 2n ** 24n)).toBeGreaterThan(1000)
  })
})
