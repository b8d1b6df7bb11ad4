import { RootCommand, ShellCompDirective } from '@bomb.sh/tab'
import type { Argument, Command, Option } from 'commander'

/** Answers completion requests of the shells for one program. */
export interface Completer {
  /**
   * Prints what could stand in place of the last of `words`, one a line, a tab and its meaning behind it; then a line with
   * `:` and what else the shell is to do (0: offer files, 4: offer none).
   */
  complete(words: readonly string[]): void
}

/** Reads the tree of commands, options and choices of `program`. */
export function completerOf(program: Command, print: (line: string) => void): Completer {
  const root = new RootCommand()
  for (const option of program.createHelp().visibleOptions(program)) addOption(root, option)
  addCommands(root, program, [])
  return {
    complete: (words) => {
      if (isFileWanted(program, words)) print(`:${ShellCompDirective.ShellCompDirectiveDefault}`)
      else root.parse([...words])
    },
  }
}

type TabCommand = ReturnType<RootCommand['command']>

function addCommands(root: RootCommand, parent: Command, names: readonly string[]): void {
  for (const command of parent.createHelp().visibleCommands(parent)) {
    const path = [...names, command.name()]
    const added = root.command(path.join(' '), firstSentence(command.summary() || command.description()))
    for (const option of command.createHelp().visibleOptions(command)) addOption(added, option)
    for (const { argChoices, variadic, name } of command.registeredArguments.map(factsOf)) {
      added.argument(name, argChoices === undefined ? undefined : offering(argChoices), variadic)
    }
    addCommands(root, command, path)
  }
}

function factsOf(argument: Argument) {
  return { name: argument.name(), variadic: argument.variadic, argChoices: argument.argChoices }
}

function addOption(command: TabCommand, option: Option): void {
  const name = option.long?.slice(2)
  if (name === undefined) return
  const alias = option.short?.slice(1)
  const meaning = firstSentence(option.description)
  // A handler tells that the option takes a value.
  if (option.required || option.optional) command.option(name, meaning, offering(option.argChoices ?? []), alias)
  else if (alias === undefined) command.option(name, meaning)
  else command.option(name, meaning, alias)
}

function offering(choices: readonly string[]) {
  return (offer: (value: string, description: string) => void) => {
    for (const choice of choices) offer(choice, '')
  }
}

/** Menus have room for a line. */
function firstSentence(text: string): string {
  return /^.*?[.;:](?=\s|$)/.exec(text)?.[0].slice(0, -1) ?? text
}

/** True where the last word is the name of a file: an argument or a value that the help calls so. */
function isFileWanted(program: Command, words: readonly string[]): boolean {
  let command = program
  let position = 0
  let awaiting: Option | undefined
  for (const word of words.slice(0, -1)) {
    if (awaiting !== undefined) {
      awaiting = undefined
      continue
    }
    if (word.startsWith('-') && word !== '-') {
      const option = command.options.find(({ long, short }) => word === long || word === short)
      if (option?.required) awaiting = option
      continue
    }
    const next = command.commands.find((candidate) => candidate.name() === word)
    if (next === undefined) position += 1
    else command = next
  }
  if (awaiting !== undefined) return /<(?:file|folder)>/.test(awaiting.flags)
  if (words.at(-1)?.startsWith('-')) return false
  const argument =
    command.registeredArguments[position] ?? command.registeredArguments.findLast(({ variadic }) => variadic)
  return argument !== undefined && /^(?:files?|folder)$/.test(argument.name())
}
