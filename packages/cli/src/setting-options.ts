import {
  type Config,
  flagOf,
  oldNameOf,
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
 *
 * @param meanings - what a setting means to this command, where that is not what it means to the service.
 */
export function addSettingOptions(
  command: Command,
  keys: readonly SettingKey[],
  meanings: Readonly<Partial<Record<SettingKey, string>>> = {},
): void {
  for (const key of keys) {
    const setting = SETTINGS[key]
    for (const option of optionsOf(setting, meanings[key])) command.addOption(option)
  }
}

/** Gives `command` a flag for every setting, under the headings of the setting groups. */
export function addAllSettingOptions(command: Command): void {
  for (const { title, keys } of SETTING_GROUPS) {
    for (const key of keys) {
      for (const option of optionsOf(SETTINGS[key])) command.addOption(option.helpGroup(`${title}:`))
    }
  }
}

/** The flag of the setting, and the one that it had under its old name, which works but is not shown. */
function optionsOf(setting: Setting, meaning: string = setting.meaning): readonly Option[] {
  const facts = `(${setting.name}; default: ${shownDefaultOf(setting)})`
  const option = new Option(`${flagOf(setting.name)} <value>`, `${meaning} ${facts}`)
  const oldName = oldNameOf(setting.name)
  return oldName === undefined ? [option] : [option, new Option(`${flagOf(oldName)} <value>`).hideHelp()]
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
  const take = (name: string, override?: string): void => {
    const option = new Option(`${flagOf(name)} <value>`)
    flags[option.name()] = override ?? options[option.attributeName()]
  }
  for (const key of keys) {
    const { name } = SETTINGS[key]
    take(name, instead[key])
    const oldName = oldNameOf(name)
    if (oldName !== undefined && instead[key] === undefined) take(oldName)
  }
  return readConfig({ env: terminal.env, flags, cwd: terminal.cwd })
}
