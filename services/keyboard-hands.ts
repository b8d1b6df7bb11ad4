import { expect } from 'vitest'
import type { Page } from './chromium.ts'
import { answerChooser, findControl, type Hands, stepsTo, untilSeen, WAIT_MS } from './hands.ts'
import { until } from './until.ts'

/** More than there are controls on any page of the walk. */
const MAX_TABS = 500
const CONTROL = 2

interface Focus {
  /** What has the focus; empty when nothing has it. */
  readonly what: string
  readonly isTarget: boolean
  /** What somebody who looks for the focus sees amiss; empty for nothing. */
  readonly fault: string
  /** True when what is looked for comes before it. */
  readonly isPast: boolean
}

/** Tab, Shift+Tab, Enter, Space, arrows, Escape and letters. Each control on the way must show that it has the focus. */
export function keyboardHands(page: Page): Hands {
  /** Nothing has the focus on a page that was just loaded. */
  let hasBegun = false
  page.onEvent((method) => {
    if (method === 'Page.loadEventFired') hasBegun = false
  })

  const focusOn = async (target = 'undefined') => (await page.evaluate(focusExpression(target))) as Focus

  async function tabTo(selector: string, text = ''): Promise<void> {
    await untilSeen(page, selector, text)
    const target = findControl(selector, text)
    let leftPage = 0
    let focus = await focusOn(target)
    const shift = focus.isPast
    for (let presses = 0; !focus.isTarget; presses += 1) {
      if (presses === MAX_TABS) throw new Error(`${selector} ${text} is not reached by Tab`)
      await page.press('Tab', { shift })
      hasBegun = true
      focus = await focusOn(target)
      expect(`${focus.what}: ${focus.fault}`, `on the way to ${selector} ${text}`).toBe(`${focus.what}: `)
      // Between the last control and the first there are those of the browser.
      if (focus.what === '') leftPage += 1
      expect(leftPage, `${selector} ${text} is on the way round`).toBeLessThan(3)
    }
  }

  async function type(text: string): Promise<void> {
    for (const letter of text) {
      await page.command('Input.dispatchKeyEvent', { type: 'keyDown', key: letter, text: letter })
      await page.command('Input.dispatchKeyEvent', { type: 'keyUp', key: letter })
    }
  }

  async function selectAll(): Promise<void> {
    const event = { key: 'a', code: 'KeyA', windowsVirtualKeyCode: 65, modifiers: CONTROL, commands: ['selectAll'] }
    await page.command('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...event })
    await page.command('Input.dispatchKeyEvent', { type: 'keyUp', ...event, commands: [] })
  }

  async function use(selector: string, text?: string): Promise<void> {
    await tabTo(selector, text)
    const isButton = await page.evaluate('document.activeElement.matches("button")')
    await page.press(isButton === true ? 'Space' : 'Enter')
  }

  const choose: Hands['choose'] = (selector, text, files) => answerChooser(page, files, () => use(selector, text))

  return {
    use,
    choose,
    async write(selector, text) {
      await tabTo(selector)
      await selectAll()
      await type(text)
      expect(await page.evaluate('document.activeElement.value')).toBe(text)
    },
    async pick(selector, option) {
      await tabTo(selector)
      const steps = await stepsTo(page, selector, option)
      for (let step = 0; step < Math.abs(steps); step += 1) await page.press(steps < 0 ? 'ArrowUp' : 'ArrowDown')
      expect(await stepsTo(page, selector, option)).toBe(0)
    },
    drop: (files) => choose('.drop button', '', files),
    close: () => page.press('Escape'),
    async goRound() {
      const seen = new Set<string>()
      for (;;) {
        await page.press('Tab')
        const { what, fault } = await focusOn()
        expect(`${what}: ${fault}`).toBe(`${what}: `)
        if (seen.has(what)) break
        seen.add(what)
      }
      expect(seen.size).toBeGreaterThan(2)
    },
    async rest(step, selector = '*') {
      if (!hasBegun) return
      let fault = ''
      const isFound = async () => {
        const { what, fault: seen } = await focusOn()
        const isAt = await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`)
        fault = what === '' ? 'nothing has the focus' : isAt === true ? seen : `${what} has the focus`
        return fault === ''
      }
      await until('the focus is seen', WAIT_MS / 12, isFound).catch(() => expect(`${step}: ${fault}`).toBe(`${step}: `))
    },
  }
}

/** What has the focus, and whether it is seen that it has. */
function focusExpression(target: string): string {
  return `(() => {
    const target = ${target}
    const at = document.activeElement
    const place = target ? at.compareDocumentPosition(target) : 0
    const isPast = (place & Node.DOCUMENT_POSITION_PRECEDING) !== 0 && at !== document.body
    if (at === document.body || at === null) return { what: '', isTarget: false, fault: '', isPast: false }
    const what = at.outerHTML.slice(0, 160)
    const faultOf = () => {
      const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
      if (dialog && !dialog.contains(at)) return 'outside of the dialog that is open'
      // A page that somebody has gone to is read from its beginning.
      if (at.matches('main')) return ''
      const { outlineStyle, outlineWidth } = getComputedStyle(at)
      if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return 'the focus is not seen'
      const { left, top, right, bottom, width, height } = at.getBoundingClientRect()
      if (width < 8 || height < 8) return 'too small to be seen'
      const [x, y] = [(Math.max(0, left) + Math.min(innerWidth, right)) / 2, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2]
      if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return 'outside of the window'
      const above = document.elementFromPoint(x, y)
      return at.contains(above) || above?.contains(at) ? '' : 'below ' + above?.outerHTML.slice(0, 100)
    }
    return { what, isTarget: at === target, fault: faultOf(), isPast }
  })()`
}
