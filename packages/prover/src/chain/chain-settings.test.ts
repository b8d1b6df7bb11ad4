import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { addressFileOf } from '@lade/contracts/address-file'
import { describe, expect, test } from 'vitest'
import { readProverSettings } from '../settings.ts'
import { temporaryDir } from '../testing/harness.ts'

const KEY = `0x${'1f'.repeat(32)}`
const GIVEN = {
  LADE_PROVER_CHAIN_RPC: 'https://rpc.example/v2/key-of-mine',
  LADE_PROVER_MARKETPLACE: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  LADE_PROVER_KEY: KEY,
}
const read = (env: Record<string, string>) => readProverSettings(env, '/srv').chain

describe('the settings of the chain', () => {
  test('are all given, or none', () => {
    expect(read({})).toBeUndefined()
    expect(read({ LADE_PROVER_KEY: 'none' })).toBeUndefined()
    const chain = read(GIVEN)
    expect(chain?.marketplaces).toEqual([GIVEN.LADE_PROVER_MARKETPLACE])
    expect(chain?.rpcUrl.reveal()).toBe(GIVEN.LADE_PROVER_CHAIN_RPC)
    expect(chain?.privateKey.reveal()).toBe(KEY)
    expect(inspect(chain)).not.toMatch(/1f1f|key-of-mine/)
  })

  test('name several contracts, by addresses and by the files of their deployments', async () => {
    const dir = await temporaryDir()
    const marketplace = `0x${'12'.repeat(20)}` as const
    await writeFile(join(dir, 'two.json'), addressFileOf({ chainId: 31_337, marketplace, version: 2 }))
    const env = { ...GIVEN, LADE_PROVER_MARKETPLACE: `two.json, ${GIVEN.LADE_PROVER_MARKETPLACE}` }
    const chain = readProverSettings(env, dir).chain
    expect(chain?.marketplaces).toEqual([marketplace, GIVEN.LADE_PROVER_MARKETPLACE])
    expect(chain?.limits.chainId).toBe(31_337)

    expect(() => readProverSettings({ ...env, LADE_PROVER_CHAIN_ID: '1' }, dir)).toThrow(
      'name several chains: 1, 31337',
    )
    await writeFile(join(dir, 'two.json'), '{}')
    expect(() => readProverSettings(env, dir)).toThrow('LADE_PROVER_MARKETPLACE names two.json, which has no chainId.')
    const absent = { ...GIVEN, LADE_PROVER_MARKETPLACE: 'three.json' }
    expect(() => readProverSettings(absent, dir)).toThrow('names three.json, which cannot be read (ENOENT)')
  })

  test.each([
    [{ LADE_PROVER_KEY: KEY }, 'LADE_PROVER_CHAIN_RPC is not set, but '],
    [{ ...GIVEN, LADE_PROVER_KEY: 'none' }, 'LADE_PROVER_KEY is not set, but '],
    [{ ...GIVEN, LADE_PROVER_CHAIN_RPC: 'ws://rpc.example/key-of-mine' }, 'LADE_PROVER_CHAIN_RPC must be'],
    [{ ...GIVEN, LADE_PROVER_CHAIN_RPC: 'http://' }, 'LADE_PROVER_CHAIN_RPC must be'],
    [{ ...GIVEN, LADE_PROVER_MARKETPLACE: `0x${'0'.repeat(40)}` }, 'LADE_PROVER_MARKETPLACE must be'],
    [
      { ...GIVEN, LADE_PROVER_MARKETPLACE: '5FbDB2315678afecb367f032d93F642f64180aa3' },
      'LADE_PROVER_MARKETPLACE must be',
    ],
    [{ ...GIVEN, LADE_PROVER_MARKETPLACE: `${GIVEN.LADE_PROVER_MARKETPLACE},` }, 'LADE_PROVER_MARKETPLACE must be'],
    [{ ...GIVEN, LADE_PROVER_KEY: KEY.slice(2) }, 'LADE_PROVER_KEY must be'],
    [{ ...GIVEN, LADE_PROVER_KEY: `0x${'0'.repeat(64)}` }, 'LADE_PROVER_KEY must be'],
    [{ ...GIVEN, LADE_PROVER_KEY: `0x${'f'.repeat(64)}` }, 'LADE_PROVER_KEY must be'],
  ])('refuses %#, and does not repeat a secret', (env, message) => {
    expect(() => read(env)).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        message: expect.stringMatching(new RegExp(`^${message}(?!.*(?:key-of-mine|1f1f))`)),
      }),
    )
  })
})
