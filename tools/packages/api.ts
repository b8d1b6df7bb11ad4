import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder } from './build-package.ts'
import type { WorkspacePackage } from './workspace.ts'

/** The public API of one version of a package, as the text of a file. */
export interface Api {
  readonly version: string
  /** The declarations without comments. */
  readonly lines: readonly string[]
}

/** How two versions of an API differ. */
export interface ApiChange {
  readonly added: readonly string[]
  /** What callers may have used, and is gone or another. */
  readonly removed: readonly string[]
}

/** Where the API of the last release is stored. */
export const storedApiFile = ({ dir }: WorkspacePackage): string => join(dir, 'api.txt')

/** The API of a package as `npm run build` has declared it. */
export function builtApi(one: WorkspacePackage): Api {
  const types = join(builtFolder(one), 'dist/types')
  const files = globSync('**/*.d.ts', { cwd: types }).toSorted()
  const lines = files.flatMap((file) => [`// ${file}`, ...declarationsOf(readFileSync(join(types, file), 'utf8'))])
  return { version: one.manifest.version, lines }
}

/** Reads what {@link apiText} wrote. */
export function parseApi(text: string): Api {
  const [version = '', ...lines] = text.trimEnd().split('\n')
  return { version, lines }
}

/** An API as the text of a file: its version, then its lines. */
export function apiText({ version, lines }: Api): string {
  return `${[version, ...lines].join('\n')}\n`
}

/** What is in one API and not in the other, line by line. Moved lines count as unchanged. */
export function compareApis(before: Api, after: Api): ApiChange {
  return { added: missingIn(before.lines, after.lines), removed: missingIn(after.lines, before.lines) }
}

/**
 * Why a package cannot be released as it is; undefined where it can. Versions follow semver: a change that may break
 * callers needs a new major version, before 1.0.0 a new minor one.
 *
 * @example
 * objectionTo({ added: [], removed: ['export declare function a(): void;'] }, '1.2.0', '1.3.0') // 'Version 1.3.0 …'
 */
export function objectionTo({ added, removed }: ApiChange, before: string, after: string): string | undefined {
  if (added.length + removed.length === 0) return undefined
  if (before === after) return `Its API is not that of ${before}, the last release. Raise the version.`
  if (removed.length === 0) return undefined
  const isBreaking = after.startsWith('0.') ? minorOf(before) !== minorOf(after) : majorOf(before) !== majorOf(after)
  return isBreaking
    ? undefined
    : `Version ${after} breaks callers of ${before}. Raise the ${after.startsWith('0.') ? 'minor' : 'major'} version.`
}

const majorOf = (version: string): string => version.split('.', 1).join('.')
const minorOf = (version: string): string => version.split('.', 2).join('.')

function declarationsOf(text: string): string[] {
  const withoutComments = text.replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
  return withoutComments.split('\n').filter((line) => line.trim() !== '')
}

function missingIn(lines: readonly string[], wanted: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return wanted.filter((line) => {
    const count = counts.get(line) ?? 0
    counts.set(line, count - 1)
    return count <= 0
  })
}
