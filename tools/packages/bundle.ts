import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { build, type OutputChunk, type Plugin } from 'rolldown'

/** `new URL('./hash-worker.ts', import.meta.url)`: how the sources name a file that is run by itself. */
const OWN_PROGRAM = /new URL\(\s*'(\.{1,2}\/[^']+\.ts)',\s*import\.meta\.url,?\s*\)/g
/** A package that may be missing, so that nothing imports it. */
const REQUIRED = /createRequire\(import\.meta\.url\)\(\s*'([^'.#][^']*)'/g

export interface BundleOptions {
  /** Source files by the name that each gets. */
  readonly entries: Readonly<Record<string, string>>
  readonly outDir: string
  readonly format: 'es' | 'cjs'
  readonly platform: 'node' | 'browser'
  /** npm packages that are bundled with all they need; 'all' for all. The others become dependencies. */
  readonly bundled: readonly string[] | 'all'
  /** True for one minified file, which is its own worker: `one-file.ts` of the client. @default false */
  readonly isOneFile?: boolean
}

/** What was written. */
export interface Bundle {
  /** npm packages that it loads. */
  readonly dependencies: ReadonlySet<string>
  /** The source files that are in it, of npm packages too. */
  readonly modules: ReadonlySet<string>
}

/**
 * Bundles entries into one flat folder of JavaScript.
 *
 * Threads and processes are found by one rule: a file that a source names by `new URL('./name.ts', import.meta.url)`
 * becomes a file `name.js` of the same folder, and the URL leads there. Bundlers of applications understand that form.
 *
 * @throws {Error} when two such files have the same name.
 */
export async function bundle(options: BundleOptions): Promise<Bundle> {
  const { entries, outDir, format, platform, bundled, isOneFile = false } = options
  const required = new Set<string>()
  const isBundled = (id: string, importer = '') =>
    bundled === 'all' || bundled.includes(packageOf(id)) || importer.includes('/node_modules/')
  const { output } = await build({
    input: { ...entries },
    platform,
    resolve: {
      conditionNames: [platform === 'browser' ? 'browser' : 'node', 'import', 'default'],
      // Of modules only what is used is bundled.
      mainFields: platform === 'browser' ? ['browser', 'module', 'main'] : ['module', 'main'],
    },
    external: (id, importer) => isBuiltin(id) || (isForeign(id) && !isBundled(id, importer)),
    plugins: [ownPrograms(entries, required, isOneFile), narrowText],
    logLevel: 'warn',
    preserveEntrySignatures: 'allow-extension',
    output: {
      dir: outDir,
      format,
      minify: isOneFile,
      // They are in the repository; Node.js keeps the text of what it has loaded in memory.
      comments: { legal: true, annotation: true, jsdoc: false },
      codeSplitting: !isOneFile,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    },
  })
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk')
  const imported = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
  const foreign = imported.filter((id) => !isBuiltin(id) && isForeign(id))
  return {
    dependencies: new Set([...foreign, ...required].map(packageOf)),
    modules: new Set(chunks.flatMap(({ moduleIds }) => moduleIds)),
  }
}

/**
 * The name of the npm package in a specifier.
 *
 * @example
 * packageOf('@noble/hashes/blake3.js') // '@noble/hashes'
 */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function isForeign(id: string): boolean {
  return /^[\w@]/.test(id) && !id.startsWith('@lade/') && !isChunk(id)
}

/** Chunks are listed by their file names, beside what they import. */
function isChunk(id: string): boolean {
  return /^[\w.-]+\.js$/.test(id)
}

function ownPrograms(entries: Readonly<Record<string, string>>, required: Set<string>, isOneFile: boolean): Plugin {
  const files = new Map(Object.entries(entries).map(([name, file]) => [`${name}.js`, file]))
  return {
    name: 'own-programs',
    transform(code, id) {
      if (!id.endsWith('.ts')) return null
      for (const [, name] of code.matchAll(REQUIRED)) if (name !== undefined) required.add(name)
      if (isOneFile) return code.replace(OWN_PROGRAM, "new URL('#lade-hash-worker', import.meta.url)")
      return code.replace(OWN_PROGRAM, (_, path: string) => {
        const file = resolve(dirname(id), path)
        const fileName = [...files].find(([, known]) => known === file)?.[0] ?? `${basename(path, '.ts')}.js`
        const known = files.get(fileName)
        if (known !== undefined && known !== file)
          throw new Error(`${known} and ${file} cannot both become ${fileName}.`)
        if (known === undefined) {
          files.set(fileName, file)
          this.emitFile({ type: 'chunk', id: file, fileName })
        }
        return `new URL('./${fileName}', import.meta.url)`
      })
    },
  }
}

/** One character above U+00FF makes V8 keep two bytes for each character of a file. */
const narrowText: Plugin = {
  name: 'narrow-text',
  renderChunk: (code) =>
    code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
}

/** The licences of the npm packages in a bundle, as one text. */
export function licencesOf(modules: ReadonlySet<string>, licenceFileIn: (dir: string) => string | undefined): string {
  const folders = new Set([...modules].flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  return [...folders]
    .toSorted()
    .map((dir) => {
      const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
      return `${name} ${version} (${license})\n\n${licenceFileIn(dir) ?? `Licensed under ${license}.`}`.trim()
    })
    .join('\n\n---\n\n')
}
