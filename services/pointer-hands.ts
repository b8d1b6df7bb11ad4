import type { Page } from './chromium.ts'
import { answerChooser, findControl, type Hands, stepsTo, untilSeen, WAIT_MS } from './hands.ts'
import { until } from './until.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** Clicks, drops and types, by events of the browser: what lies below something else cannot be clicked. */
export function pointerHands(page: Page): Hands {
  /** Where a control can be clicked, once it stays at its place and nothing covers it. */
  async function pointOf(selector: string, text: string): Promise<Point> {
    await untilSeen(page, selector, text)
    let point: Point | null = null
    await until(`${selector} ${text} can be clicked`, WAIT_MS, async () => {
      point = (await page.evaluate(`(async () => {
        const found = ${findControl(selector, text)}
        if (!found) return null
        found.scrollIntoView({ block: 'center' })
        const placeOf = () => {
          const { x, y, width, height } = found.getBoundingClientRect()
          return { x: x + width / 2, y: y + height / 2 }
        }
        const before = placeOf()
        await new Promise((resolve) => setTimeout(resolve, 50))
        const now = placeOf()
        if (before.x !== now.x || before.y !== now.y) return null
        return found.contains(document.elementFromPoint(now.x, now.y)) ? now : null
      })()`)) as Point | null
      return point !== null
    })
    return point as unknown as Point
  }

  async function click(selector: string, text = '', clickCount = 1): Promise<void> {
    const point = await pointOf(selector, text)
    await page.command('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point })
    for (const type of ['mousePressed', 'mouseReleased'])
      await page.command('Input.dispatchMouseEvent', { type, ...point, button: 'left', clickCount })
  }

  return {
    use: click,
    async write(selector, text) {
      // All of it is selected.
      await click(selector, '', 3)
      await page.type(text)
    },
    async pick(selector, option) {
      const steps = await stepsTo(page, selector, option)
      await click(selector)
      for (let step = 0; step < Math.abs(steps); step += 1) await page.press(steps < 0 ? 'ArrowUp' : 'ArrowDown')
      await page.press('Enter')
      await until(`${option} is chosen`, WAIT_MS, async () => (await stepsTo(page, selector, option)) === 0)
    },
    choose: (selector, text, files) => answerChooser(page, files, () => click(selector, text)),
    async drop(files) {
      const point = await pointOf('.drop', '')
      const data = { items: [], files, dragOperationsMask: 1 }
      for (const type of ['dragEnter', 'dragOver', 'drop'])
        await page.command('Input.dispatchDragEvent', { type, ...point, data })
    },
    close: () => click('.dialog-head button'),
    goRound: async () => {},
    rest: async () => {},
  }
}
