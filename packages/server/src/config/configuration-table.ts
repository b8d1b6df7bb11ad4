import { SETTING_GROUPS } from './setting-groups.ts'
import { flagOf, SETTINGS, type Setting, shownDefaultOf } from './settings.ts'

/**
 * Every setting as Markdown: a section with a table for each group.
 *
 * @example
 * configurationTables().split('\n')[0] // '## Start here'
 */
export function configurationTables(): string {
  return SETTING_GROUPS.map(({ title, keys }) => `## ${title}\n\n${tableOf(keys.map((key) => SETTINGS[key]))}`).join(
    '\n',
  )
}

/** Variable, flag, default, accepted values and meaning of each setting. */
function tableOf(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => [
    `\`${setting.name}\``,
    `\`${flagOf(setting.name)}\``,
    setting.default === undefined ? shownDefaultOf(setting) : `\`${setting.default}\``,
    setting.form.accepts,
    setting.meaning,
  ])
  const lines = [['variable', 'flag', 'default', 'accepts', 'meaning'], ['---', '---', '---', '---', '---'], ...rows]
  return `${lines.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`).join('\n')}\n`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
