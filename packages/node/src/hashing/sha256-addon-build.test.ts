import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadRunStreams, sha256Hashing } from './sha256-hashing.ts'

const NATIVE = fileURLToPath(new URL('../../native/', import.meta.url))
const ADDON = `sha256-streams-${process.platform}-${process.arch}.node`
const SOURCES = readdirSync(NATIVE).filter((name) => /\.[ch]$/.test(name))
const SENTENCE = /^The sha2-256 addon was not built, so node:crypto takes its place: .+\.\n$/

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-addon-'))
  for (const name of [...SOURCES, 'build.mjs']) await cp(join(NATIVE, name), join(dir, name))
})
afterEach(() => rm(dir, { recursive: true }))

/** Rejects when the exit code is not 0. */
async function build(env: Record<string, string> = {}): Promise<string> {
  const { stderr } = await promisify(execFile)(process.execPath, [join(dir, 'build.mjs')], {
    env: { PATH: process.env.PATH, ...env },
  })
  return stderr
}

async function builtFiles(): Promise<string[]> {
  return readdir(join(dir, 'build')).catch(() => [])
}

describe.runIf(sha256Hashing.isNative)(
  'where the addon can be built, build.mjs',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    test('builds one that works', async () => {
      expect(await build()).toBe('')
      expect(await builtFiles()).toEqual([ADDON])
      expect(loadRunStreams(() => createRequire(import.meta.url)(join(dir, 'build', ADDON)))).toBeInstanceOf(Function)
    })

    test.each(['part-digests.c', 'sha256-lanes.h'])('builds again only what is older than %s', async (source) => {
      const mtime = async (): Promise<number> => (await stat(join(dir, 'build', ADDON))).mtimeMs
      await build()
      const first = await mtime()
      expect(await build({ CC: 'no-such-compiler' })).toBe('')
      expect(await mtime()).toBe(first)
      const later = new Date(first + 1000)
      await utimes(join(dir, source), later, later)
      expect(await build({ CC: 'no-such-compiler' })).toMatch(SENTENCE)
      expect(await mtime()).toBe(first)
      expect(await build()).toBe('')
      expect(await mtime()).toBeGreaterThan(first)
    })
  },
)

describe('where something is missing, build.mjs says so and ends well', () => {
  test.each([
    ['no compiler', { CC: 'no-such-compiler' }],
    ['a compiler that fails', { CC: 'false' }],
  ])('%s', async (_, env) => {
    expect(await build(env)).toMatch(SENTENCE)
    expect(await builtFiles()).toEqual([])
  })
})
