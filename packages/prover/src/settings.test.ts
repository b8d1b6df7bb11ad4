import { describe, expect, test } from 'vitest'
import { readProverSettings } from './settings.ts'

const read = (env: Record<string, string>) => readProverSettings(env, '/srv')

describe('readProverSettings', () => {
  test('has a default for everything, and leaves the variables of others alone', () => {
    expect(read({ LADE_PORT: 'x', LADE_PROVER: 'local', PATH: '' })).toEqual({
      host: '127.0.0.1',
      port: 8090,
      dir: '/srv/prover-data',
      publicHosts: [],
      privateHosts: [],
      findDelayMs: 5000,
      confirmDelayMs: 5000,
      parkHours: 24,
    })
  })

  test('reads every variable', () => {
    const env = {
      LADE_PROVER_HOST: '[::1]',
      LADE_PROVER_PORT: '0',
      LADE_PROVER_DIR: '/data',
      LADE_PROVER_ALLOW: 'stage.example, *.example.org',
      LADE_PROVER_ALLOW_PRIVATE: 'lade:8080,127.0.0.1:*',
      LADE_PROVER_FIND_DELAY_MS: '0',
      LADE_PROVER_CONFIRM_DELAY_MS: '30000',
      LADE_PROVER_PARK_HOURS: '1',
    }
    expect(read(env)).toEqual({
      host: '::1',
      port: 0,
      dir: '/data',
      publicHosts: ['stage.example', '*.example.org'],
      privateHosts: ['lade:8080', '127.0.0.1:*'],
      findDelayMs: 0,
      confirmDelayMs: 30_000,
      parkHours: 1,
    })
  })

  test.each([
    [{ LADE_PROVER_PORT: '65536' }, 'LADE_PROVER_PORT is "65536", but it must be a whole number from 0 to 65535.'],
    [{ LADE_PROVER_PORT: '' }, 'LADE_PROVER_PORT is ""'],
    [{ LADE_PROVER_PARK_HOURS: '0' }, 'LADE_PROVER_PARK_HOURS is "0", but it must be a whole number from 1 to 100000.'],
    [{ LADE_PROVER_HOST: 'a b' }, 'LADE_PROVER_HOST is "a b"'],
    [{ LADE_PROVER_DIR: '' }, 'LADE_PROVER_DIR is ""'],
    [{ LADE_PROVER_ALLOW: 'https://stage.example' }, 'LADE_PROVER_ALLOW is "https://stage.example"'],
    [{ LADE_PROVER_ALLOW_PRIVATE: '*' }, 'LADE_PROVER_ALLOW_PRIVATE is "*"'],
    [{ LADE_PROVER_PROT: '1' }, 'LADE_PROVER_PROT is not a setting of the prover'],
  ])('refuses %o', (env, message) => {
    expect(() => read(env)).toThrow(
      expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(message) }),
    )
  })
})
