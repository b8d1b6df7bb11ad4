import { join } from 'node:path'
import { fillWithFiles } from '@lade/server/testing/many-files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { processorSlowness } from '../tools/tests/processor-slowness.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { type ConsolePage, consolePage } from './console-page.ts'
import { type Lade, startLade } from './lade.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const FILES = 100_000
/** Beyond the answer of the service, on a machine at its usual speed. */
const SHOWN_MS = 100
const JUMPS = 20
/** As in the console. */
const PAGE_FILES = 250
const ROW_HEIGHT = 60

/** Resolves when rows are seen in the middle of the window, with the time of the frame that has them. */
const UNTIL_SHOWN = `async () => {
  const isShown = () => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tbody tr:not(.space)')
  do await new Promise(requestAnimationFrame)
  while (!isShown())
  return performance.now()
}`

/** Scrolls to the end until all files are there. The times from the answer of the service on until its rows are seen. */
const LOAD_ALL = `(async () => {
  const untilShown = ${UNTIL_SHOWN}
  const shownTimes = []
  const answered = []
  const note = (list) =>
    answered.push(...list.getEntries().filter(({ name }) => name.includes('/api/files?')).map((one) => one.responseEnd))
  new PerformanceObserver(note).observe({ type: 'resource' })
  const height = () => document.documentElement.scrollHeight
  // It is a pixel more or less, depending on what is seen.
  const pages = () => Math.round(height() / ${PAGE_FILES * ROW_HEIGHT})
  while (document.querySelector('.file-table').getAttribute('aria-rowcount') === '-1') {
    const [before, pagesBefore] = [height(), pages()]
    scrollTo(0, before)
    while (pages() === pagesBefore && document.querySelector('.file-table').getAttribute('aria-rowcount') === '-1')
      await new Promise(requestAnimationFrame)
    scrollTo(0, before)
    const shownAt = await untilShown()
    shownTimes.push(shownAt)
  }
  // An answer may be noted after what came of it.
  await new Promise((resolve) => setTimeout(resolve, 500))
  return shownTimes.map((shownAt) => shownAt - Math.max(...answered.filter((time) => time <= shownAt)))
})()`

/** Jumps to places all over the list. The times until rows are seen there. */
const JUMP = `(async () => {
  const untilShown = ${UNTIL_SHOWN}
  const times = []
  for (let jump = 0; jump < ${JUMPS}; jump += 1) {
    const part = [0.5, 1, 0, 0.25, 0.75][jump % 5]
    const startedAt = performance.now()
    scrollTo(0, document.documentElement.scrollHeight * part)
    times.push((await untilShown()) - startedAt)
  }
  return times
})()`

/** The times of tasks that kept the page from answering, since it was opened. */
const LONG_TASKS = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
  setTimeout(() => resolve([]), 1000)
})`

describeScenario(
  { id: 'console', name: `the console with ${FILES} files`, needs: [program('chromium', 'chromium')] },
  () => {
    let home: TempHome
    let service: Lade
    let chromium: Chromium
    let page: Page
    let console_: ConsolePage
    let token: string

    beforeAll(async () => {
      home = openTempHome('console-many-files')
      const dataDir = join(home.path, 'data')
      const env = { LADE_PORT: '0', LADE_MIN_FREE_MB: '0', LADE_DATA_DIR: dataDir, LADE_LOG_LEVEL: 'warn' }
      service = await startLade(env)
      const answer = await fetch(new URL('/api/auth/signup', service.url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', label: 'many' }),
      })
      const user = (await answer.json()) as { token: string; userId: string }
      token = user.token
      await service.stop()
      const file = join(dataDir, 'lade.db')
      await fillWithFiles(
        { database: { kind: 'sqlite', file } },
        { principal: `user:${user.userId}`, count: FILES, now: Date.now() },
      )
      service = await startLade(env)
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      console_ = consolePage(page)
      await page.look({ width: 1440, height: 900, scheme: 'light' })
      await page.open(service.url.href)
      const signIn = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }
      expect(await page.evaluate(`fetch('/api/session', ${JSON.stringify(signIn)}).then(({ status }) => status)`)).toBe(
        200,
      )
      await page.open('about:blank')
      await page.open(new URL('/#/files', service.url).href)
      await console_.sees('the first files', 'document.querySelectorAll(".file-name").length > 10')
    })
    afterAll(async () => {
      await chromium.close()
      await service.stop()
      home.discard()
    })

    test('shows each page as soon as it is there, to the end of the list, and any place of it at once', {
      timeout: 180_000,
    }, async () => {
      const loads = (await page.evaluate(LOAD_ALL)) as number[]
      expect(loads.length).toBeGreaterThan((FILES / PAGE_FILES) * 0.9)
      expect(await page.evaluate(`document.querySelector('.file-table').getAttribute('aria-rowcount')`)).toBe(
        String(FILES + 1),
      )
      // The first page of a long list is no harder than the last ones.
      expect(report('a page at the end of the list', loads.slice(-50))).toBeLessThanOrEqual(
        SHOWN_MS * processorSlowness(),
      )
      const jumps = (await page.evaluate(JUMP)) as number[]
      expect(report('a jump', jumps)).toBeLessThanOrEqual(SHOWN_MS * processorSlowness())
      expect(await page.evaluate('document.querySelectorAll("tbody tr").length')).toBeLessThan(100)
      const longTasks = (await page.evaluate(LONG_TASKS)) as number[]
      console.log(
        `${longTasks.length} tasks of 50 ms and more; the longest took ${Math.round(Math.max(0, ...longTasks))} ms`,
      )
    })
  },
)

/** The median, which is printed with others. */
function report(what: string, times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other)
  const [median = 0, p95 = 0, longest = 0] = [0.5, 0.95, 1].map((part) => sorted[Math.ceil(sorted.length * part) - 1])
  console.log(`${what}: ${[median, p95, longest].map(Math.round).join(' / ')} ms (median, p95, longest)`)
  return median
}
