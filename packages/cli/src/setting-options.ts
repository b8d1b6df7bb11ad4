import {
  type Config,
  flagOf,
  readConfig,
  SETTING_GROUPS,
  SETTINGS,
  type Setting,
  shownDefaultOf,
} from '@lade/server/config'
import { type Command, Option } from 'commander'
import type { Terminal } from './terminal.ts'

export type SettingKey = keyof typeof SETTINGS

/**
 * Gives `command` a flag for each of `keys`, with the setting's meaning, variable and default as its help.
 *
 * The defaults stay with the settings: a flag that is not given must not hide its variable.
 */
export function addSettingOptions(command: Command, keys: readonly SettingKey[]): void {
  for (const key of keys) command.addOption(optionOf(SETTINGS[key]))
}

/** Gives `command` a flag for every setting, under the headings of the setting groups. */
export function addAllSettingOptions(command: Command): void {
  for (const { title, keys } of SETTING_GROUPS) {
    for (const key of keys) command.addOption(optionOf(SETTINGS[key]).helpGroup(`${title}:`))
  }
}

function optionOf(setting: Setting): Option {
  const facts = `(${setting.name}; default: ${shownDefaultOf(setting)})`
  return new Option(`${flagOf(setting.name)} <value>`, `${setting.meaning} ${facts}`)
}

/** Every setting. */
export const ALL_SETTINGS = Object.keys(SETTINGS) as SettingKey[]

/**
 * The configuration from the flags of `command` and the environment.
 *
 * @param instead - values that override both, by setting.
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
