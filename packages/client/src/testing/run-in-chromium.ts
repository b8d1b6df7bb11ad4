import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, WORKER, WORKER_FILE } from '../../../../tools/build-client.ts'
import type { GivenFixture, SuiteResult } from './run-suite.ts'

const PAGE = fileURLToPath(new URL('./suite-page.ts', import.meta.url))
export const PAGE_FILE = 'page.js'
const TIMEOUT_MS = 120_000
/** As strict as a page can be that lets WebAssembly be compiled, which pieces take. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src *"

/** Debian's Chromium, or another one by its usual names; undefined where there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':')
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}

/** What came of a page. */
export interface PageRun {
  readonly results: readonly SuiteResult[]
  /** The files that workers loaded. */
  readonly workers: ReadonlySet<string>
}

/** Bundles the suite and runs it in a headless Chromium. */
export async function runInChromium(chromium: string, fixture: GivenFixture): Promise<readonly SuiteResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lade-page-'))
  try {
    await bundle(folder, PAGE, PAGE_FILE)
    await bundle(folder, WORKER, WORKER_FILE)
    return (await runPage(chromium, folder, fixture)).results
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs a suite that was bundled as {@link PAGE_FILE} in a headless Chromium, on a page of its own server. */
export async function runPage(chromium: string, folder: string, fixture: GivenFixture): Promise<PageRun> {
  const profile = await mkdtemp(join(tmpdir(), 'lade-chromium-'))
  const workers = new Set<string>()
  let server: Server | undefined
  let browser: ChildProcess | undefined
  try {
    const results = Promise.withResolvers<readonly SuiteResult[]>()
    server = servePage(folder, fixture, workers, results.resolve)
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    browser = startChromium(chromium, profile, `http://127.0.0.1:${port}/`, results.reject)
    return { results: await results.promise, workers }
  } finally {
    server?.closeAllConnections()
    server?.close()
    if (browser !== undefined) await end(browser)
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

function servePage(
  folder: string,
  fixture: unknown,
  workers: Set<string>,
  onResults: (results: readonly SuiteResult[]) => void,
): Server {
  return createServer(async (request, response) => {
    const path = request.url ?? '/'
    response.setHeader('content-security-policy', POLICY)
    if (path === '/results') {
      let text = ''
      for await (const chunk of request) text += chunk
      response.end()
      onResults(JSON.parse(text))
    } else if (path === '/') {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>suite</title><script type="module" src="/${PAGE_FILE}"></script>`)
    } else if (path === '/fixture.json') {
      response.end(JSON.stringify(fixture))
    } else {
      const code = /^\/[\w.-]+\.js$/.test(path) ? await readFile(join(folder, path)).catch(() => undefined) : undefined
      if (code !== undefined && request.headers['sec-fetch-dest'] === 'worker') workers.add(path)
      response.writeHead(code === undefined ? 404 : 200, { 'content-type': 'text/javascript' })
      response.end(code)
    }
  })
}

function startChromium(path: string, profile: string, url: string, onFailure: (error: Error) => void): ChildProcess {
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const browser = spawn(path, [...flags, '--enable-logging=stderr', `--user-data-dir=${profile}`, url], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  browser.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000)
  })
  const fail = (what: string) => onFailure(new Error(`${what}\n${said}`))
  const timer = setTimeout(() => fail(`The page posted nothing for ${TIMEOUT_MS / 1000} seconds.`), TIMEOUT_MS)
  browser.once('error', onFailure)
  browser.once('exit', (code) => {
    clearTimeout(timer)
    fail(`Chromium ended with ${code}.`)
  })
  return browser
}

async function end(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return
  const ended = new Promise((resolve) => browser.once('exit', resolve))
  browser.kill('SIGTERM')
  const timer = setTimeout(() => browser.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(timer)
}
