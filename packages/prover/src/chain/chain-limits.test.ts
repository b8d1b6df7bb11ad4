import { describe, expect, test } from 'vitest'
import { readProverSettings } from '../settings.ts'
import { readChainLimits } from './chain-limits.ts'

const [ONE, TWO] = [`0x${'aB'.repeat(20)}`, `0x${'12'.repeat(20)}`]

describe('the limits of a prover on a chain', () => {
  test('have defaults that refuse unpaid deals and high fees', () => {
    expect(readChainLimits({})).toEqual({
      chainId: undefined,
      leastMicroUsdcPerGibDay: 50n,
      clients: undefined,
      longestTermSeconds: 1830 * 86_400,
      mostWeiPerGas: 500n * 10n ** 9n,
      mostGasForMany: 2n ** 24n,
      mostBond: 0n,
      microUsdcPerCoin: undefined,
    })
  })

  test('are read with the other settings of the chain', () => {
    const env = {
      LADE_PROVER_CHAIN_RPC: 'https://rpc.example',
      LADE_PROVER_MARKETPLACE: ONE,
      LADE_PROVER_KEY: `0x${'1f'.repeat(32)}`,
      LADE_PROVER_CHAIN_ID: '314',
      LADE_PROVER_LEAST_USDC_PER_GIB_DAY: '1.25',
      LADE_PROVER_CLIENTS: `${ONE}, ${TWO}`,
      LADE_PROVER_TERM_MAX_DAYS: '30',
      LADE_PROVER_FEE_CAP_GWEI: '0.05',
      LADE_PROVER_BATCH_GAS: '2500000000',
      LADE_PROVER_BOND_MAX_USDC: '12.5',
      LADE_PROVER_USDC_PER_COIN: '2500',
    }
    expect(readProverSettings(env, '/srv').chain?.limits).toEqual({
      chainId: 314,
      leastMicroUsdcPerGibDay: 1_250_000n,
      clients: [ONE.toLowerCase(), TWO],
      longestTermSeconds: 30 * 86_400,
      mostWeiPerGas: 50_000_000n,
      mostGasForMany: 2_500_000_000n,
      mostBond: 12_500_000n,
      microUsdcPerCoin: 2_500_000_000n,
    })
  })

  test.each([
    ['LADE_PROVER_CHAIN_ID', '0', 'a whole number from 1'],
    ['LADE_PROVER_CHAIN_ID', 'none', 'a whole number from 1'],
    ['LADE_PROVER_LEAST_USDC_PER_GIB_DAY', '0.0000001', 'a decimal number with up to 6 decimals'],
    ['LADE_PROVER_LEAST_USDC_PER_GIB_DAY', '-1', 'a decimal number with up to 6 decimals'],
    ['LADE_PROVER_CLIENTS', '', 'any, or comma-separated addresses'],
    ['LADE_PROVER_CLIENTS', `${ONE},0x12`, 'any, or comma-separated addresses'],
    ['LADE_PROVER_TERM_MAX_DAYS', '36501', 'a whole number from 1 to 36500'],
    ['LADE_PROVER_FEE_CAP_GWEI', '0', 'a decimal number greater than 0'],
    ['LADE_PROVER_BATCH_GAS', '1e6', 'a whole number from 1'],
    ['LADE_PROVER_USDC_PER_COIN', '0.0', 'a decimal number greater than 0'],
    ['LADE_PROVER_USDC_PER_COIN', '1e3', 'a decimal number with up to 6 decimals'],
  ])('%s may not be "%s", also without a chain', (name, value, accepts) => {
    expect(() => readProverSettings({ [name]: value }, '/srv')).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        message: expect.stringContaining(
          `${name} is ${JSON.stringify(value.slice(0, 100))}, but it must be ${accepts}`,
        ),
      }),
    )
  })
})
