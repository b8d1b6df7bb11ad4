import { ConfigError } from '@lade/node/settings'
import { describe, expect, it } from 'vitest'
import { flagOf, readConfig, SETTINGS } from './config.ts'
import { RENAMED_SETTINGS } from './renamed-settings.ts'

const read = (env: Record<string, string>, flags: Record<string, string> = {}) =>
  readConfig({ env, flags, cwd: '/srv' })

/** What redirects need. */
const S3 = { LADE_STORAGE: 's3://files' }

describe('a renamed setting', () => {
  it.each(Object.entries(RENAMED_SETTINGS))('%s, as variable and flag, means what %s means', (oldName, newName) => {
    const { oldNames: none, ...expected } = read({ ...S3, [newName]: '6' })
    expect(none).toEqual([])
    expect(expected).not.toMatchObject(withoutOldNames(read(S3)))
    const byVariable = read({ ...S3, [oldName]: '6' })
    expect(withoutOldNames(byVariable)).toEqual(expected)
    expect(byVariable.oldNames).toEqual([{ givenAs: oldName, newName }])
    const oldFlag = flagOf(oldName)
    const byFlag = read(S3, { [oldFlag.slice(2)]: '6' })
    expect(withoutOldNames(byFlag)).toEqual(expected)
    expect(byFlag.oldNames).toEqual([{ givenAs: oldFlag, newName: flagOf(newName) }])
  })

  it('has a new name that is a setting, and an old one that is none', () => {
    const names: string[] = Object.values(SETTINGS).map(({ name }) => name)
    for (const [oldName, newName] of Object.entries(RENAMED_SETTINGS)) {
      expect(names).toContain(newName)
      expect(names).not.toContain(oldName)
    }
  })

  it('can have the same value under both names, for a service that is upgraded and may go back', () => {
    const config = read({ LADE_TOKEN_DAYS: '5', LADE_TOKEN_FILE_DAYS: '5' })
    expect(config.token.termDays).toBe(5)
    expect(config.oldNames).toEqual([{ givenAs: 'LADE_TOKEN_DAYS', newName: 'LADE_TOKEN_FILE_DAYS' }])
  })

  it('error: different values under both names', () => {
    const env = { LADE_TOKEN_DAYS: '5', LADE_TOKEN_FILE_DAYS: '6' }
    const sentence =
      'LADE_TOKEN_DAYS is the old name of LADE_TOKEN_FILE_DAYS, and both are set to different values. Unset LADE_TOKEN_DAYS.'
    expect(() => read(env)).toThrow(new ConfigError(sentence))
    expect(() => read({}, { 'token-days': '5', 'token-file-days': '6' })).toThrow(/^--token-days is the old name of/)
  })

  it('lets a flag win over a variable, whichever of them has the old name', () => {
    expect(read({ LADE_TOKEN_FILE_DAYS: '5' }, { 'token-days': '6' }).token.termDays).toBe(6)
    expect(read({ LADE_TOKEN_DAYS: '5' }, { 'token-file-days': '6' }).token.termDays).toBe(6)
  })

  it('is called in messages as it was given', () => {
    expect(() => read({ LADE_TOKEN_DAYS: 'x' })).toThrow(/^LADE_TOKEN_DAYS is "x", but it must be/)
    expect(() => read({ LADE_TOKEN_DAYS: '' })).toThrow(/^LADE_TOKEN_DAYS is set but empty/)
  })
})

function withoutOldNames(config: ReturnType<typeof readConfig>) {
  const { oldNames: _, ...rest } = config
  return rest
}
