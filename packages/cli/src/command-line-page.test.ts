import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { testTerminal } from './testing-terminal.ts'

const page = readFileSync(new URL('../../../docs/use/command-line.md', import.meta.url), 'utf8')
const program = await createProgram(testTerminal().terminal, ['--help'])

/** Commands with something of their own to do, with their full names. */
function leavesOf(command: Command, names: readonly string[] = []): { name: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command)
  const children = visible.filter((child) => child.name() !== 'help')
  const below = children.flatMap((child) => leavesOf(child, [...names, child.name()]))
  const isOwn = children.length === 0 || command.registeredArguments.length > 0
  return isOwn ? [{ name: names.join(' '), command }, ...below] : below
}

const leaves = leavesOf(program)
const sections = page.split(/^### /m).slice(1)

/** The section whose heading names the command: in full, or by its last word after its first. */
function sectionOf(name: string): string | undefined {
  const [first = '', last] = name.split(' ')
  return sections.find((section) => {
    const heading = section.split('\n', 1)[0] ?? ''
    return heading.startsWith(`\`lade ${first}`) && (last === undefined || new RegExp(`\\b${last}\\b`).test(heading))
  })
}

describe('docs/use/command-line.md', () => {
  it.each(leaves.map(({ name }) => name))('has a section on %s', (name) => {
    expect(sectionOf(name)).toBeDefined()
  })

  it('names no command and no flag that there is not', () => {
    const names = leaves.map(({ name }) => name)
    for (const [, rest = ''] of page.matchAll(/(?:`|\$ |\| |\()lade ((?:[a-z]+(?:-[a-z]+)* ?)+)/g)) {
      const said = rest.trim()
      const isKnown = names.some((name) => `${said} `.startsWith(`${name} `) || `${name} `.startsWith(`${said} `))
      expect(isKnown, said).toBe(true)
    }
    const flags = new Set(
      [program, ...leaves.map(({ command }) => command)].flatMap(({ options }) => options.map(({ long }) => long)),
    )
    for (const [flag] of page.matchAll(/(?<![\w-])--[a-z][\w-]*/g)) {
      expect(flags.has(flag) || ['--help', '--silent'].includes(flag), flag).toBe(true)
    }
  })
})
