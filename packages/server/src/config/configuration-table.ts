import { flagOf, SETTINGS, type Setting, shownDefaultOf } from './settings.ts'

/**
 * Every setting as a Markdown table: variable, flag, default, what is accepted, what it decides.
 *
 * @example
 * configurationTable().split('\n')[0] // '| variable | flag | default | accepts | meaning |'
 */
export function configurationTable(): string {
  const rows = Object.values<Setting>(SETTINGS).map((setting) => [
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
