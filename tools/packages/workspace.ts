import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The root of the repository. */
export const ROOT = dirname(dirname(import.meta.dirname))

/** What is used of a `package.json`. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
  readonly private?: boolean
  readonly sideEffects?: boolean
  readonly engines?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string>>
  readonly imports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly repository?: { readonly type: string; readonly url: string }
  /** What the commands of the tarball are; in the repository they run from source. */
  readonly publishConfig?: { readonly bin: Readonly<Record<string, string>> }
}

/** A package of the repository. */
export interface WorkspacePackage {
  /** With its scope: `@lade/client`. */
  readonly name: string
  /** Without it: `client`. */
  readonly shortName: string
  readonly dir: string
  readonly manifest: Manifest
}

/** All packages of the repository, by name. */
export function readWorkspace(): ReadonlyMap<string, WorkspacePackage> {
  const packages = readdirSync(join(ROOT, 'packages')).map((folder): WorkspacePackage => {
    const dir = join(ROOT, 'packages', folder)
    const manifest = readManifest(dir)
    return { name: manifest.name, shortName: basename(manifest.name), dir, manifest }
  })
  return new Map(packages.map((one) => [one.name, one]))
}

/** Those that are published; the private ones are part of them. */
export function publishedPackages(): WorkspacePackage[] {
  return [...readWorkspace().values()].filter(({ manifest }) => manifest.private !== true)
}

/** The `package.json` of a folder. What only tests of the repository import is no export. */
export function readManifest(dir: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  if (manifest.exports === undefined) return manifest
  const exports = Object.entries(manifest.exports).filter(([subpath]) => !subpath.startsWith('./testing/'))
  return { ...manifest, exports: Object.fromEntries(exports) }
}

/**
 * The source files that users of a package import or run, by the name that each gets in `dist`.
 *
 * @example
 * entriesOf(core) // { content: '…/src/content/content.ts', 'dag-import': '…/src/dag/import.ts', … }
 */
export function entriesOf({ dir, manifest }: WorkspacePackage): Record<string, string> {
  const entries = Object.entries(manifest.exports ?? {}).map(([subpath, file]) => [entryName(subpath), join(dir, file)])
  const programs = Object.values(manifest.bin ?? {}).map((file) => [basename(file, '.ts'), join(dir, file)])
  return Object.fromEntries([...entries, ...programs])
}

/**
 * The name in `dist` of what a subpath of `exports` leads to.
 *
 * @example
 * entryName('.') // 'index'
 * entryName('./dag/import') // 'dag-import'
 */
export function entryName(subpath: string): string {
  return subpath === '.' ? 'index' : subpath.slice('./'.length).replaceAll('/', '-')
}

/** The versions of npm packages that the repository uses, by name. Each package has one version everywhere. */
export function pinnedVersions(): ReadonlyMap<string, string> {
  const versions = new Map<string, string>()
  for (const { name, manifest } of readWorkspace().values()) {
    for (const [dependency, version] of Object.entries(manifest.dependencies ?? {})) {
      const other = versions.get(dependency)
      if (other !== undefined && other !== version) {
        throw new Error(`${name} depends on ${dependency} ${version}, another package on ${other}; use one version.`)
      }
      versions.set(dependency, version)
    }
  }
  return versions
}
