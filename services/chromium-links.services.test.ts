import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { freePort } from './free-port.ts'
import { type Lade, startLade } from './lade.ts'
import { makeSamples, type Sample } from './sample-media.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

/** Where somebody wants to look at what was seen. */
const screenshots = process.env.LADE_TEST_SCREENSHOTS

const IMAGE = "document.images[0]?.naturalWidth ?? 'no image'"
/** How long it is, in seconds, once it plays. A browser shows audio by a video element. */
const MEDIA = `new Promise((resolve) => {
  const media = document.querySelector('video, audio')
  if (media === null) return resolve('no player')
  setTimeout(() => resolve('dead player: ' + media.error?.message), 10_000)
  media.addEventListener('timeupdate', () => {
    if (media.currentTime > 0) resolve(Math.round(media.duration))
  })
  media.muted = true
  media.play().catch((error) => resolve(String(error)))
})`
const TEXT = 'document.body.innerText'

/** What is seen of each file that a browser opens on every origin. */
const SHOWN: readonly (readonly [name: string, expression: string, seen: unknown])[] = [
  ['picture.png', IMAGE, 320],
  ['picture.jpg', IMAGE, 320],
  ['film.mp4', MEDIA, 2],
  ['film.webm', MEDIA, 2],
  ['tone.mp3', MEDIA, 2],
  ['tone.ogg', MEDIA, 2],
  ['greeting.txt', TEXT, expect.stringContaining('Viele Grüße aus Köln – 日本')],
  ['notes.md', TEXT, expect.stringContaining('Viele Grüße aus Köln – 日本')],
  ['data.json', TEXT, expect.stringContaining('Viele Grüße aus Köln – 日本')],
]
/** And of each that it opens only on an origin that has nothing else. */
const PAGES: typeof SHOWN = [
  ['drawing.svg', 'getComputedStyle(document.documentElement.firstElementChild).fill', 'rgb(0, 128, 0)'],
  ['page.html', "document.getElementById('said').textContent", 'The script ran.'],
  ['letter.pdf', 'document.contentType', 'application/pdf'],
]

describeScenario(
  {
    id: 'chromium-links',
    name: 'a link to a file, opened in Chromium',
    needs: [program('chromium', 'chromium'), program('ffmpeg', 'ffmpeg')],
  },
  () => {
    let home: TempHome
    let chromium: Chromium
    let samples: readonly Sample[]
    let page: Page
    const services = new Map<'shared' | 'own', Lade>()
    beforeAll(async () => {
      home = openTempHome('links')
      samples = makeSamples()
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      for (const origin of ['shared', 'own'] as const) {
        const port = await freePort()
        services.set(
          origin,
          await startLade({
            LADE_PORT: String(port),
            LADE_DATA_DIR: join(home.path, origin),
            LADE_MIN_FREE_MB: '0',
            // Another name of this machine, and so another origin.
            ...(origin === 'own' ? { LADE_CONTENT_URL: `http://localhost:${port}` } : {}),
          }),
        )
      }
    })
    afterAll(async () => {
      await chromium.close()
      for (const service of services.values()) await service.stop()
      home.discard()
    })

    /** Uploads a sample and answers its link. */
    async function linkTo(origin: 'shared' | 'own', name: string): Promise<string> {
      const sample = samples.find((one) => one.name === name)
      if (sample === undefined) throw new Error(`there is no ${name}`)
      const cid = createHash('sha256').update(sample.bytes).digest('hex')
      const response = await fetch(new URL(`/api/upload?cid=${cid}`, services.get(origin)?.url), {
        method: 'PUT',
        body: Uint8Array.from(sample.bytes),
        headers: { 'content-type': sample.contentType, 'x-filename': encodeURIComponent(name) },
      })
      expect(response.status).toBe(200)
      return ((await response.json()) as { retrievalUrl: string }).retrievalUrl
    }

    async function keepScreenshot(name: string): Promise<void> {
      const png = await page.screenshot()
      if (screenshots === undefined) return
      mkdirSync(screenshots, { recursive: true })
      writeFileSync(join(screenshots, `${name}.png`), png)
    }

    for (const origin of ['shared', 'own'] as const) {
      const where = origin === 'own' ? 'an origin of its own' : 'the origin of the API'
      test.each(SHOWN)(`shows or plays %s on ${where}`, async (name, expression, seen) => {
        expect(await page.open(await linkTo(origin, name))).toEqual({ isDownload: false })
        expect(await page.evaluate(expression)).toEqual(seen)
        await keepScreenshot(`${origin}-${name}`)
        expect(page.complaints()).toEqual([])
      })
    }

    test.each(PAGES)('opens %s on an origin of its own', async (name, expression, seen) => {
      expect(await page.open(await linkTo('own', name))).toEqual({ isDownload: false })
      await expect.poll(() => page.evaluate(expression)).toEqual(seen)
      await keepScreenshot(`own-${name}`)
      expect(page.complaints()).toEqual([])
    })

    test('opens a PDF in the viewer of the browser', async () => {
      const link = await linkTo('own', 'letter.pdf')
      await page.open(link)
      await expect
        .poll(() => chromium.frames())
        .toEqual(expect.arrayContaining([expect.stringMatching(/^chrome-extension:.*\/index\.html$/), link]))
      // The viewer takes a moment to draw.
      await sleep(1000)
      await keepScreenshot('own-letter-in-viewer')
    })

    test.each(PAGES)('downloads %s on the origin of the API', async (name) => {
      expect(await page.open(await linkTo('shared', name))).toEqual({ isDownload: true })
    })

    test('a page has its own styles and images, and no storage that other pages share', async () => {
      await page.open(await linkTo('own', 'page.html'))
      expect(await page.evaluate("document.getElementById('own').naturalWidth")).toBe(200)
      expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe('rgb(0, 128, 0)')
      expect(await page.evaluate('document.title')).toBe('has no storage')
    })
  },
)
