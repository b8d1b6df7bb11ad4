import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Page, View } from './chromium.ts'
import type { ConsolePage } from './console-page.ts'

/** Where somebody wants to look at what was seen. */
const screenshots = process.env.LADE_TEST_SCREENSHOTS
const SCHEMES = ['light', 'dark'] as const
const WIDTHS = [390, 820, 1440]
const DESK: View = { width: 1440, height: 900, scheme: 'light' }

/** Keeps what a page looks like, where somebody wants to see it. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return
  mkdirSync(screenshots, { recursive: true })
  writeFileSync(join(screenshots, `${name}.png`), await page.screenshot())
}

export interface Looks {
  /** What is to be seen in the middle of the window. */
  readonly subject?: string
  /** How the page is seen afterwards. @default a wide window, light */
  readonly after?: View
}

/** Looks at a page in both schemes and at every width: axe finds nothing, and nothing is wider than the window. */
export async function checkLooks(page: Page, console_: ConsolePage, name: string, looks: Looks = {}): Promise<void> {
  const { subject, after = DESK } = looks
  for (const scheme of SCHEMES) {
    for (const width of WIDTHS) {
      await page.look({ width, height: 900, scheme })
      if (subject !== undefined && screenshots !== undefined) await page.evaluate(scrollTo(subject))
      await keepScreenshot(page, `${name}-${width}-${scheme}`)
      // A chart takes its new width a frame later.
      const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth')
      await expect.poll(overflow, { message: `${name} at ${width}`, timeout: 2000 }).toBeLessThanOrEqual(0)
    }
    expect([name, scheme, await console_.violations()]).toEqual([name, scheme, []])
  }
  await page.look(after)
}

/** A frame later, so that it is drawn at its place. */
function scrollTo(selector: string): string {
  return `new Promise((resolve) => {
    document.querySelector(${JSON.stringify(selector)})?.scrollIntoView({ block: 'center' })
    setTimeout(resolve, 100)
  })`
}
