import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Bundle, bundle, licencesOf } from './bundle.ts'
import { writeDeclarations } from './declarations.ts'
import { licenceIn } from './licence.ts'
import {
  entriesOf,
  entryName,
  type Manifest,
  pinnedVersions,
  ROOT,
  readManifest,
  readWorkspace,
  type WorkspacePackage,
} from './workspace.ts'

/** Runs in browsers too, so it is built for each kind of runtime and bundles all it needs. */
const CLIENT = '@lade/client'
/** It takes 85 MB with what it depends on, and Lade uses less than 1 MB of it. */
const BUNDLED = ['viem']
/**
 * Bundled with programs, of which each uses a part: a program that loads fewer and smaller files starts sooner and takes less memory.
 * Applications that import a package share these with their own code.
 */
const BUNDLED_IN_PROGRAMS = [
  ...BUNDLED,
  '@ipld/dag-cbor',
  '@ipld/dag-json',
  '@ipld/dag-pb',
  '@noble/hashes',
  'cborg',
  'fastify-type-provider-zod',
  'hash-wasm',
  'jose',
  'multiformats',
  'zod',
]
const LICENCES = ['LICENSE', 'LICENSE-APACHE', 'LICENSE-MIT']

/** Where `npm run build` puts a package. */
export function builtFolder({ shortName }: WorkspacePackage): string {
  return join(ROOT, 'out/build', shortName)
}

/**
 * Builds a package into a folder that npm can pack: JavaScript and declarations in `dist`, and a `package.json` without
 * dependencies on this repository. `emitDeclarations` must have run.
 */
