import { readFileSync } from 'node:fs'

/** The flags of Node.js in the first line of a script, with which it runs where it is installed: they decide how much memory it takes. */
export function nodeFlagsOf(script: string): string[] {
  const [, flags = ''] = /^#!.* node(.*)/.exec(readFileSync(script, 'utf8')) ?? []
  return flags.split(' ').filter((flag) => flag !== '')
}
