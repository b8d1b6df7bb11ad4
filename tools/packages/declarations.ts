import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { packageOf } from './bundle.ts'
import { entriesOf, ROOT, readWorkspace, type WorkspacePackage } from './workspace.ts'

const TSC = join(ROOT, 'node_modules/.bin/tsc')
const WORK = join(ROOT, 'out/declarations')
/** Where a declaration names another module. */
const SPECIFIER = /(\bfrom |\bimport\(|\bimport )(["'])([^"']+)\2/g
const WIRE = '@lade/core/wire'

export interface DeclarationOptions {
  readonly entries: Readonly<Record<string, string>>
  readonly outDir: string
  /** True to write the types of the wire out, so that the declarations need no schema library. */
  readonly isSelfContained: boolean
}

/** Emits the declarations of all that is published, once for a build. */
export function emitDeclarations(packages: readonly WorkspacePackage[]): void {
  rmSync(WORK, { recursive: true, force: true })
  const files = packages.flatMap((one) => Object.values(entriesOf(one)))
  runTsc('all', { files })
}

/**
 * Writes the declarations of some entries, and of all modules that they import, into one folder:
 * `core/errors/lade-error.d.ts` for `packages/core/src/errors/lade-error.ts`, and `NAME.d.ts` for each entry.
 *
 * @returns the npm packages that they name.
 */
export function writeDeclarations({ entries, outDir, isSelfContained }: DeclarationOptions): ReadonlySet<string> {
  const foreign = new Set<string>()
  const wireNames = new Set<string>()
  const pending = Object.values(entries)
  const seen = new Set(pending)
  for (const source of pending) {
    const target = placeOf(source)
    const text = readFileSync(emittedFrom(source), 'utf8')
    if (isSelfContained) for (const name of namesFrom(text, WIRE)) wireNames.add(name)
    const rewritten = text.replace(SPECIFIER, (match, before: string, quote: string, specifier: string, at: number) => {
      if (isComment(text, at)) return match
      const module = isSelfContained && specifier === WIRE ? 'wire.js' : moduleOf(specifier, source)
      if (module === undefined) {
        if (!specifier.startsWith('node:')) foreign.add(packageOf(specifier))
        return `${before}${quote}${specifier}${quote}`
      }
      if (module !== 'wire.js' && !seen.has(module)) {
        seen.add(module)
        pending.push(module)
      }
      const place = module === 'wire.js' ? module : placeOf(module).replace(/\.d\.ts$/, '.js')
      const path = relative(dirname(target), place)
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    })
    write(join(outDir, target), rewritten)
  }
  for (const [name, source] of Object.entries(entries)) {
    const place = `./${placeOf(source).replace(/\.d\.ts$/, '.js')}`
    write(join(outDir, `${name}.d.ts`), `export * from '${place}'\n`)
  }
  if (wireNames.size > 0) write(join(outDir, 'wire.d.ts'), writtenOut(wireNames))
  return foreign
}

/** The source file that a specifier leads to; undefined for npm's and Node's packages. */
function moduleOf(specifier: string, importer: string): string | undefined {
  if (specifier.startsWith('.')) return resolve(dirname(importer), specifier)
  const owner = readWorkspace().get(packageOf(specifier))
  if (owner === undefined) return undefined
  const file = owner.manifest.exports?.[`.${specifier.slice(owner.name.length)}`]
  if (file === undefined) throw new Error(`${importer}: ${specifier} is not exported.`)
  return join(owner.dir, file)
}

/** True for an import that is an example in a comment. tsc begins each line of a comment by a star. */
function isComment(text: string, at: number): boolean {
  return /^\s*\/?\*/.test(text.slice(text.lastIndexOf('\n', at) + 1, at))
}

/** Where the declaration of a source file lies in a package. */
function placeOf(source: string): string {
  return relative(join(ROOT, 'packages'), source).replace('/src/', '/').replace(/\.ts$/, '.d.ts')
}

function emittedFrom(source: string): string {
  const file = join(WORK, 'all', relative(ROOT, source).replace(/\.ts$/, '.d.ts'))
  if (!existsSync(file)) throw new Error(`tsc wrote no declaration for ${source}.`)
  return file
}

function namesFrom(text: string, module: string): string[] {
  const imports = text.matchAll(/^(?:import|export)(?: type)? \{([^}]*)\} from ["']([^"']+)["']/gm)
  return [...imports]
    .filter(([, , from]) => from === module)
    .flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
    .filter((name) => name !== 'type')
}

/**
 * Types that are inferred from schemas, as plain object types. tsc prints a mapped type with all its fields, so users
 * of the client need no schema library.
 */
function writtenOut(names: ReadonlySet<string>): string {
  const source = join(WORK, 'wire.ts')
  write(
    source,
    [
      `import type * as wire from '${WIRE}'`,
      'declare function writtenOut<T>(): { [Key in keyof T]: T[Key] }',
      ...[...names].toSorted().map((name) => `export const ${name} = writtenOut<wire.${name}>()`),
    ].join('\n'),
  )
  runTsc('wire', { files: [source] })
  const text = readFileSync(join(WORK, 'wire', relative(ROOT, source).replace(/\.ts$/, '.d.ts')), 'utf8')
  return text.replace(/^export declare const (\w+): /gm, 'export type $1 = ')
}

function runTsc(folder: string, { files }: { readonly files: readonly string[] }): void {
  const config = join(WORK, `${folder}.json`)
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noErrorTruncation: true,
    rootDir: ROOT,
    outDir: join(WORK, folder),
    // tsc emits no declarations for what it finds in node_modules, also for links to packages of this repository.
    paths: ownPaths(),
  }
  write(config, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [] }))
  execFileSync(TSC, ['-p', config], { stdio: 'inherit' })
}

function ownPaths(): Record<string, string[]> {
  const packages = [...readWorkspace().values()]
  return Object.fromEntries(
    packages.flatMap(({ name, dir, manifest }) =>
      Object.entries(manifest.exports ?? {}).map(([subpath, file]) => [join(name, subpath), [join(dir, file)]]),
    ),
  )
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