export async function buildPackage(one: WorkspacePackage): Promise<void> {
  const folder = builtFolder(one)
  rmSync(folder, { recursive: true, force: true })
  const dist = join(folder, 'dist')
  const isClient = one.name === CLIENT
  const bundles = isClient ? await bundleClient(one, dist) : [await bundleForNode(one, dist)]
  const named = declare(one, dist, isClient)
  const dependencies = new Set([...bundles.flatMap((bundle) => [...bundle.dependencies]), ...named])
  const modules = new Set(bundles.flatMap((bundle) => [...bundle.modules]))
  const assets = copyAssets(modules, folder)

  for (const file of LICENCES) cpSync(join(ROOT, file), join(folder, file))
  const licences = licencesOf(modules, licenceIn)
  if (licences !== '') writeFileSync(join(folder, 'LICENSE-THIRD-PARTY'), `${licences}\n`)
  for (const name of ['README.md', 'bin']) {
    if (existsSync(join(one.dir, name))) cpSync(join(one.dir, name), join(folder, name), { recursive: true })
  }
  const manifest = publishedManifest(one, {
    exports: isClient ? clientExports(one) : nodeExports(one),
    imports: assets.imports,
    dependencies: versionsOf(dependencies),
    files: ['dist', 'bin', ...assets.folders, 'LICENSE-*'],
  })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

function bundleForNode(one: WorkspacePackage, outDir: string): Promise<Bundle> {
  const bundled = one.manifest.exports === undefined ? BUNDLED_IN_PROGRAMS : BUNDLED
  return bundle({ entries: entriesOf(one), outDir, format: 'es', platform: 'node', bundled })
}

async function bundleClient(one: WorkspacePackage, dist: string): Promise<Bundle[]> {
  const entries = entriesOf(one)
  const { index } = entries
  if (index === undefined) throw new Error(`${one.name} exports no "."`)
  const oneFile = join(one.dir, 'src/platform/browser/one-file.ts')
  const common = { format: 'es', platform: 'browser', bundled: 'all' } as const
  const bundles = [
    await bundle({ ...common, entries, platform: 'node', outDir: join(dist, 'node') }),
    await bundle({ ...common, entries, platform: 'node', format: 'cjs', outDir: join(dist, 'require') }),
    await bundle({ ...common, entries: { index }, outDir: join(dist, 'browser') }),
    await bundle({ ...common, entries: { 'lade-client': oneFile }, outDir: join(dist, 'page'), isOneFile: true }),
  ]
  // Also tells TypeScript which kind of module the declarations beside it are.
  writeFileSync(join(dist, 'require/package.json'), '{ "type": "commonjs" }\n')
  return bundles
}

function declare(one: WorkspacePackage, dist: string, isClient: boolean): ReadonlySet<string> {
  if (one.manifest.exports === undefined) return new Set()
  const entries = Object.fromEntries(
    Object.entries(one.manifest.exports).map(([subpath, file]) => [entryName(subpath), join(one.dir, file)]),
  )
  const outDir = join(dist, 'types')
  const named = writeDeclarations({ entries, outDir, isSelfContained: isClient })
  if (isClient) cpSync(outDir, join(dist, 'require/types'), { recursive: true })
  return named
}

/**
 * Copies the folders that the `imports` of bundled packages lead to. They hold files that are not JavaScript, such as
 * the native addons of `#native/*` and the pages of `#guides/*`.
 */
function copyAssets(modules: ReadonlySet<string>, folder: string) {
  const imports: Record<string, string> = {}
  const folders: string[] = []
  for (const { dir, manifest } of readWorkspace().values()) {
    if (![...modules].some((file) => file.startsWith(`${dir}/`))) continue
    for (const [name, target] of Object.entries(manifest.imports ?? {})) {
      if (typeof target !== 'string') continue
      const place = relative('.', target.replace(/\/\*$/, ''))
      imports[name] = target
      folders.push(place)
      mkdirSync(join(folder, dirname(place)), { recursive: true })
      if (existsSync(join(dir, place))) copyFolder(join(dir, place), join(folder, place))
    }
  }
  return { imports, folders }
}

/** Copies what a link leads to, such as the guides, in place of the link. */
function copyFolder(from: string, to: string): void {
  cpSync(realpathSync(from), to, { recursive: true })
}

function nodeExports({ manifest }: WorkspacePackage) {
  if (manifest.exports === undefined) return { './package.json': './package.json' }
  const exports = Object.keys(manifest.exports).map((subpath) => {
    const name = entryName(subpath)
    return [subpath, { types: `./dist/types/${name}.d.ts`, default: `./dist/${name}.js` }]
  })
  return { ...Object.fromEntries(exports), './package.json': './package.json' }
}

function clientExports({ manifest }: WorkspacePackage) {
  const exports = Object.keys(manifest.exports ?? {}).map((subpath) => {
    const name = entryName(subpath)
    const types = `./dist/types/${name}.d.ts`
    const browser = { browser: { types, default: `./dist/browser/${name}.js` } }
    return [
      subpath,
      {
        ...(subpath === '.' ? browser : {}),
        import: { types, default: `./dist/node/${name}.js` },
        require: { types: `./dist/require/types/${name}.d.ts`, default: `./dist/require/${name}.js` },
      },
    ]
  })
  const types = './dist/types/index.d.ts'
  const page = { './page': { types, default: './dist/page/lade-client.js' } }
  // For bundlers that have to be told of workers.
  const worker = { './hash-worker': './dist/browser/hash-worker.js' }
  return { ...Object.fromEntries(exports), ...page, ...worker, './package.json': './package.json' }
}

interface BuiltFields {
  readonly exports: unknown
  readonly imports: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly files: readonly string[]
}

function publishedManifest({ dir, manifest }: WorkspacePackage, fields: BuiltFields) {
  const { name, version, description, license, sideEffects, engines } = manifest
  const { repository, engines: rootEngines } = readManifest(ROOT)
  return {
    name,
    version,
    description,
    license,
    repository: { ...repository, directory: relative(ROOT, dir) },
    type: 'module',
    sideEffects,
    engines: engines ?? rootEngines,
    bin: manifest.publishConfig?.bin,
    exports: fields.exports,
    imports: Object.keys(fields.imports).length > 0 ? fields.imports : undefined,
    files: fields.files,
    dependencies: fields.dependencies,
  }
}

function versionsOf(names: ReadonlySet<string>): Manifest['dependencies'] & object {
  const versions = pinnedVersions()
  const entries = [...names].toSorted().map((name) => {
    const version = versions.get(name)
    if (version === undefined) throw new Error(`${name} is loaded by a package, and a dependency of none.`)
    return [name, version] as const
  })
  return Object.fromEntries(entries)
}
