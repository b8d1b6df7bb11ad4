/**
 * Builds the console into `packages/console/dist`, which is committed: `npm run build:console`. With `--check` it builds elsewhere and compares.
 *
 * Why: `npm ci && npm start` must show the console without a build, so the built files are part of the repository. Nothing else notices when
 * they are not what the sources say, or when the first page has grown over its budget.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { licencesOf } from './packages/bundle.ts'
import { licenceIn } from './packages/licence.ts'

const ROOT = dirname(import.meta.dirname)
const CONSOLE = join(ROOT, 'packages/console')
const DIST = join(CONSOLE, 'dist')
/** The folder that the service serves the files from, which its `Content-Security-Policy` names. */
const BASE = '/console/'
const LICENCES = 'licences.txt'
/** What a browser loads before the first page can be used, gzipped. */
const BUDGET_BYTES = 90 * 1024

/** Builds the console into a folder, in place of what is there. */
async function buildConsole(folder: string): Promise<void> {
  const built = await build({
    root: CONSOLE,
    base: BASE,
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // Sources of the client are found by their condition for browsers.
    resolve: { conditions: ['browser', 'import', 'module', 'default'] },
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsDir: '',
      assetsInlineLimit: 0,
      target: 'es2022',
      // Those that know light-dark(), so that it is left as it is.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    worker: { format: 'es' },
  })
  const outputs = [built].flat() as Rolldown.RolldownOutput[]
  const modules = outputs.flatMap(({ output }) =>
    output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])),
  )
  writeFileSync(join(folder, LICENCES), `${licencesOf(new Set(modules), licenceIn)}\n`)
}

/** The bytes that the page names itself: its script, its styles, and what the script imports at once. */
function firstPageBytes(folder: string): number {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const names = new Set([...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name = '']) => name))
  // A set that grows while it is gone through is gone through to its end.
  for (const name of names) {
    if (!name.endsWith('.js')) continue
    const code = readFileSync(join(folder, name), 'utf8')
    for (const [, imported = ''] of code.matchAll(/(?:^|[;}])import(?:[^"'();]*from)?["']\.\/([^"']+)["']/g))
      names.add(imported)
  }
  const files = ['index.html', ...names].map((name) => readFileSync(join(folder, name)))
  return files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0)
}

/** What differs between two folders, a line each. */
function differences(one: string, other: string): string[] {
  const names = new Set([...readdirSync(one), ...readdirSync(other)])
  const bytesOf = (folder: string, name: string) =>
    readdirSync(folder).includes(name) ? readFileSync(join(folder, name)) : undefined
  return [...names].filter((name) => {
    const [mine, theirs] = [bytesOf(one, name), bytesOf(other, name)]
    return mine === undefined || theirs === undefined || !mine.equals(theirs)
  })
}

async function check(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'lade-console-'))
  try {
    await buildConsole(scratch)
    const different = differences(scratch, DIST)
    if (different.length === 0) return
    console.error(
      `packages/console/dist is not what its sources give (${different.join(', ')}). Run npm run build:console.`,
    )
    process.exitCode = 1
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (process.argv.includes('--check')) {
  await check()
} else {
  mkdirSync(DIST, { recursive: true })
  await buildConsole(DIST)
}
const bytes = firstPageBytes(DIST)
console.log(`The first page of the console: ${(bytes / 1024).toFixed(1)} of ${BUDGET_BYTES / 1024} KiB gzipped`)
if (bytes > BUDGET_BYTES) process.exitCode = 1
