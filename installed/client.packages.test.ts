import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { FAKE_TOKEN, startFakeService } from '../packages/client/src/testing/fake-service.ts'
import { unixfsV1Cid } from '../packages/client/src/testing/importer.ts'
import { noise } from '../packages/client/src/testing/noise.ts'
import { startOwnService } from '../packages/client/src/testing/own-service.ts'
import { findChromium, PAGE_FILE, runPage } from '../packages/client/src/testing/run-in-chromium.ts'
import type { GivenFixture, SuiteResult } from '../packages/client/src/testing/run-suite.ts'
import { SUITE, SUITE_SIZES } from '../packages/client/src/testing/suite.ts'
import { bundle } from '../tools/packages/bundle.ts'
import { openToolbox, ROOT } from './toolbox.ts'

const run = promisify(execFile)
const FIXTURE = join(import.meta.dirname, 'fixture')
const TIMEOUT_MS = 180_000
/** All cases but those that need limits that no published client has. */
const HOLDING = SUITE.flatMap(({ title, needsSmallParts }) => (needsSmallParts ? [] : [{ title }]))

const toolbox = openToolbox()
/** Where the client is installed, and what uses it lies. */
let folder = ''
let cids: Record<number, string>
beforeAll(async () => {
  folder = await toolbox.install('client')
  await cp(FIXTURE, folder, { recursive: true })
  const suite = join(ROOT, 'packages/client/src/testing/run-suite.ts')
  await bundle({ entries: { suite }, outDir: folder, format: 'es', platform: 'browser', bundled: 'all' })
  const sized = SUITE_SIZES.map(async (size) => [size, await unixfsV1Cid(noise(size))] as const)
  cids = Object.fromEntries(await Promise.all(sized))
}, 300_000)

/** Runs the suite against services of its own: what another runtime has staged would be found. */
async function withFixture<Result>(
  isBrowser: boolean,
  use: (fixture: GivenFixture) => Promise<Result>,
): Promise<Result> {
  const service = await startOwnService({ LADE_TOKEN_DAILY_MB: '4096' })
  const fake = await startFakeService()
  try {
    const token = await service.token()
    return await use({ url: service.url, token, fakeUrl: fake.url, fakeToken: FAKE_TOKEN, cids, isBrowser })
  } finally {
    await fake.close()
    await service.remove()
  }
}

describe('the installed client in Node', () => {
  const cases = [
    ['Node 20, imported', 'import', 'node-20/bin/node'],
    ['Node 20, required', 'require', 'node-20/bin/node'],
    ['Node 22, imported', 'import', 'node-22/bin/node'],
    ['Node 24, imported', 'import', undefined],
  ] as const
  it.each(cases)(
    '%s: passes its suite',
    async (_, how, path) => {
      const node = path === undefined ? process.execPath : toolbox.program(path)
      const results = await withFixture(false, async (fixture) => {
        const files = [join(folder, 'fixture.json'), join(folder, 'results.json')] as const
        await writeFile(files[0], JSON.stringify(fixture))
        await run(node, [join(folder, 'run-suite.js'), how, ...files], { timeout: TIMEOUT_MS })
        return JSON.parse(await readFile(files[1], 'utf8')) as SuiteResult[]
      })
      expect(results).toEqual(HOLDING)
    },
    TIMEOUT_MS,
  )
})

