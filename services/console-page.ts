import axe from 'axe-core'
import type { Page } from './chromium.ts'
import { until } from './until.ts'

const WAIT_MS = 60_000

/** The console, as somebody uses it who sees what it says. */
export interface ConsolePage {
  /** Waits until an expression is true on the page. */
  sees(what: string, expression: string, withinMs?: number): Promise<void>
  /** Clicks on the first element of a selector, once it is there. @param text - that it must contain. */
  click(selector: string, text?: string): Promise<void>
  /** Types into a field in place of what is there. */
  fill(selector: string, text: string): Promise<void>
  /** Chooses an option of a list. @param value - of the option. */
  choose(selector: string, value: string): Promise<void>
  goTo(hash: string): Promise<void>
  /** What axe finds against the page as it is, a line each. */
  violations(): Promise<readonly string[]>
}

export function consolePage(page: Page): ConsolePage {
  const isTrue = async (expression: string) => (await page.evaluate(`Boolean(${expression})`)) === true
  const sees: ConsolePage['sees'] = (what, expression, withinMs = WAIT_MS) =>
    until(what, withinMs, () => isTrue(expression))
  const find = (selector: string, text: string) =>
    `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(text)}))`
  return {
    sees,
    async click(selector, text = '') {
      await sees(`${selector} ${text}`, find(selector, text))
      await page.evaluate(`${find(selector, text)}.click()`)
    },
    async fill(selector, text) {
      await sees(selector, find(selector, ''))
      await page.evaluate(`(() => { const field = ${find(selector, '')}; field.focus(); field.select?.() })()`)
      await page.type(text)
    },
    async choose(selector, value) {
      await sees(selector, find(selector, ''))
      await page.evaluate(
        `(() => { const list = ${find(selector, '')}; list.value = ${JSON.stringify(value)}; list.dispatchEvent(new Event('change', { bubbles: true })) })()`,
      )
    },
    async goTo(hash) {
      await page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`)
    },
    async violations() {
      const found = await page.evaluate(`(async () => {
        ${axe.source}
        // What is in a frame is a file of somebody, in a document of its own.
        const { violations } = await axe.run(document, { iframes: false })
        return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)))
      })()`)
      return found as string[]
    },
  }
}
