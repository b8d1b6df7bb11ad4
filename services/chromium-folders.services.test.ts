import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Caller } from '../acceptance/caller.ts'
import { stageFolder } from '../acceptance/gateway/folders.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { type Lade, startLade } from './lade.ts'
import { makeSamples } from './sample-media.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

/** Where somebody wants to look at what was seen. */
const screenshots = process.env.LADE_TEST_SCREENSHOTS

const HOME = `<!doctype html><html lang="en"><title>quiet</title>
<link rel="stylesheet" href="style/site.css">
<h1>A site</h1><img alt="" src="picture.png"><a id="next" href="docs/">Documents</a>
<form action="style/site.css"><button>Send</button></form>
<script>document.title = 'a script ran'</script>
<script src="run.js"></script>
<iframe src="docs/" title="Documents"></iframe>`

describeScenario(
  {
    id: 'chromium-folders',
    name: 'an uploaded folder, opened in Chromium',
    needs: [program('chromium', 'chromium'), program('ffmpeg', 'ffmpeg')],
  },
  () => {
    let home: TempHome
    let chromium: Chromium
    let lade: Lade
    let page: Page
    let root: string
    beforeAll(async () => {
      home = openTempHome('folders')
      lade = await startLade({ LADE_PORT: '0', LADE_DATA_DIR: home.path, LADE_MIN_FREE_MB: '0' })
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      const picture = makeSamples().find(({ name }) => name === 'picture.png')
      if (picture === undefined) throw new Error('there is no picture')
      root = await stageFolder(new Caller(lade.url, lade.url, {}), {
        'index.html': HOME,
        'run.js': "document.title = 'a script ran'",
        'style/site.css': 'h1 { color: rgb(0, 128, 0) }',
        'picture.png': picture.bytes,
        'docs/ź & <b>.txt': 'text',
        'docs/notes.txt': 'notes',
      })
    })
    afterAll(async () => {
      await chromium.close()
      await lade.stop()
      home.discard()
    })

    async function keepScreenshot(name: string): Promise<void> {
      const png = await page.screenshot()
      if (screenshots === undefined) return
      mkdirSync(screenshots, { recursive: true })
      writeFileSync(join(screenshots, `${name}.png`), png)
    }

    test.each(['ipfs', 'p'])('at /%s/ its page has the styles and images beside it, and runs nothing', async (door) => {
      expect(await page.open(new URL(`/${door}/${root}/`, lade.url).href)).toEqual({ isDownload: false })
      await expect
        .poll(() => page.evaluate("getComputedStyle(document.querySelector('h1')).color"))
        .toBe('rgb(0, 128, 0)')
      await expect.poll(() => page.evaluate('document.images[0]?.naturalWidth')).toBe(320)
      expect(await page.evaluate('document.title')).toBe('quiet')
      expect(await page.evaluate('window.origin')).toBe('null')
      await keepScreenshot(`folder-page-${door}`)
      await page.evaluate("document.querySelector('form button').click()")
      expect(await page.evaluate('document.title')).toBe('quiet')
    })

    test('its list can be read by everybody', async () => {
      const list = await (await fetch(new URL(`/ipfs/${root}/docs/`, lade.url))).text()
      // In a document without a sandbox, where scripts run.
      await page.open(`data:text/html;charset=utf-8,${encodeURIComponent(list)}`)
      const violations = `(async () => {
        ${axe.source}
        const seen = await axe.run(document)
        return seen.violations.map(({ id }) => id)
      })()`
      expect(await page.evaluate(violations)).toEqual([])
    })

    test('its list leads to its files', async () => {
      await page.open(new URL(`/ipfs/${root}/docs`, lade.url).href)
      expect(await page.evaluate('location.pathname')).toBe(`/ipfs/${root}/docs/`)
      expect(await page.evaluate("getComputedStyle(document.querySelector('table')).borderCollapse")).toBe('collapse')
      expect(
        await page.evaluate("[...document.querySelectorAll('td:first-child a')].map((a) => a.textContent)"),
      ).toEqual(['..', 'notes.txt', 'ź & <b>.txt'])
      await keepScreenshot('folder-list')
      await page.evaluate("document.querySelectorAll('td:first-child a')[2].click()")
      await expect.poll(() => page.evaluate('document.body.innerText')).toBe('text')
    })
  },
)
