/**
 * Compiles the addon, which hashes several streams at once: `node packages/node/native/build.mjs`.
 *
 * It needs a C compiler, `cc` or what the environment names as `CC`, and the headers of Node.js. Where something is missing
 * it says so in a sentence and ends with exit code 0: the service then hashes by node:crypto. An addon that is newer than
 * its sources is left alone. Runs on Node.js 20 and later, since it may run before the right one is there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const sources = readdirSync(here)
  .filter((name) => /\.[ch]$/.test(name))
  .map((name) => join(here, name))
const built = join(here, 'build', `sha256-streams-${process.platform}-${process.arch}.node`)
const LINKING = { linux: ['-shared', '-fPIC'], darwin: ['-bundle', '-undefined', 'dynamic_lookup'] }

try {
  if (!isUpToDate()) build()
} catch (error) {
  const why = error instanceof Error ? error.message : String(error)
  console.error(`The sha2-256 addon was not built, so node:crypto takes its place: ${why}.`)
}

function isUpToDate() {
  if (!existsSync(built)) return false
  const { mtimeMs } = statSync(built)
  return sources.every((source) => statSync(source).mtimeMs < mtimeMs)
}

function build() {
  const linking = LINKING[process.platform]
  if (linking === undefined || process.arch !== 'x64') {
    throw new Error(`it is for x64 on Linux and macOS, and this is ${process.arch} on ${process.platform}`)
  }
  const headers = headerFolders().find((folder) => existsSync(join(folder, 'node_api.h')))
  if (headers === undefined) throw new Error('node_api.h is neither beside this Node.js nor in node_modules')
  // Whoever loads the addon meanwhile finds the old one or the new one, whole.
  const unfinished = `${built}.${process.pid}`
  mkdirSync(dirname(built), { recursive: true })
  try {
    compile(['-std=c11', '-O2', ...linking, `-I${headers}`, ...sources.filter(isUnit), '-o', unfinished])
    renameSync(unfinished, built)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function isUnit(source) {
  return source.endsWith('.c')
}

function compile(args) {
  const [compiler, ...options] = (process.env.CC || 'cc').split(' ')
  const { error, status, stderr } = spawnSync(compiler, [...options, ...args], { encoding: 'utf8' })
  if (error !== undefined) throw new Error(`${compiler} cannot be run (${error.code})`)
  if (status !== 0) throw new Error(`${compiler} ended with ${status}, saying "${stderr.trim().split('\n')[0]}"`)
}

/** Those of the Node.js that runs this, then those of the one that a `node_modules` further up holds. */
function headerFolders() {
  const folders = [join(dirname(process.execPath), '..', 'include', 'node')]
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'include', 'node'))
  }
  return folders
}
