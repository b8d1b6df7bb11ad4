import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkArrows, importsOf } from './check-arrows.ts'

const CORE_ABOUT = JSON.stringify({
  name: '@lade/core',
  exports: { './errors': './src/errors/lade-error.ts', './content': './src/content/content-id.ts' },
})
const SERVER_ABOUT = JSON.stringify({
  name: '@lade/server',
  exports: { '.': './src/main.ts', './config': './src/config/config.ts', './testing': './src/testing.ts' },
})
const ABOUT = {
  'packages/core/package.json': CORE_ABOUT,
  'packages/server/package.json': SERVER_ABOUT,
  'packages/node/package.json': JSON.stringify({
    name: '@lade/node',
    exports: { './hashing/sha256': './src/hashing/sha256.ts' },
  }),
  'packages/prover/package.json': JSON.stringify({ name: '@lade/prover' }),
  'packages/cli/package.json': JSON.stringify({ name: '@lade/cli' }),
  'packages/client/package.json': JSON.stringify({ name: '@lade/client', exports: { '.': './src/client.ts' } }),
}

let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lade-arrows-'))
})

afterEach(() => {
  rmSync(root, { recursive: true })
})

/** Checks a repo of these files, each a list of statements. */
function check(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries({ ...ABOUT, ...files })) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkArrows(root)
}

const brokenBy = (path: string, statement: string): readonly string[] => check({ [path]: `${statement}\n` }).broken

describe('importsOf', () => {
  test('finds static, re-exporting, bare and dynamic imports with their lines', () => {
    const source = [
      "import a from 'a'",
      'import {',
      '  b,',
      "} from './b.ts'",
      "import type { C } from './c.ts'",
      "import './d.ts'",
      "export { e } from './e.ts'",
      "export type { F } from './f.ts'",
      "export * from './g.ts'",
      "const h = await import('./h.ts')",
      "type I = typeof import('./i.ts')",
      'import { type J } from "./j.ts"',
      "import about from './k.json' with { type: 'json' }",
    ].join('\n')
    expect(importsOf(source)).toEqual([
      { specifier: 'a', line: 1, typeOnly: false },
      { specifier: './b.ts', line: 4, typeOnly: false },
      { specifier: './c.ts', line: 5, typeOnly: true },
      { specifier: './d.ts', line: 6, typeOnly: false },
      { specifier: './e.ts', line: 7, typeOnly: false },
      { specifier: './f.ts', line: 8, typeOnly: true },
      { specifier: './g.ts', line: 9, typeOnly: false },
      { specifier: './h.ts', line: 10, typeOnly: false },
      { specifier: './i.ts', line: 11, typeOnly: true },
      { specifier: './j.ts', line: 12, typeOnly: false },
      { specifier: './k.json', line: 13, typeOnly: false },
    ])
  })

  test('finds nothing in comments, and is not led astray by comment marks in strings', () => {
    const source = [
      '/*',
      "import a from './a.ts'",
      '*/',
      "// import b from './b.ts'",
      "const glob = 'src/**/*.ts'",
      "const url = 'http://example.com'",
      'const both = `/*`',
      "import c from './c.ts'",
      "export const text = 'from'",
      "export function from(value = './d.ts') {}",
    ].join('\n')
    expect(importsOf(source)).toEqual([{ specifier: './c.ts', line: 8, typeOnly: false }])
  })
})

