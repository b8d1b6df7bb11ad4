import { ConfigError } from '@lade/node/settings'
import { type OldNameInUse, oldNameOf, RENAMED_SETTINGS } from './renamed-settings.ts'
import { flagOf, SETTINGS, type Setting, type SettingValues } from './settings.ts'

/** Texts as they were given. A member that is `undefined` was not given. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** By flag name without its dashes, such as `data-dir`. */
  readonly flags?: Readonly<Record<string, string | undefined>>
}

/** Every value, and the name under which the operator gave it: the flag, or else the variable. */
export interface ReadSettings {
  readonly values: SettingValues
  givenAs(key: keyof SettingValues): string
  /** The settings that were given under an old name. */
  readonly oldNames: readonly OldNameInUse[]
}

/** Variables of other programs that share the prefix: the client's own, and those of test runs. */
const FOREIGN_VARIABLE = /^LADE_(TOKEN|URL|WALLET|WALLET_PASSWORD_FILE|TEST_.*|ACCEPTANCE_.*|SERVICES|PROVER_.*)$/

/**
 * Reads each setting of the table by its own form; a flag wins over its variable. Old names are read like new ones.
 *
 * @throws {ConfigError} for the first setting that is wrong or variable that is unknown, and for a setting with different values under
 * its old and its new name.
 * @throws {TypeError} for a flag that no setting has.
 */
export function readSettings({ env, flags = {} }: SettingSources): ReadSettings {
  const settings = Object.entries<Setting>(SETTINGS)
  refuseUnknownVariables(env)
  refuseUnknownFlags(flags)
  const names = new Map<string, string>()
  const oldNames: OldNameInUse[] = []
  const values: Record<string, unknown> = {}
  for (const [key, setting] of settings) {
    const byVariable = givenUnder(setting.name, oldNameOf(setting.name), (name) => env[name])
    const given = givenUnder(flagOf(setting.name), oldFlagOf(setting), (flag) => flags[flag.slice(2)]) ?? byVariable
    if (given?.oldName !== undefined) oldNames.push(given.oldName)
    const name = given?.name ?? setting.name
    const text = given?.text ?? setting.default
    names.set(key, name)
    if (text !== undefined) values[key] = readOne(name, text, setting)
  }
  // The loop has set what each form gives, which is how SettingValues is derived.
  return { values: values as SettingValues, givenAs: (key) => names.get(key) ?? key, oldNames }
}

/** A text, and the variable or flag that has it. */
interface GivenText {
  readonly name: string
  readonly text: string
  readonly oldName?: OldNameInUse
}

/** The text of a setting under its new or its old name. Both may be given if they say the same. */
function givenUnder(
  newName: string,
  oldName: string | undefined,
  textOf: (name: string) => string | undefined,
): GivenText | undefined {
  const text = textOf(newName)
  const oldText = oldName === undefined ? undefined : textOf(oldName)
  if (oldName === undefined || oldText === undefined) return text === undefined ? undefined : { name: newName, text }
  if (text !== undefined && text !== oldText) {
    throw new ConfigError(
      `${oldName} is the old name of ${newName}, and both are set to different values. Unset ${oldName}.`,
    )
  }
  return { name: text === undefined ? oldName : newName, text: oldText, oldName: { givenAs: oldName, newName } }
}

function oldFlagOf(setting: Setting): string | undefined {
  const oldName = oldNameOf(setting.name)
  return oldName === undefined ? undefined : flagOf(oldName)
}

function readOne(givenAs: string, text: string, setting: Setting): unknown {
  const { accepts, schema } = setting.form
  if (text === '') throw new ConfigError(`${givenAs} is set but empty. It must be ${accepts}, or unset.`)
  const shown = setting.isSecret ? '' : ` is ${shownValue(text)}`
  const lacking = setting.lacks?.find(({ matches }) => matches.test(text))
  if (lacking)
    throw new ConfigError(`${givenAs}${shown}, but this build does not support ${lacking.unsupported}. Use ${accepts}.`)
  const result = schema.safeParse(text)
  if (result.success) return result.data
  if (setting.isSecret) throw new ConfigError(`${givenAs} is invalid (its value is not shown). It must be ${accepts}.`)
  throw new ConfigError(`${givenAs}${shown}, but it must be ${accepts}.`)
}

/** Credentials in what was to be a URL and is none. */
const BADLY_WRITTEN = /:(?!\/\/\[redacted\]@).*@/s

/** Credentials and queries of URLs may hold secrets, and a message is no place for a long text. */
function shownValue(text: string): string {
  const harmless = text
    .replace(/\/\/.*@/s, '//[redacted]@')
    .replace(/\?.*/s, '?[redacted]')
    .replace(BADLY_WRITTEN, ':[redacted]@')
  return JSON.stringify(harmless.length > 100 ? `${harmless.slice(0, 100)}…` : harmless)
}

function refuseUnknownVariables(env: SettingSources['env']): void {
  const known = Object.values<Setting>(SETTINGS).map((setting) => setting.name as string)
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith('LADE_') || FOREIGN_VARIABLE.test(name)) continue
    if (known.includes(name) || Object.hasOwn(RENAMED_SETTINGS, name)) continue
    throw new ConfigError(`${name} is not a Lade setting. Did you mean ${nearest(name, known)}?`)
  }
}

function refuseUnknownFlags(flags: Readonly<Record<string, string | undefined>>): void {
  const names = [...Object.values<Setting>(SETTINGS).map(({ name }) => name), ...Object.keys(RENAMED_SETTINGS)]
  const known = new Set(names.map((name) => flagOf(name).slice(2)))
  for (const flag of Object.keys(flags)) {
    if (!known.has(flag)) throw new TypeError(`No setting has the flag --${flag}.`)
  }
}

function nearest(name: string, known: readonly string[]): string {
  const byDistance = known.map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
  return byDistance.reduce((best, next) => (next.distance < best.distance ? next : best)).candidate
}

/** Levenshtein: how many insertions, deletions and replacements of one character lead from one text to the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
