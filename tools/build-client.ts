/**
 * Bundles the client for browsers, and fails when what a page loads to put and to get has grown over its budget.
 *
 * Why: one import of the wrong module of core brings a schema library or two codecs along, nothing breaks, and every page
 * that stages a file loads ten times as much from then on.
 *
 * Run it as `node tools/build-client.ts`. It writes `packages/client/dist/`: `lade-client.js`, the worker and the parts that
 * are loaded when they are needed lie beside each other.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type OutputChunk, type Plugin } from 'rolldown'

const root = dirname(import.meta.dirname)
const CLIENT = join(root, 'packages/client/src/client.ts')
export const WORKER = join(root, 'packages/client/src/platform/browser/hash-worker.ts')
export const CLIENT_FILE = 'lade-client.js'
export const WORKER_FILE = 'lade-client-worker.js'
const OWN_FILES = /^lade-client[\w-]*\.js$/
/** What a page may load, gzipped, before it can put and get. */
export const BUDGET_BYTES = 40 * 1024

/** A file of the bundle. */
export interface BundledFile {
  readonly name: string
  readonly gzipBytes: number
  /** True for what is loaded at once; the others wait until somebody needs them. */
  readonly isLoadedAtOnce: boolean
}

/** Writes the bundle to a folder, in place of one that is there. */
export async function buildClient(folder: string): Promise<BundledFile[]> {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (OWN_FILES.test(name)) rmSync(join(folder, name))
  const client = await bundle(folder, CLIENT, CLIENT_FILE)
  const worker = await bundle(folder, WORKER, WORKER_FILE)
  const atOnce = loadedAtOnce(client)
  return [...client, ...worker].map(({ fileName }) => ({
    name: fileName,
    gzipBytes: gzipSync(readFileSync(join(folder, fileName)), { level: 9 }).length,
    isLoadedAtOnce: atOnce.has(fileName),
  }))
}

/** What a page loads before it can put and get, gzipped. */
export function sizeAtOnce(files: readonly BundledFile[]): number {
  return files.reduce((sum, { gzipBytes, isLoadedAtOnce }) => sum + (isLoadedAtOnce ? gzipBytes : 0), 0)
}

/** Bundles a module for browsers as `fileName`, with what it loads later beside it. */
export async function bundle(folder: string, entry: string, fileName: string): Promise<OutputChunk[]> {
  const { output } = await build({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['browser', 'import', 'default'] },
    plugins: [workerBeside],
    logLevel: 'warn',
    preserveEntrySignatures: 'allow-extension',
    output: {
      dir: folder,
      format: 'es',
      minify: true,
      entryFileNames: fileName,
      // What is loaded at once stays in one file, whatever of it the parts that come later use as well.
      codeSplitting: { groups: [{ name: fileName, tags: ['$initial'] }] },
      chunkFileNames: `${fileName.replace('.js', '')}-[name].js`,
    },
  })
  return output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
}

/** Bundlers of applications find the worker by themselves; this one is told. */
const workerBeside: Plugin = {
  name: 'worker-beside',
  transform: (code) => code.replace("'./hash-worker.ts', import.meta.url", `'./${WORKER_FILE}', import.meta.url`),
}

function loadedAtOnce(chunks: readonly OutputChunk[]): ReadonlySet<string> {
  const names = new Set([CLIENT_FILE])
  // A set that grows while it is gone through is gone through to its end.
  for (const name of names) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) names.add(imported)
  }
  return names
}

if (import.meta.main) {
  const files = await buildClient(join(root, 'packages/client/dist'))
  for (const { name, gzipBytes, isLoadedAtOnce } of files) {
    console.log(`${name}: ${(gzipBytes / 1024).toFixed(1)} KiB gzipped${isLoadedAtOnce ? '' : ', when needed'}`)
  }
  const bytes = sizeAtOnce(files)
  console.log(`To put and to get: ${(bytes / 1024).toFixed(1)} of ${BUDGET_BYTES / 1024} KiB`)
  if (bytes > BUDGET_BYTES) process.exitCode = 1
}
