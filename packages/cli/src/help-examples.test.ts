import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { EXAMPLES } from './help-examples.ts'
import { createProgram } from './program.ts'
import { testTerminal } from './testing-terminal.ts'

const program = await createProgram(testTerminal().terminal, ['--help'])

/** Commands that do something themselves, by their full names. */
function actionsOf(command: Command, names: readonly string[] = []): [string, Command][] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
    .flatMap((child): [string, Command][] => {
      const path = [...names, child.name()]
      const below = actionsOf(child, path)
      return below.length === 0 || child.registeredArguments.length > 0 ? [[path.join(' '), child], ...below] : below
    })
}

const actions = actionsOf(program)

describe('the examples in the help', () => {
  it('exist for every command, and for no other', () => {
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(actions.map(([name]) => name).toSorted())
  })

  it.each(actions)('of "lade %s" name the command and only flags that it has', (name, command) => {
    const flags = new Set(command.options.flatMap(({ long, short }) => [long, short]))
    for (const line of EXAMPLES[name] ?? []) {
      expect(line).toContain(`lade ${name}`)
      const ownPart = line.slice(line.indexOf(`lade ${name}`)).split(' | ')[0] ?? ''
      for (const [, flag] of ownPart.matchAll(/\s(--?[a-z][\w-]*)/g)) expect(flags, `${line}: ${flag}`).toContain(flag)
    }
  })

  it('are shown by --help', () => {
    let shown = ''
    const put = program.commands.find((command) => command.name() === 'put')
    put?.configureOutput({ writeOut: (text) => (shown += text) })
    put?.outputHelp()
    expect(shown).toContain('Examples:\n  lade put photo.jpg\n')
  })
})
