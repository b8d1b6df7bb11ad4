import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MailServer, openMailServer } from '@lade/server/testing/mail-server'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium, type View } from './chromium.ts'
import { keepScreenshot, checkLooks as looksOf } from './console-looks.ts'
import { type ConsolePage, consolePage } from './console-page.ts'
import { type Lade, startLade } from './lade.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const MIB = 1_048_576
const ADA = 'ada@example.org'
const CHOOSE = '#choose-files'
/** The network of the slow machine: 1.6 Mbit/s. */
const SLOW_NETWORK = { downBytesPerSecond: 200_000, upBytesPerSecond: 200_000, latencyMs: 40 }
/** How long LOOP takes on the slow machine: four times as long as on two cores of a usual server. */
const SLOW_LOOP_MS = 72
const LOOP = `(() => {
  const start = performance.now()
  let sum = 0
  for (let at = 0; at < 30_000_000; at += 1) sum += at & 7
  return sum > 0 && performance.now() - start
})()`
const FIRST_CONTENT_MS = 1000
const FIRST_VISITS = 3

const rowsIn = (state: string) => `document.querySelectorAll('.row[data-state=${state}]').length`
const focused = (selector: string) => `document.activeElement?.matches(${JSON.stringify(selector)})`

describeScenario({ id: 'console', name: 'the console in Chromium', needs: [program('chromium', 'chromium')] }, () => {
  let home: TempHome
  let inbox: MailServer
  let service: Lade
  let chromium: Chromium
  let page: Page
  let console_: ConsolePage

  beforeAll(async () => {
    home = openTempHome('console')
    inbox = await openMailServer()
    const limits = { LADE_MIN_FREE_MB: '0', LADE_DATA_DIR: join(home.path, 'data'), LADE_LOG_LEVEL: 'warn' }
    service = await startLade({ LADE_PORT: '0', ...limits, ...inbox.settings })
  })
  afterAll(async () => {
    await service.stop()
    await inbox.close()
    home.discard()
  })
  beforeEach(async () => {
    chromium = await startChromium(pathOf('chromium') ?? '')
    page = await chromium.newPage()
    console_ = consolePage(page)
    await show({ width: 1440, height: 900, scheme: 'light' })
  })
  afterEach(() => chromium.close())

  const show = (view: View) => page.look(view)
  const open = (hash = '') => page.open(new URL(hash, service.url).href)

  function fileOf(name: string, bytes: Uint8Array): string {
    const path = join(home.path, name)
    writeFileSync(path, bytes)
    return path
  }

  const checkLooks = (name: string) => looksOf(page, console_, name)

  async function signIn(email = ADA): Promise<void> {
    await open()
    await console_.goTo('#/sign-in')
    await console_.fill('input[type=email]', email)
    const before = inbox.countFor(email)
    await console_.click('button[type=submit]')
    await console_.sees('the field of the code', 'document.querySelector("input.code")')
    await expect.poll(() => inbox.countFor(email)).toBe(before + 1)
    await console_.fill('input.code', inbox.codeFor(email))
    await console_.click('button[type=submit]')
    await console_.sees('the files', 'location.hash === "#/files" && document.querySelector(".filters")')
  }

  test('uploads files without an account, and shows the link and the ids of each', async () => {
    await open()
    await console_.sees('the limits', 'document.querySelector(".facts dd")?.textContent === "100 MB"')
    await checkLooks('upload')
    const bytes = randomBytes(90 * MIB)
    await page.chooseFiles(CHOOSE, [fileOf('film.mp4', bytes)])
    await console_.sees('the result', 'document.querySelector(".result a")')
    const link = String(await page.evaluate('document.querySelector(".result a").href'))
    const digest = createHash('sha256').update(bytes).digest('hex')
    const body = new Uint8Array(await (await fetch(link)).arrayBuffer())
    expect(createHash('sha256').update(body).digest('hex')).toBe(digest)
    const ids = await page.evaluate('[...document.querySelectorAll(".result code")].map((one) => one.textContent)')
    expect(ids).toContain(digest)
    await console_.sees('the QR code', 'document.querySelector(".qr-dots")?.getAttribute("d").length > 100')
    await checkLooks('uploaded')

    const names = Array.from({ length: 200 }, (_, at) => `note-${at}.txt`)
    await page.chooseFiles(
      CHOOSE,
      names.map((name) => fileOf(name, randomBytes(600))),
    )
    await console_.sees('that all have arrived', `document.body.innerText.includes('201 of 201 files uploaded')`)
    expect(page.complaints()).toEqual([])

    await open()
    await console_.sees('the links of before', 'document.querySelectorAll(".row .row-name").length >= 5')

    await signIn('grace@example.org')
    await console_.sees('the offer', 'document.querySelector("#claims-title")?.textContent.startsWith("201 files")')
    await checkLooks('claims')
    await console_.click('button', 'Add to my account')
    await console_.sees('that all are claimed', '!document.querySelector("#claims-title")')
    await console_.fill('input[type=search]', 'film.mp4')
    await console_.sees('the film', 'document.querySelectorAll(".file-name").length === 1')
  })

  test('says before anything is sent what is too large, and takes an empty file', async () => {
    await open()
    await console_.sees('the limits', 'document.querySelector(".facts dd")?.textContent === "100 MB"')
    await page.chooseFiles(CHOOSE, [fileOf('large.bin', Buffer.alloc(101 * MIB)), fileOf('empty.txt', Buffer.alloc(0))])
    await console_.sees('the refusal', `${rowsIn('refused')} === 1 && ${rowsIn('done')} === 1`)
    const said = String(await page.evaluate('document.querySelector(".rows").innerText'))
    expect(said).toContain('Larger than 100 MB, the limit for one file. Sign in to upload files of up to 5 GiB.')
    expect(said).toContain('empty.txt')
  })

  test('sends the rest of a large file after a reload, once it is chosen again', async () => {
    await signIn()
    const path = fileOf('reel.mov', randomBytes(300 * MIB))
    await page.slowDown({ upBytesPerSecond: 40 * MIB })
    await console_.goTo('#/')
    await page.chooseFiles(CHOOSE, [path])
    const sentParts = async () => {
      const parts = new URL('/api/files?contentType=application%2Fvnd.lade.part', service.url)
      return page.evaluate(
        `fetch(${JSON.stringify(parts.pathname + parts.search)}).then((one) => one.json()).then(({ count }) => count)`,
      )
    }
    await expect.poll(sentParts, { timeout: 120_000, interval: 200 }).not.toBe(0)
    await page.evaluate('void window.stop()')
    await open()
    await console_.sees('what was not finished', 'document.body.innerText.includes("Not finished last time")')
    await keepScreenshot(page, 'unfinished')
    await page.slowDown({})
    await page.chooseFiles(CHOOSE, [path])
    await console_.sees('the parts of before', '/parts? (was|were) already stored/.test(document.body.innerText)')
    await console_.sees('the end', `${rowsIn('done')} === 1`, 120_000)
  })

  test('pauses before the next file and goes on', async () => {
    await signIn('alan@example.org')
    await console_.goTo('#/')
    await page.slowDown({ upBytesPerSecond: 2 * MIB })
    await page.chooseFiles(
      CHOOSE,
      Array.from({ length: 12 }, (_, at) => fileOf(`part-${at}.bin`, randomBytes(MIB))),
    )
    await console_.click('.panel-actions button', 'Pause')
    await console_.sees('that it pauses', '/Paus/.test(document.querySelector(".queue-words .tag")?.textContent)')
    await page.slowDown({})
    await console_.sees('that it is paused', 'document.querySelector(".queue-words .tag")?.textContent === "Paused"')
    expect(await page.evaluate(rowsIn('done'))).not.toBe(12)
    await console_.click('.panel-actions button', 'Resume')
    await console_.sees('the end', `${rowsIn('done')} === 12`)
  })

  test('finds, shows, shares, renames, extends and removes a file', async () => {
    await signIn()
    await console_.goTo('#/')
    await page.chooseFiles(CHOOSE, [fileOf('notes.md', Buffer.from('# Grüße\n')), fileOf('other.md', randomBytes(50))])
    await console_.sees('both', `${rowsIn('done')} === 2`)
    await console_.goTo('#/files')
    await console_.fill('input[type=search]', 'notes')
    await console_.sees('the file alone', 'document.querySelectorAll(".file-name").length === 1')
    await checkLooks('files')
    for (const [field, other, own] of [
      ['kind', 'image', 'text'],
      ['end', '1', '30'],
    ] as const) {
      await console_.choose(`select.filter-${field}`, other)
      await console_.sees('nothing', 'document.querySelector(".empty")')
      await console_.choose(`select.filter-${field}`, own)
      await console_.sees('the file again', 'document.querySelectorAll(".file-name").length === 1')
    }
    await console_.click('.file-name a', 'notes.md')
    await console_.sees('the deal', 'document.querySelector(".timeline")')
    await console_.sees('the preview', 'document.querySelector("iframe.preview")?.src.includes("/p/")')
    expect(await page.evaluate('document.querySelector("iframe.preview").getAttribute("sandbox")')).toBe('')
    await checkLooks('file')
    const check = async () => {
      await console_.click('button', 'Check it here')
      return page.evaluate(
        `new Promise((resolve) => setTimeout(() => resolve(document.querySelector('.proved')?.innerText ?? ''), 500))`,
      )
    }
    // The local prover takes it within a minute.
    await expect.poll(check, { timeout: 90_000, interval: 2000 }).toContain('Verified here.')

    await console_.click('button', 'Make private')
    await console_.sees('that it is private', 'document.querySelector(".sheet-facts").innerText.includes("Private")')
    await console_.click('button', 'Make a link')
    await console_.sees('the share link', 'document.querySelector(".shared code")')
    const link = String(await page.evaluate('document.querySelector(".shared code").title'))
    expect(await (await fetch(link)).text()).toBe('# Grüße\n')
    expect((await fetch(link.slice(0, link.indexOf('?')))).status).toBe(404)

    const ends = () => page.evaluate('document.querySelectorAll(".sheet-facts dd")[3].textContent')
    const before = await ends()
    await console_.click('form button', 'Extend')
    await expect.poll(ends).not.toBe(before)
    await console_.fill('dialog form input', 'renamed.md')
    await console_.click('form button', 'Rename')
    await console_.sees('the new name', 'document.querySelector("dialog h2").textContent === "renamed.md"')

    await console_.click('.sheet-actions button', 'Remove')
    await console_.click('dialog dialog button, dialog .dialog-actions button', 'Remove')
    await console_.sees('the list without it', 'location.hash === "#/files" && !document.querySelector("dialog")')
    expect((await fetch(link)).status).toBe(410)
  })

  test('makes a token that works, shows it once and revokes it', async () => {
    await signIn()
    await console_.goTo('#/tokens')
    await console_.fill('.token-form input', 'curl')
    await checkLooks('tokens')
    await console_.click('button', 'Make the token')
    await console_.sees('the token', 'document.querySelector(".secret")')
    const token = String(await page.evaluate('document.querySelector(".secret").textContent'))
    const ask = () => fetch(new URL('/api/usage', service.url), { headers: { authorization: `Bearer ${token}` } })
    expect((await ask()).status).toBe(200)
    await console_.click('button', 'I have copied it')
    expect(await page.evaluate('document.body.innerHTML.includes("pk_live_ey")')).toBe(false)
    await console_.click('button', 'Revoke')
    await console_.click('.dialog-actions button', 'Revoke')
    await expect.poll(async () => (await ask()).status).toBe(401)
  })

  test.each(['usage', 'developers', 'service', 'sign-in'])('shows %s in both schemes at every width', async (name) => {
    if (name === 'usage') await signIn()
    else await open()
    await console_.goTo(`#/${name}`)
    await console_.sees('the page', `document.title !== 'Lade' && !document.querySelector('.loading')`)
    await checkLooks(name)
    expect(page.complaints()).toEqual([])
  })

  test('is used by the keyboard alone, and signs out', async () => {
    await signIn()
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if (await page.evaluate(focused(selector))) return
        await page.press('Tab')
      }
      throw new Error(`${selector} is not reached`)
    }
    await tabTo('a[href="#/"]')
    await page.press('Enter')
    await console_.sees('the first page', 'document.querySelector(".drop")')
    await tabTo('.drop .button-primary')
    await page.chooseFiles(CHOOSE, [fileOf('by-keyboard.txt', randomBytes(2000))])
    await console_.sees('the result', `${rowsIn('done')} === 1`)
    await tabTo('.result .button-primary')
    await console_.goTo('#/files')
    await console_.sees('the files', 'document.querySelector(".file-name a")')
    await tabTo('.file-name a')
    await page.press('Enter')
    await console_.sees('the file', 'document.querySelector("dialog[open] .timeline")')
    await page.press('Escape')
    await console_.sees('the list', '!document.querySelector("dialog")')
    await tabTo('.account button')
    await page.press('Enter')
    await console_.sees('nobody', 'document.querySelector(".account-sign-in")')
    expect(await page.evaluate("fetch('/api/session').then((one) => one.json()).then(({ session }) => session)")).toBe(
      null,
    )
  })

  test('shows its first content within a second on a slow machine', async () => {
    await page.command('Network.setCacheDisabled', { cacheDisabled: true })
    await open()
    const loops: number[] = []
    for (let run = 0; run < 10; run += 1) loops.push(Number(await page.evaluate(LOOP)))
    const cpu = Math.max(1, SLOW_LOOP_MS / Math.min(...loops))
    await page.slowDown({ cpu, ...SLOW_NETWORK })
    const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    const visits: number[] = []
    for (let visit = 0; visit < FIRST_VISITS; visit += 1) {
      await open()
      await console_.sees('the first content', paint)
      visits.push(Number(await page.evaluate(paint)))
    }
    console.log(`first content after ${visits.map(Math.round).join(', ')} ms; slowed down ${cpu.toFixed(1)} times`)
    // What else the machine does only adds to a visit.
    expect(Math.min(...visits)).toBeLessThan(FIRST_CONTENT_MS)
  })
})