/** Builds `page-of-package.js` into a folder, as the application of a user would be. */
const BUILDS: Readonly<Record<string, (outDir: string) => Promise<void>>> = {
  async Vite(outDir) {
    const { build } = await import(pathToFileURL(toolbox.program('vite/dist/node/index.js')).href)
    const output = { entryFileNames: PAGE_FILE, chunkFileNames: '[name]-[hash].js' }
    await build({
      root: folder,
      configFile: false,
      logLevel: 'warn',
      base: './',
      build: {
        outDir,
        emptyOutDir: true,
        assetsDir: '',
        modulePreload: false,
        rollupOptions: { input: pageOf(folder), output },
      },
      worker: { format: 'es' },
    })
  },
  async webpack(outDir) {
    const { default: webpack } = await import(pathToFileURL(toolbox.program('webpack/lib/index.js')).href)
    const compiler = webpack({
      context: folder,
      mode: 'production',
      entry: pageOf(folder),
      output: { path: outDir, filename: PAGE_FILE, chunkFilename: '[id].js' },
    })
    await new Promise<void>((resolve, reject) => {
      compiler.run((error: Error | null, stats?: { hasErrors(): boolean; toString(): string }) => {
        if (error !== null) reject(error)
        else if (stats?.hasErrors()) reject(new Error(stats.toString()))
        else compiler.close(() => resolve())
      })
    })
  },
  async esbuild(outDir) {
    const { build } = await import(pathToFileURL(toolbox.program('esbuild/lib/main.js')).href)
    await build({
      absWorkingDir: folder,
      // esbuild bundles no workers by itself.
      entryPoints: { page: pageOf(folder), 'hash-worker': '@lade/client/hash-worker' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      outdir: outDir,
    })
  },
  async 'no bundler'(outDir) {
    await mkdir(outDir)
    await copyFile(join(folder, 'node_modules/@lade/client/dist/page/lade-client.js'), join(outDir, 'lade-client.js'))
    await copyFile(join(folder, 'suite.js'), join(outDir, 'suite.js'))
    await copyFile(join(folder, 'page-of-one-file.js'), join(outDir, PAGE_FILE))
  },
}

const pageOf = (dir: string) => join(dir, 'page-of-package.js')

describe('the installed client in Chromium', () => {
  it.each(Object.entries(BUILDS))(
    '%s: passes its suite, with its worker',
    async (name, build) => {
      const chromium = findChromium()
      if (chromium === undefined) throw new Error('Install Chromium: the client has to be tested in a browser.')
      const outDir = join(toolbox.dir, `page-${name.replace(' ', '-')}`)
      await build(outDir)
      const { results, workers } = await withFixture(true, (fixture) => runPage(chromium, outDir, fixture))
      expect(results).toEqual(HOLDING)
      expect(workers.size).toBeGreaterThan(0)
    },
    TIMEOUT_MS,
  )
})

describe('the declarations of the installed client', () => {
  const strict = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: false,
    noEmit: true,
    skipLibCheck: false,
    target: 'ES2022',
  }
  const resolutions = {
    nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  }
  const runtimes = {
    browsers: { lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'], types: [] },
    Node: { lib: ['ES2022'], types: ['node'] },
  }
  const compilers = ['typescript/bin/tsc', 'typescript-5/bin/tsc']
  const cases = Object.keys(resolutions).flatMap((resolution) =>
    Object.keys(runtimes).flatMap((runtime) => compilers.map((compiler) => [resolution, runtime, compiler] as const)),
  )

  it.each(cases)(
    'pass tsc under %s, for %s, with %s',
    async (resolution, runtime, compiler) => {
      const dir = join(folder, 'types')
      // The same file as CommonJS finds the declarations of what require loads.
      await copyFile(join(dir, 'use-client.ts'), join(dir, 'require-client.cts'))
      const compilerOptions = {
        ...strict,
        ...resolutions[resolution as keyof typeof resolutions],
        ...runtimes[runtime as keyof typeof runtimes],
        typeRoots: [toolbox.program('@types')],
      }
      const files = resolution === 'nodenext' ? ['use-client.ts', 'require-client.cts'] : ['use-client.ts']
      await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const { stdout } = await run(process.execPath, [toolbox.program(compiler), '-p', dir]).catch((error) => error)
      expect(stdout).toBe('')
    },
    60_000,
  )
})

describe('the files of the installed client', () => {
  it('depend on nothing, and name the licences of what is bundled', async () => {
    expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', '@lade'])
    expect(await readdir(join(folder, 'node_modules/@lade'))).toEqual(['client'])
    const licences = await readFile(join(folder, 'node_modules/@lade/client/LICENSE-THIRD-PARTY'), 'utf8')
    expect(licences).toMatch(/^@noble\/hashes 2/m)
  })
})