describe('checkArrows', () => {
  test('counts what runs as it should, and says nothing else', () => {
    const report = check({
      'packages/core/src/errors/lade-error.ts': '',
      'packages/core/src/content/content-id.ts':
        "import { LadeError } from '../errors/lade-error.ts'\nimport 'multiformats'\n",
      'packages/core/src/content/content-id.test.ts': "import { createHash } from 'node:crypto'\n",
      'packages/server/src/blobs/blob-store.ts': "import type { BlobInfo } from './blob-info.ts'\n",
      'packages/server/src/blobs/receive.ts':
        "import { sha256 } from '@lade/node/hashing/sha256'\nimport { LadeError } from '@lade/core/errors'\n",
      'packages/server/src/blobs/drivers/fs/fs-blob-store.ts':
        "import type { BlobStore } from '../../blob-store.ts'\nimport { list } from '../../buffer-list.ts'\nimport './files.ts'\n",
      'packages/server/src/uploads/stage.ts':
        "import { receive } from '../blobs/receive.ts'\nimport { reserve } from '../quotas/reserve.ts'\n",
      'packages/server/src/http/app.ts':
        "import { stage } from '../uploads/stage.ts'\nimport type { Config } from '../config/config.ts'\nimport 'fastify'\n",
      'packages/server/src/main.ts':
        "import { openFs } from './blobs/drivers/fs/fs-blob-store.ts'\nimport './http/app.ts'\n",
      'packages/cli/src/main.ts':
        "import { start } from '@lade/server'\nimport about from '../package.json' with { type: 'json' }\n",
      'packages/client/src/client.ts': "import { LadeError } from '@lade/core/errors'\n",
      'acceptance/upload.test.ts': "import { target } from './target.ts'\n",
    })
    expect(report).toEqual({ broken: [], files: 12, imports: 20 })
  })

  test('refuses a circle of files, of types too', () => {
    const { broken } = check({
      'packages/client/src/a.ts': "import type { B } from './b.ts'\n",
      'packages/client/src/b.ts': "import './c.ts'\n",
      'packages/client/src/c.ts': "import { a } from './a.ts'\n",
    })
    expect(broken).toEqual([
      'packages/client/src/a.ts imports packages/client/src/b.ts imports packages/client/src/c.ts imports packages/client/src/a.ts: files form no circle',
    ])
  })

  test('prints file, line, specifier and reason of a broken arrow', () => {
    expect(brokenBy('packages/core/src/wire/wire.ts', "\nimport 'node:fs'")).toEqual([
      'packages/core/src/wire/wire.ts:2 imports node:fs: core runs in any JavaScript runtime and imports no module of Node',
    ])
  })

  test.each([
    // core
    ['packages/core/src/content/a.ts', "import 'crypto'", 'any JavaScript runtime'],
    ['packages/core/src/errors/a.ts', "import '../content/content-id.ts'", 'errors imports nothing'],
    ['packages/core/src/content/a.ts', "import '../wire/wire.ts'", 'content imports errors, piece and dag only'],
    ['packages/core/src/wire/a.ts', "import { start } from '@lade/server'", 'wire imports errors and content only'],
    // ports and drivers
    ['packages/server/src/blobs/blob-store.ts', "import { a } from './receive.ts'", 'a port imports core'],
    [
      'packages/server/src/records/record-store.ts',
      "import type { A } from '../blobs/blob-store.ts'",
      'a port imports core',
    ],
    ['packages/server/src/blobs/drivers/fs/a.ts', "import { A } from '../../blob-store.ts'", 'by `import type`'],
    ['packages/server/src/blobs/drivers/fs/a.ts', "import { type A } from '../../blob-store.ts'", 'by `import type`'],
    ['packages/server/src/blobs/wrappers/a.ts', "import type { A } from '../../records/record-store.ts'", 'a driver'],
    ['packages/server/src/blobs/receive.ts', "import './drivers/fs/fs-blob-store.ts'", 'the folder of a port'],
    // use cases and http
    ['packages/server/src/uploads/a.ts', "import type { A } from '../blobs/drivers/fs/a.ts'", 'a use case'],
    ['packages/server/src/uploads/a.ts', "import type { A } from '../http/app.ts'", 'a use case'],
    ['packages/server/src/quotas/a.ts', "import type { A } from '../config/config.ts'", 'a use case'],
    ['packages/server/src/files/a.ts', "const a = await import('../main.ts')", 'a use case'],
    ['packages/server/src/http/a.ts', "import { A } from '../config/config.ts'", 'http imports'],
    ['packages/server/src/http/a.ts', "import type { A } from '../blobs/drivers/fs/a.ts'", 'http imports'],
    [
      'packages/node/src/hashing/a.ts',
      "import '../settings/a.ts'",
      'hashing imports core, budget, memory and the addon only',
    ],
    ['packages/prover/src/a.ts', "import '@lade/server/config'", 'prover imports core, node and contracts'],
    // packages
    ['packages/cli/src/a.ts', "import '../../server/src/main.ts'", 'by its name'],
    ['packages/cli/src/a.ts', "import '@lade/server/src/http/app.ts'", 'no published entry point'],
    ['packages/cli/src/a.ts', "import '@lade/server/testing'", 'only tests'],
    ['packages/client/src/a.ts', "import '@lade/server'", 'client imports core only'],
    ['packages/server/src/a.test.ts', "import '../../core/src/errors/lade-error.ts'", 'by its name'],
    ['packages/server/src/uploads/a.ts', "import './a.test.ts'", 'only tests'],
    ['packages/server/src/testing/doubles/a.ts', "import '../running/a.ts'", 'a test double imports ports'],
    ['packages/server/src/testing/doubles/a.ts', "import '../../uploads/a.ts'", 'a test double imports ports'],
    ['packages/server/src/migrate/a.ts', "import '../doctor/a.ts'", 'migrate imports wiring'],
    ['packages/server/src/wiring/a.ts', "import type { A } from '../main.ts'", 'wiring imports'],
    // outside packages
    ['acceptance/a.test.ts', "import '@lade/core/errors'", 'acceptance knows HTTP'],
    ['acceptance/a.test.ts', "import '../packages/core/src/errors/lade-error.ts'", 'by its name'],
    ['bench/load/a.ts', "import '@lade/core/errors'", 'starts a service by its entry points'],
    // files that no rule knows
    ['packages/server/src/misc/a.ts', "import 'pino'", 'no rule covers this file'],
    ['packages/server/src/uploads/a.ts', "import '../misc/a.ts'", 'no rule covers packages/server/src/misc/a.ts'],
  ])('refuses that %s says %s', (path, statement, why) => {
    const broken = brokenBy(path, statement)
    expect(broken).toHaveLength(1)
    expect(broken[0]).toContain(why)
  })

  test('refuses a cycle between use cases, one line for each import that closes it', () => {
    const { broken } = check({
      'packages/server/src/uploads/a.ts': "import '../quotas/a.ts'\n",
      'packages/server/src/quotas/a.ts': "import '../tokens/a.ts'\n",
      'packages/server/src/tokens/a.ts': "import type { A } from '../uploads/a.ts'\n",
      'packages/server/src/files/a.ts': "import '../tokens/a.ts'\n",
    })
    expect(broken).toEqual([
      'packages/server/src/quotas/a.ts:1 imports ../tokens/a.ts: server/tokens leads back to server/quotas, and use cases form no cycle',
      'packages/server/src/tokens/a.ts:1 imports ../uploads/a.ts: server/uploads leads back to server/tokens, and use cases form no cycle',
      'packages/server/src/uploads/a.ts:1 imports ../quotas/a.ts: server/quotas leads back to server/uploads, and use cases form no cycle',
      'packages/server/src/tokens/a.ts imports packages/server/src/uploads/a.ts imports packages/server/src/quotas/a.ts imports packages/server/src/tokens/a.ts: files form no circle',
    ])
  })

  test('lets tests and conformance suites import more', () => {
    const files = ['a.test.ts', 'a.test-d.ts', 'conformance.ts', 'conformance/cases.ts', 'fake-prover.ts']
    const statement = "import './drivers/local/local-prover.ts'\nimport '../main.ts'\n"
    const { broken } = check(
      Object.fromEntries(files.map((file) => [`packages/server/src/proving/${file}`, statement])),
    )
    expect(broken).toEqual([])
  })
})
