import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Settings of the repository and of the `npm run` around the tests. */
const NPM_SETTING = /^npm_(?!config_registry$)/i
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** What a program wrote, and its exit code. */
export interface Ended {
  readonly code: number
  readonly output: string
}

/** Programs that read OpenAPI documents, of npm and of PyPI, and a folder to use them in. */
export interface OpenApiTools {
  readonly folder: string
  /** Runs a program of this machine. */
  run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>
  /** Runs a program that npm installed. */
  node(name: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>
  /** Runs a program that pip installed, or `python`. */
  python(name: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>
  remove(): Promise<void>
}

/**
 * Installs the programs of `package.json` and `requirements.txt` into a temporary folder.
 *
 * @throws {Error} with what npm or pip said.
 */
export async function installTools(): Promise<OpenApiTools> {
  const folder = await mkdtemp(join(tmpdir(), 'lade-openapi-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    for (const file of ['package.json', 'package-lock.json'])
      await cp(join(import.meta.dirname, file), join(folder, file))
    await Promise.all([installNode(folder), installPython(folder)])
  } catch (error) {
    await remove()
    throw error
  }
  const runHere: OpenApiTools['run'] = (program, args, env = {}) =>
    ended(program, args, { cwd: folder, env: { ...process.env, ...env } })
  return {
    folder,
    run: runHere,
    node: (name, args, env) => runHere(join(folder, 'node_modules/.bin', name), args, env),
    python: (name, args, env) => runHere(join(folder, 'venv/bin', name), args, env),
    remove,
  }
}

async function installNode(cwd: string): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NPM_SETTING.test(name)))
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd, env })
}

async function installPython(cwd: string): Promise<void> {
  await run('python3', ['-m', 'venv', 'venv'], { cwd })
  const options = ['--quiet', '--disable-pip-version-check', '--requirement']
  await run('venv/bin/pip', ['install', ...options, join(import.meta.dirname, 'requirements.txt')], { cwd })
}

async function ended(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ended> {
  const limits = { ...options, maxBuffer: MAX_OUTPUT_BYTES }
  return run(program, args, limits).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code?: unknown; stdout?: string; stderr?: string }) => {
      if (typeof error.code !== 'number') throw error
      return { code: error.code, output: `${error.stdout ?? ''}${error.stderr ?? ''}` }
    },
  )
}
