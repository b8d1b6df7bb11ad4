import type { Page } from './chromium.ts'
import { until } from './until.ts'

export const WAIT_MS = 120_000

/** How somebody uses a page: with a pointer, or with the keys alone. A control is looked for in the dialog that is open, if one is. */
export interface Hands {
  /** Presses a button, or follows a link. @param text - that it must contain. */
  use(selector: string, text?: string): Promise<void>
  /** Types into a field in place of what is there. */
  write(selector: string, text: string): Promise<void>
  /** Chooses an option of a list. @param option - its text. */
  pick(selector: string, option: string): Promise<void>
  /** Chooses files in the dialog of the browser that a button opens. */
  choose(selector: string, text: string, files: readonly string[]): Promise<void>
  /** Drops files on the page. Who has no pointer chooses them. */
  drop(files: readonly string[]): Promise<void>
  /** Closes the dialog that is open. */
  close(): Promise<void>
  /** Checks that the dialog that is open has the focus for itself, all the way round. */
  goRound(): Promise<void>
  /** Checks what must hold between two steps. @param selector - of what must have the focus of somebody without a pointer. */
  rest(step: string, selector?: string): Promise<void>
}

/** The element, as an expression; undefined while it is not there or not seen. */
export function findControl(selector: string, text = ''): string {
  return `(() => {
    const scope = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
    return [...scope.querySelectorAll(${JSON.stringify(selector)})]
      .find((one) => one.textContent.includes(${JSON.stringify(text)}) && one.checkVisibility())
  })()`
}

/** Waits for an element. */
export function untilSeen(page: Page, selector: string, text = ''): Promise<void> {
  const isThere = `Boolean(${findControl(selector, text)})`
  return until(`${selector} ${text} is seen`, WAIT_MS, async () => (await page.evaluate(isThere)) === true)
}

/** How many options below the chosen one an option is. */
export async function stepsTo(page: Page, selector: string, option: string): Promise<number> {
  const steps = await page.evaluate(`(() => {
    const list = ${findControl(selector)}
    return [...list.options].findIndex(({ text }) => text === ${JSON.stringify(option)}) - list.selectedIndex
  })()`)
  return Number(steps)
}

/** Gives files to the dialog that `open` opens, as the browser does when somebody has chosen them there. */
export async function answerChooser(page: Page, files: readonly string[], open: () => Promise<void>): Promise<void> {
  let chosen: Promise<unknown> | undefined
  page.onEvent((method, { backendNodeId }) => {
    if (method !== 'Page.fileChooserOpened' || chosen !== undefined) return
    chosen = page.command('DOM.setFileInputFiles', { backendNodeId, files })
  })
  await page.command('Page.setInterceptFileChooserDialog', { enabled: true })
  await open()
  await until('the dialog for files opens', WAIT_MS, () => chosen !== undefined)
  await chosen
  await page.command('Page.setInterceptFileChooserDialog', { enabled: false })
}
