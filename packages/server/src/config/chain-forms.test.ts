import { inspect } from 'node:util'
import { ConfigError } from '@lade/node/settings'
import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

const RPC = 'https://user:hunter2@rpc.example/v2/hunter2?key=hunter2'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const CHAIN = { LADE_CHAIN_RPC: RPC, LADE_USDC: USDC }

const chainOf = (env: Record<string, string>) => readConfig({ env: { ...CHAIN, ...env } }).chain
function refusal(env: Record<string, string>): string {
  try {
    readConfig({ env })
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('The configuration was accepted.')
}

describe('the settings of the chain', () => {
  it('are absent unless given, and then 1 USDC is a GiB on whichever chain it is', () => {
    expect(readConfig({ env: {} }).chain).toBeUndefined()
    const chain = chainOf({})
    expect(chain).toMatchObject({ usdc: USDC, microUsdcPerGib: 1_000_000n })
    expect(chain?.rpcUrl.reveal()).toBe(RPC)
    expect(chain).not.toHaveProperty('chainId')
    expect(chainOf({ LADE_CHAIN_ID: '8453' })?.chainId).toBe(8453)
  })

  it.each<[string, bigint]>([
    ['1', 1_000_000n],
    ['0.25', 250_000n],
    ['0.000001', 1n],
    ['12.5', 12_500_000n],
    ['999999999.999999', 999_999_999_999_999n],
  ])('take %s USDC for a GiB', (text, amount) => {
    expect(chainOf({ LADE_USDC_PER_GIB: text })?.microUsdcPerGib).toBe(amount)
  })

  it.each(['0', '0.000000', '0.0000001', '-1', '1.', '.5', '01', '1e3', '1,5', '1 ', '0x1'])(
    'refuse %j USDC for a GiB',
    (text) => expect(refusal({ ...CHAIN, LADE_USDC_PER_GIB: text })).toMatch(/^LADE_USDC_PER_GIB is /),
  )

  it('take an address in one case or in that of EIP-55, and give the latter', () => {
    for (const text of [USDC, USDC.toLowerCase(), `0x${USDC.slice(2).toUpperCase()}`]) {
      expect(chainOf({ LADE_USDC: text })?.usdc).toBe(USDC)
    }
  })

  it.each([
    `${USDC.slice(0, 6)}F${USDC.slice(7)}`,
    USDC.replace('fCD', 'Fcd'),
    USDC.slice(2),
    `${USDC}0`,
    `0x${'0'.repeat(40)}`,
    'usdc.eth',
  ])('refuse the address %s', (text) => {
    expect(refusal({ ...CHAIN, LADE_USDC: text })).toMatch(/^LADE_USDC is /)
  })

  it.each([
    'rpc.example',
    'ws://rpc.example',
    'ftp://rpc.example',
    'https://',
    'https://rpc.example/#hunter2',
    'https://rpc .example',
  ])('refuse the endpoint %s without showing it', (text) => {
    const sentence = refusal({ ...CHAIN, LADE_CHAIN_RPC: text })
    expect(sentence).toMatch(/^LADE_CHAIN_RPC is invalid \(its value is not shown\)/)
    expect(sentence).not.toContain(text)
  })

  it('never show what is in the endpoint', () => {
    expect(inspect(readConfig({ env: CHAIN }), { depth: 9 })).not.toContain('hunter2')
  })

  it.each([
    [{ LADE_CHAIN_RPC: RPC }, 'LADE_CHAIN_RPC is set, so LADE_USDC must be set as well.'],
    [{ LADE_USDC: USDC }, 'LADE_USDC is set, so LADE_CHAIN_RPC must be set as well.'],
    [{ LADE_USDC_PER_GIB: '2' }, 'LADE_USDC_PER_GIB is set, so LADE_CHAIN_RPC must be set as well.'],
    [{ LADE_CHAIN_ID: '1' }, 'LADE_CHAIN_ID is set, so LADE_CHAIN_RPC must be set as well.'],
  ])('refuse %j alone', (env, sentence) => {
    expect(refusal(env as Record<string, string>)).toBe(sentence)
  })
})
