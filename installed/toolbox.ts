import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

export const ROOT = dirname(import.meta.dirname)
/** Where `npm run pack` writes. */
const PACKED = join(ROOT, 'out/packages')
/** Settings of the repository and of the `npm run` around the tests, which an installation elsewhere does not have. */
const NPM_SETTING = /^npm_/i

const run = promisify(execFile)

declare module 'vitest' {
  export interface ProvidedContext {
    readonly toolboxDir: string
  }
}

/** A folder for one run, with the programs that the tests use on installed packages. */
export interface Toolbox {
  readonly dir: string
  /** A program of the packages in `installed/package.json`. */
  program(path: string): string
  /**
   * Installs one tarball into an empty folder, as its user would, with nothing beside it.
   *
   * @param name - of the package, without its scope.
   * @returns the folder.
   */
  install(name: string): Promise<string>
}

/** Packs all packages and installs the programs, before the tests of all files; vitest calls it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'lade-installed-'))
  const tools = join(dir, 'tools')
  try {
    await npm(ROOT, ['run', 'pack'])
    await mkdir(tools)
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
      await cp(join(import.meta.dirname, file), join(tools, file))
    }
    await npm(tools, ['ci', '--prefer-offline'])
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
  provide('toolboxDir', dir)
  return () => rm(dir, { recursive: true, force: true })
}

/** The toolbox of this run. */
export function openToolbox(): Toolbox {
  const dir = inject('toolboxDir')
  return {
    dir,
    program: (path) => join(dir, 'tools/node_modules', path),
    async install(name) {
      const folder = join(dir, name)
      await mkdir(folder)
      await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
      const options = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline']
      await npm(folder, ['install', ...options, await tarballOf(name)])
      return folder
    },
  }
}

/** The tarball of a package, of the version that was packed last. */
async function tarballOf(name: string): Promise<string> {
  const file = (await readdir(PACKED)).find((packed) => packed.startsWith(`lade-${name}-`))
  if (file === undefined) throw new Error(`npm run pack wrote no tarball of @lade/${name}.`)
  return join(PACKED, file)
}

/** The space that a folder takes on the disk, in bytes. */
export async function diskBytesOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['--summarize', '--block-size=1', folder])
  return Number.parseInt(stdout, 10)
}

async function npm(cwd: string, args: readonly string[]): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NPM_SETTING.test(name)))
  await run('npm', args, { cwd, env })
}
