import { type Config, flagOf, readConfig, SETTINGS, type Setting, shownDefaultOf } from '@lade/server/config'
import { type Command, Option } from 'commander'
import type { Terminal } from './terminal.ts'

export type SettingKey = keyof typeof SETTINGS

/**
 * Gives `command` a flag for each of `keys`, with the setting's meaning, variable and default as its help.
 *
 * The defaults stay with the settings: a flag that is not given must not hide its variable.
 */
export function addSettingOptions(command: Command, keys: readonly SettingKey[]): void {
  for (const setting of settingsOf(keys)) {
    const facts = `(${setting.name}; default: ${shownDefaultOf(setting)})`
    command.addOption(new Option(`${flagOf(setting.name)} <value>`, `${setting.meaning} ${facts}`))
  }
}

/** Every setting there is. */
export const ALL_SETTINGS = Object.keys(SETTINGS) as SettingKey[]

/**
 * The configuration from the flags of `command` and the environment.
 *
 * @param instead - values that are taken in place of those, by setting.
 * @throws {ConfigError}
 */
export function configOf(
  command: Command,
  keys: readonly SettingKey[],
  terminal: Terminal,
  instead: Partial<Record<SettingKey, string>> = {},
): Config {
  const options: Record<string, string | undefined> = command.opts()
  const flags: Record<string, string | undefined> = {}
  for (const key of keys) {
    const option = new Option(`${flagOf(SETTINGS[key].name)} <value>`)
    flags[option.name()] = instead[key] ?? options[option.attributeName()]
  }
  return readConfig({ env: terminal.env, flags, cwd: terminal.cwd })
}

function settingsOf(keys: readonly SettingKey[]): Setting[] {
  return keys.map((key) => SETTINGS[key])
}
