import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { buildDirectory, carHeader, carSection } from '@lade/core/dag'
import { sha256 } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Caller } from '../acceptance/caller.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { freePort } from './free-port.ts'
import { type Lade, startLade } from './lade.ts'
import { makeSamples } from './sample-media.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const RAW = 0x55
const SHA2_256 = 0x12
const FILES = 2000
const MODULES = 40

const HOME = `<!doctype html><html lang="en"><meta charset="utf-8"><title>quiet</title>
<link rel="stylesheet" href="style/site.css">
<h1>A site</h1><p id="route">no route</p><img alt="" src="picture.png">
<a id="next" href="docs/page-1.html">A page</a>
<form action="sent.html"><button name="a" value="b">Send</button></form>
<script type="module" src="scripts/app.js"></script>`

/** With absolute addresses, as bundlers write them for a site that has a host for itself. */
const ROUTED = HOME.replaceAll(/(href|src)="(?=style|scripts|picture)/g, '$1="/')

const MODULE_IMPORTS = Array.from(
  { length: MODULES },
  (_, index) => `import { value as v${index} } from './m${index}.js'`,
)
const APP = `${MODULE_IMPORTS.join('\n')}
document.title = 'sum ' + (${Array.from({ length: MODULES }, (_, index) => `v${index}`).join(' + ')})
const show = () => { document.getElementById('route').textContent = location.pathname }
addEventListener('popstate', show)
window.navigate = (path) => { history.pushState(null, '', path); show() }
show()
`
const WORKER = `addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname === '/by-worker') event.respondWith(new Response('from the worker'))
})`

const CSS = `@font-face { font-family: own; src: url(font.ttf) }
h1 { color: rgb(0, 128, 0); font-family: own }
body { background-image: url(../picture.png) }`

/** The site as one CAR, made by the builder that folders are made with. */
function siteCar(files: ReadonlyMap<string, Uint8Array>): { readonly root: string; readonly car: Buffer } {
  const blocks = new Map<string, { cid: CID; bytes: Uint8Array }>()
  const entries = [...files].map(([path, bytes]) => {
    const cid = CID.createV1(RAW, createDigest(SHA2_256, sha256.of(bytes)))
    blocks.set(cid.toString(), { cid, bytes })
    return { path, kind: 'file' as const, cid, dagBytes: bytes.length, sizeBytes: bytes.length }
  })
  const built = buildDirectory({ entries, sha256 })
  for (const block of built.blocks) blocks.set(block.cid.toString(), block)
  const sections = [...blocks.values()].flatMap(({ cid, bytes }) => [carSection(cid, bytes.length), bytes])
  return { root: built.root.toString(), car: Buffer.concat([carHeader([built.root]), ...sections]) }
}

function siteFiles(): Map<string, Uint8Array> {
  const font = execFileSync('fc-match', ['-f', '%{file}', 'DejaVu Sans:style=Book'], { encoding: 'utf8' })
  const picture = makeSamples().find(({ name }) => name === 'picture.png')
  if (picture === undefined) throw new Error('there is no picture')
  const files = new Map<string, Uint8Array>([
    ['index.html', Buffer.from(HOME)],
    ['routed.html', Buffer.from(ROUTED)],
    ['sent.html', Buffer.from('<!doctype html><title>sent</title>')],
    ['404.html', Buffer.from('<!doctype html><title>none</title>')],
    ['worker.js', Buffer.from(WORKER)],
    ['scripts/app.js', Buffer.from(APP)],
    ['style/site.css', Buffer.from(CSS)],
    ['style/font.ttf', readFileSync(font)],
    ['picture.png', picture.bytes],
    ['favicon.ico', picture.bytes],
    ['_redirects', Buffer.from('/old/* /docs/:splat 301\n/app/* /routed.html 200\n/gone /404.html 410\n')],
  ])
  for (let index = 0; index < MODULES; index += 1)
    files.set(`scripts/m${index}.js`, Buffer.from(`export const value = ${index}`))
  for (let index = 0; files.size < FILES; index += 1)
    files.set(`docs/page-${index}.html`, Buffer.from(`<!doctype html><title>page ${index}</title>`))
  return files
}

describeScenario(
  {
    id: 'sites',
    name: 'a site of 2,000 files, opened in Chromium',
    needs: [program('chromium', 'chromium'), program('ffmpeg', 'ffmpeg'), program('fc-match', 'fontconfig')],
  },
  () => {
    let home: TempHome
    let chromium: Chromium
    let lade: Lade
    let page: Page
    let root: string
    let site: URL
    beforeAll(async () => {
      home = openTempHome('sites')
      const port = await freePort()
      // Names below localhost lead to this machine in every browser, and are secure contexts.
      lade = await startLade({
        LADE_PORT: String(port),
        LADE_DATA_DIR: home.path,
        LADE_MIN_FREE_MB: '0',
        LADE_SITES_URL: `http://*.ipfs.localhost:${port}`,
      })
      chromium = await startChromium(pathOf('chromium') ?? '')
      const { root: cid, car } = siteCar(siteFiles())
      root = cid
      site = new URL(`http://${root}.ipfs.localhost:${port}/`)
      const caller = new Caller(lade.url, lade.url, {})
      const sent = await caller.upload(car, { cid, contentType: 'application/vnd.ipld.car' })
      expect(sent.status, sent.body.toString()).toBe(200)
      page = await chromium.newPage()
    })
    afterAll(async () => {
      await chromium.close()
      await lade.stop()
      home.discard()
    })

    const evaluate = (expression: string) => page.evaluate(expression)
    const isFontLoaded = 'document.fonts.ready.then((fonts) => [...fonts].map(({ status }) => status).join())'
    async function expectStyled(): Promise<void> {
      await expect.poll(() => evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe('rgb(0, 128, 0)')
      await expect.poll(() => evaluate(isFontLoaded)).toBe('loaded')
      await expect.poll(() => evaluate('document.images[0]?.naturalWidth')).toBe(320)
    }

    test('/ipfs/{root} leads there, and it is an origin of its own with its scripts, styles and fonts', async () => {
      await page.open(`http://localhost:${site.port}/ipfs/${root}`)
      expect(await evaluate('location.href')).toBe(site.href)
      await expectStyled()
      const sum = (MODULES * (MODULES - 1)) / 2
      await expect.poll(() => evaluate('document.title')).toBe(`sum ${sum}`)
      expect(await evaluate('window.origin')).toBe(site.origin)
      expect(await evaluate("localStorage.setItem('a', 'b'), localStorage.getItem('a')")).toBe('b')
      expect(page.complaints()).toEqual([])
    })

    test('its router has the paths that _redirects gives to it, also when one is opened or loaded again', async () => {
      await page.open(new URL('/app/deep/path?x=1', site).href)
      await expectStyled()
      await expect.poll(() => evaluate("document.getElementById('route').textContent")).toBe('/app/deep/path')
      await page.run("window.navigate('/app/next')")
      await expect.poll(() => evaluate("document.getElementById('route').textContent")).toBe('/app/next')
      await page.open(String(await evaluate('location.href')))
      await expect.poll(() => evaluate("document.getElementById('route').textContent")).toBe('/app/next')
      await page.open(new URL('/old/page-7.html', site).href)
      expect(await evaluate('[location.pathname, document.title].join()')).toBe('/docs/page-7.html,page 7')
      await page.open(new URL('/gone', site).href)
      expect(await evaluate('document.title')).toBe('none')
      await page.open(new URL('/docs/', site).href)
      expect(await evaluate('document.querySelectorAll("tbody tr").length')).toBe(1001)
    })

    test('its forms are sent, and its service worker works for it alone', async () => {
      await page.open(site.href)
      await evaluate("document.querySelector('form button').click()")
      await expect.poll(() => evaluate('[document.title, location.search].join()')).toBe('sent,?a=b')
      await page.open(site.href)
      await page.run(
        "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 'works', String).then((state) => { document.title = state })",
      )
      await expect.poll(() => evaluate('document.title')).toBe('works')
      await page.open(new URL('/by-worker', site).href)
      expect(await evaluate('document.body.innerText')).toBe('from the worker')
      await page.open(`http://localhost:${site.port}/by-worker`)
      expect(await evaluate('document.body.innerText')).toContain('not_found')
    })

    test('at /p/{root}/ it can be read, with its styles and fonts, and nothing of it runs', async () => {
      await page.open(new URL(`/p/${root}/`, lade.url).href)
      await expectStyled()
      expect(await evaluate('[document.title, window.origin].join()')).toBe('quiet,null')
      expect(await evaluate("document.getElementById('route').textContent")).toBe('no route')
      await evaluate("document.querySelector('form button').click()")
      await evaluate("document.getElementById('next').click()")
      await expect.poll(() => evaluate('document.title')).toBe('page 1')
      expect(await evaluate('location.pathname')).toBe(`/p/${root}/docs/page-1.html`)
    })
  },
)
